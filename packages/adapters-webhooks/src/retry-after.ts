const SECONDS = /^\d+$/
/** Thirty years: no more is told apart. */
const secondsMax = 999_999_999
const DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/

/**
 * Seconds from `nowMs` as a `Retry-After` header says it (RFC 9110, 10.2.3): a number of any length, or a date of the preferred form, 0 if that
 * is past. Undefined: it says nothing that can be read.
 */
export function retryAfterSeconds(header: string | string[] | undefined, nowMs: number): number | undefined {
  const text = (Array.isArray(header) ? header[0] : header)?.trim()
  if (text === undefined) return undefined
  if (SECONDS.test(text)) return Math.min(Number(text), secondsMax)
  const at = DATE.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(at) ? undefined : Math.max(0, Math.ceil((at - nowMs) / 1000))
}
