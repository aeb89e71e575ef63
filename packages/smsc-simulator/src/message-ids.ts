/** How a message id is written. */
export type IdForm = 'decimal' | 'hexadecimal' | 'huge'

const FORMS: Readonly<Record<IdForm, (number: number) => string>> = {
  decimal: (number) => String(number),
  hexadecimal: (number) => number.toString(16).toUpperCase(),
  // 60 digits: beyond any integer of a machine, and within the 64 characters of the standard.
  huge: (number) => `9${String(number).padStart(59, '0')}`,
}

export const formatId = (number: number, form: IdForm): string => FORMS[form](number)

/** Numbers of messages that no other run on this machine gives: they begin with the second of the start. */
export function messageNumbers(now: number): () => number {
  let next = Math.floor(now / 1000) * 1_000_000
  return () => next++
}
