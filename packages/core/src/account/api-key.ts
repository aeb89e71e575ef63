import type { Brand } from '../brand.ts'
import type { Instant } from '../time/instant.ts'
import type { AccountId } from './account.ts'
import { mayComeFrom, type ComesFrom } from './comes-from.ts'

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
