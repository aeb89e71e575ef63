import type { Brand } from '../brand.ts'
import type { Instant } from '../time/instant.ts'
import type { AccountId, KeyHash } from '../accounts/account.ts'
import type { PasswordHash } from './secrets.ts'

export type UserId = Brand<number, 'UserId'>

/** What a user of an account may do at the portal: each may do what the ones after it may (`mayHolder`). */
export const userRoles = ['owner', 'sender', 'reader'] as const
export type UserRole = (typeof userRoles)[number]

/** A person who signs in at the portal for an account, with an own password. The interfaces know no users. */
export interface User {
  readonly id: UserId
  readonly account: AccountId
  /** By which the person signs in, unique over all accounts in any letter case. */
  readonly email: string
  readonly role: UserRole
  readonly locked: boolean
  readonly added: Instant
  /** False: the person was invited, and has not chosen a password yet. */
  readonly hasPassword: boolean
}

export interface UserLogin {
  readonly user: User
  readonly password: PasswordHash | undefined
}

/** A link by which a person chooses a password, once. */
export interface PasswordLink {
  readonly hash: KeyHash
  /** By the store's clock. */
  readonly seconds: number
}

/**
 * Users of accounts. Each method names the account, and finds no user of another one. Their sessions are over when
 * those of account holders are, by another password of the user and by a lock of the user too.
 */
export interface Users {
  add(
    to: AccountId,
    user: Pick<User, 'email' | 'role'>,
    link: PasswordLink,
  ): Promise<UserId | 'email-taken' | 'no-such-account'>
  /** By e-mail. */
  list(of: AccountId): Promise<readonly User[]>
  find(of: AccountId, id: UserId): Promise<User | undefined>
  /** Read afresh, in any letter case. */
  byEmail(email: string): Promise<UserLogin | undefined>
  /** Whose link it is, without using it up. Undefined: it was used, is too old, or its user is locked. */
  byLink(link: KeyHash): Promise<User | undefined>
  /** Another link; the one before is worth nothing from then on. False: no such user. */
  offerLink(of: AccountId, id: UserId, link: PasswordLink): Promise<boolean>
  /** Uses the link up and ends all sessions of the user. Of many at the same time one is true. */
  setPasswordByLink(link: KeyHash, password: PasswordHash): Promise<boolean>
  /** False: no such user. It ends all sessions of the user. */
  setPassword(of: AccountId, id: UserId, password: PasswordHash): Promise<boolean>
  /**
   * Replaces the hash `before` by another hash of the same password. Sessions stay open. False: the user has another
   * hash meanwhile, or there is no such user.
   */
  replaceHash(of: AccountId, id: UserId, before: PasswordHash, after: PasswordHash): Promise<boolean>
  /** False: no such user. It counts at once, also in sessions that are open. */
  setRole(of: AccountId, id: UserId, role: UserRole): Promise<boolean>
  /** False: no such user. A lock ends all sessions of the user. */
  setLocked(of: AccountId, id: UserId, locked: boolean): Promise<boolean>
  /** False: no such user. It ends all sessions, and removes the second factor. */
  remove(of: AccountId, id: UserId): Promise<boolean>
}
