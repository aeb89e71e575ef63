import type { Brand } from '../brand.ts'

/** An address that messages leave from and replies go to: a short or long code of an account, or a number of the operator's pool. */
export type SenderAddress = Brand<string, 'SenderAddress'>

/** 3 to 15 digits, not with a leading zero, no `+`; white space around them aside. Undefined for everything else. */
export function parseSenderAddress(text: string): SenderAddress | undefined {
  const digits = text.trim()
  return /^[1-9][0-9]{2,14}$/.test(digits) ? (digits as SenderAddress) : undefined
}

/** The pool of an operator who names none: one number that no person has. */
export const defaultSenders: readonly SenderAddress[] = ['12025550100' as SenderAddress]
