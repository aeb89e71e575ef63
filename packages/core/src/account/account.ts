import type { Brand } from '../brand.ts'
import type { Msisdn } from '../message/msisdn.ts'
import type { SenderAddress } from '../message/sender-address.ts'

/** A positive integer below 2^31, written without the 'W' prefix (spec 2, Account). */
export type AccountId = Brand<number, 'AccountId'>

/** The account id that a number stands for; undefined unless it is an integer from 1 to 2^31-1. */
export const accountId = (value: number): AccountId | undefined =>
  Number.isInteger(value) && value > 0 && value < 2 ** 31 ? (value as AccountId) : undefined

/** A main account, or a sub account of one (spec 2, Account). Sub accounts have no sub accounts. */
export interface Account {
  readonly id: AccountId
  /** The main account of a sub account; undefined: this is a main account. */
  readonly parent: AccountId | undefined
  /** Legacy user name, unique without regard to letter case. */
  readonly login: string
  readonly firstName: string
  readonly surname: string
  /** `may` says what it may do all the same (ruling 1.14). */
  readonly locked: boolean
  /** A trial account cannot send to its own number (spec 4.2, rule 2). */
  readonly trial: { readonly ownNumber: Msisdn } | undefined
  /** Its messages may pass the do-not-contact list (ruling 1.12). */
  readonly transactional: boolean
  /** Networks in CIDR form from which its user name and password may be used; none: from anywhere. */
  readonly from: readonly string[]
  /** So many requests, of all interfaces and processes together; undefined: no limit. */
  readonly requestsPerSecond: number | undefined
  /** So many recipients of sends, likewise. */
  readonly recipientsPerSecond: number | undefined
  /** Short or long codes that it owns, the first one assigned first: its messages leave from that one. */
  readonly shortCodes: readonly SenderAddress[]
}

export type NewAccount = Omit<Account, 'id' | 'locked' | 'shortCodes' | keyof Restrictions>

/** Whence and how much an account may be used. A new one has none. */
export type Restrictions = Pick<Account, 'from' | 'requestsPerSecond' | 'recipientsPerSecond'>

export const loginLengthMax = 64

/**
 * By what a user name is found: two are the same if they differ only in the letter case of A to Z. Undefined: nobody has such a name,
 * and some of its characters might be ASCII in another letter case.
 */
export const loginKey = (login: string): string | undefined =>
  /^[!-~]*$/.test(login) ? login.toLowerCase() : undefined

/** A user name is 1 to 64 printable ASCII characters without spaces, so that it survives every one of the interfaces. */
export const isLogin = (text: string): boolean => text.length <= loginLengthMax && /^[!-~]+$/.test(text)
