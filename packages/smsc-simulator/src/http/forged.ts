import type { ProviderCallback, ProviderFormat, Secrets } from './providers/provider.ts'

/**
 * Returns a callback that the receiver must refuse: with a signature by another key, or, where callbacks are not
 * signed, with another password or another path.
 */
export function forged(
  callback: ProviderCallback,
  format: ProviderFormat,
  secrets: Secrets,
  now: number,
): ProviderCallback {
  if (format.sign !== undefined) {
    const others = Object.fromEntries(Object.entries(secrets).map(([name, value]) => [name, otherOf(value)]))
    return format.sign(callback, others, now)
  }
  const url = new URL(callback.url)
  if (url.password === '') url.pathname = url.pathname.replace(/[^/]+$/, otherOf)
  else url.password = otherOf(url.password)
  return { ...callback, url: url.href }
}

/** Returns a text of the same length and the same characters. */
const otherOf = (text: string): string => text.replaceAll(/[0-9a-zA-Z]/g, (letter) => (letter === 'b' ? 'c' : 'b'))
