import type { Brand } from '../brand.ts'
import type { CallingCode, Msisdn, SenderAddress } from '../messages/msisdn.ts'
import type { Instant } from '../time/instant.ts'

/** Positive integer below 2^31, written without the 'W' prefix (spec 2, Account). */
export type AccountId = Brand<number, 'AccountId'>

/** Returns a number as an account id, or undefined unless it is an integer from 1 to 2^31-1. */
export const accountId = (value: number): AccountId | undefined =>
  Number.isInteger(value) && value > 0 && value < 2 ** 31 ? (value as AccountId) : undefined

/** Main account, or sub account of a main account (spec 2, Account). Sub accounts have no sub accounts. */
export interface Account {
  readonly id: AccountId
  /** Main account of a sub account. Undefined for a main account. */
  readonly parent: AccountId | undefined
  /** User name of the legacy interfaces, unique in any letter case. */
  readonly login: string
  readonly firstName: string
  readonly surname: string
  /** True if the operator locked the account. `may` lists what it may still do (ruling 1.14). */
  readonly locked: boolean
  /** Number of a trial account, to which it cannot send (spec 4.2, rule 2). */
  readonly trial: { readonly ownNumber: Msisdn } | undefined
  /** True if its messages may pass the do-not-contact list (ruling 1.12). */
  readonly transactional: boolean
  /** Networks in CIDR form from which the user name and password may be used; empty: any. */
  readonly from: readonly string[]
  /** Maximum number of requests per second over all interfaces and processes; undefined: no limit. */
  readonly requestsPerSecond: number | undefined
  /** Maximum number of recipients per second over all interfaces and processes; undefined: no limit. */
  readonly recipientsPerSecond: number | undefined
  /** Country of the numbers that its users write without a country code; undefined: none. */
  readonly callingCode: CallingCode | undefined
  /** Short or long codes of the account, in order of assignment. Its messages are sent from the first. */
  readonly shortCodes: readonly SenderAddress[]
}

export type NewAccount = Omit<Account, 'id' | 'locked' | 'shortCodes' | keyof LaterSettings>

/** Settings that a new account does not have. */
export type LaterSettings = Pick<Account, 'from' | 'requestsPerSecond' | 'recipientsPerSecond' | 'callingCode'>

export const loginLengthMax = 64

/**
 * Returns the key by which a user name is found. Names that differ only in the letter case of A to Z have the same key.
 * Returns undefined for a name with a space, control or non-ASCII character, which no account can have. Some non-ASCII
 * characters would become ASCII ones when their letter case changes.
 */
export const loginKey = (login: string): string | undefined =>
  /^[!-~]*$/.test(login) ? login.toLowerCase() : undefined

/** Returns true for a user name: 1 to 64 printable ASCII characters without spaces, which every interface can carry. */
export const isLogin = (text: string): boolean => text.length <= loginLengthMax && /^[!-~]+$/.test(text)

const allowedWhenLocked = {
  /**
   * Use credentials to read balance, statuses, lists, replies and opt-outs. An operation that only logs in, such as
   * `auth.asp`, is refused as locked.
   */
  read: true,
  deleteScheduled: true,
  changeOptOuts: true,
  /**
   * Send. Each recipient of a new message is refused; a waiting message ends when a dispatcher claims it (ruling 1.13).
   */
  send: false,
  /** Transfer credits in either direction, or request a transfer between other accounts. */
  transfer: false,
  confirmOptOut: false,
} as const

/**
 * Returns true if an account may do this. A lock forbids some acts only (ruling 1.14). Only the operator locks an
 * account.
 */
export const may = ({ locked }: Pick<Account, 'locked'>, act: keyof typeof allowedWhenLocked): boolean =>
  !locked || allowedWhenLocked[act]

/** Returns true if a request comes from one of these networks. Each is an address or in CIDR form. */
export type ComesFrom = (networks: readonly string[]) => boolean

/**
 * Returns true if a credential that is limited to these networks may be used. An empty list allows any origin; an
 * unknown origin matches no network.
 */
export const mayComeFrom = (networks: readonly string[], comesFrom: ComesFrom = () => false): boolean =>
  networks.length === 0 || comesFrom(networks)

/** SHA-256 of an API key. The key itself is never stored. */
export type KeyHash = Brand<string, 'KeyHash'>

/** Id of a key for operators. It gives no access. */
export type KeyId = Brand<number, 'KeyId'>

export const keyId = (value: number): KeyId | undefined =>
  Number.isInteger(value) && value > 0 && value < 2 ** 31 ? (value as KeyId) : undefined

export interface NewApiKey {
  readonly hash: KeyHash
  /** First characters of the key, by which its owner recognizes it. They are too few to guess the rest. */
  readonly prefix: string
  readonly label: string
  readonly expires: Instant | undefined
  /** Networks in CIDR form from which the key may be used; empty: any. */
  readonly from: readonly string[]
}

/** Returns true if a key gives access at this moment from this origin. */
export const isValid = (
  { expires, revoked, from }: Pick<ApiKey, 'expires' | 'revoked' | 'from'>,
  now: Instant,
  comesFrom?: ComesFrom,
): boolean => revoked === undefined && (expires === undefined || now < expires) && mayComeFrom(from, comesFrom)

/** API key as shown to operators, without its hash. */
export interface ApiKey {
  readonly id: KeyId
  readonly account: AccountId
  readonly prefix: string
  readonly label: string
  readonly issued: Instant
  readonly expires: Instant | undefined
  /** Networks from which the key may be used, as in `NewApiKey`. */
  readonly from: readonly string[]
  readonly revoked: Instant | undefined
}
