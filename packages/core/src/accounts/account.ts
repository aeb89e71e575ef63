import type { Brand } from '../brand.ts'
import type { Msisdn, SenderAddress } from '../messages/msisdn.ts'
import type { Instant } from '../time/instant.ts'

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
 * By what a user name is found: two are the same if they differ only in the letter case of A to Z. Undefined: nobody
 * has such a name, and some of its characters might be ASCII in another letter case.
 */
export const loginKey = (login: string): string | undefined =>
  /^[!-~]*$/.test(login) ? login.toLowerCase() : undefined

/**
 * A user name is 1 to 64 printable ASCII characters without spaces, so that it survives every one of the interfaces.
 */
export const isLogin = (text: string): boolean => text.length <= loginLengthMax && /^[!-~]+$/.test(text)

const allowedWhenLocked = {
  /**
   * Log in, and read balance, statuses, lists, replies and opt-outs; the log-in itself is told that the account is
   * locked.
   */
  read: true,
  deleteScheduled: true,
  changeOptOuts: true,
  /** A new message is refused for each recipient; one that waits is stopped when its turn comes (ruling 1.13). */
  send: false,
  /** Give credits, take them, or ask for a transfer of others. */
  transfer: false,
  confirmOptOut: false,
} as const

/**
 * Whether an account may do this: a lock stops some acts and no others (ruling 1.14). Only the operator locks an
 * account.
 */
export const may = ({ locked }: Pick<Account, 'locked'>, act: keyof typeof allowedWhenLocked): boolean =>
  !locked || allowedWhenLocked[act]

/** Whether a request comes from one of these networks, each an address or in CIDR form. */
export type ComesFrom = (networks: readonly string[]) => boolean

/**
 * Whether what is good from these networks only may be used; none: from anywhere. Whence is unknown is none of them.
 */
export const mayComeFrom = (networks: readonly string[], comesFrom: ComesFrom = () => false): boolean =>
  networks.length === 0 || comesFrom(networks)

/** SHA-256 of an API key, the only form in which a key is stored. */
export type KeyHash = Brand<string, 'KeyHash'>

/** Names a key towards operators; it opens nothing. */
export type KeyId = Brand<number, 'KeyId'>

export const keyId = (value: number): KeyId | undefined =>
  Number.isInteger(value) && value > 0 && value < 2 ** 31 ? (value as KeyId) : undefined

export interface NewApiKey {
  readonly hash: KeyHash
  /** The first characters of the key, by which its owner recognises it; too few to guess the rest. */
  readonly prefix: string
  readonly label: string
  readonly expires: Instant | undefined
  /** Networks in CIDR form from which it may be used; none: from anywhere. */
  readonly from: readonly string[]
}

/** Whether a key opens its account at this moment, used from there. */
export const isValid = (
  { expires, revoked, from }: Pick<ApiKey, 'expires' | 'revoked' | 'from'>,
  now: Instant,
  comesFrom?: ComesFrom,
): boolean => revoked === undefined && (expires === undefined || now < expires) && mayComeFrom(from, comesFrom)

/** A key as an operator sees it: everything but what opens the account. */
export interface ApiKey {
  readonly id: KeyId
  readonly account: AccountId
  readonly prefix: string
  readonly label: string
  readonly issued: Instant
  readonly expires: Instant | undefined
  /** As of NewApiKey. */
  readonly from: readonly string[]
  readonly revoked: Instant | undefined
}
