/** The order of what waits of one account: the higher ones go first. As priority_flag of SMPP (3.4, 5.2.14). */
export type Priority = 0 | 1 | 2 | 3

export const priorityMax = 3

/** Undefined unless it is one of 0 to 3. */
export const priorityOf = (value: number): Priority | undefined => ([0, 1, 2, 3] as const).find((is) => is === value)

/** A priority as text: a digit. Undefined: none was given, or a blank one. */
export function readPriority(given: string | null | undefined): Priority | undefined | 'unusable' {
  const digit = given?.trim() ?? ''
  if (digit === '') return undefined
  return (/^[0-9]$/.test(digit) ? priorityOf(Number(digit)) : undefined) ?? 'unusable'
}

/** A yes or no as text: true or 1, false or 0. Undefined: none was given, or a blank one. */
export function readFlash(given: string | null | undefined): boolean | undefined | 'unusable' {
  const word = given?.trim() ?? ''
  if (word === '') return undefined
  if (word === 'true' || word === '1') return true
  return word === 'false' || word === '0' ? false : 'unusable'
}
