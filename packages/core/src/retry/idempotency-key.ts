import type { Brand } from '../brand.ts'

/** What a client names a send or a transfer by, so that it can ask for it again (ruling 1.24): 1 to 255 printable characters. */
export type IdempotencyKey = Brand<string, 'IdempotencyKey'>

export const keyCharactersMax = 255

/** No control or format character, no line or paragraph separator, no lone surrogate. */
const usable = new RegExp(`^[^\\p{Cc}\\p{Cf}\\p{Cs}\\p{Zl}\\p{Zp}]{1,${keyCharactersMax}}$`, 'u')

/** A key as it was given, trimmed. Undefined: none was given, or a blank one. Unusable: it is too long, or not printable. */
export function readIdempotencyKey(given: string | undefined): IdempotencyKey | undefined | 'unusable' {
  const key = given?.trim()
  if (key === undefined || key === '') return undefined
  return usable.test(key) ? (key as IdempotencyKey) : 'unusable'
}
