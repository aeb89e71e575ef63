import type { Brand } from '../brand.ts'
import type { Instant } from '../time/instant.ts'
import type { AccountId, KeyHash } from '../accounts/account.ts'
import type { PasswordHash } from './secrets.ts'

export type UserId = Brand<number, 'UserId'>

/** Roles of users at the portal. Each may do what the following ones may (`mayHolder`). */
export const userRoles = ['owner', 'sender', 'reader'] as const
export type UserRole = (typeof userRoles)[number]

/** Person who signs in at the portal for an account, with an own password. The interfaces do not know users. */
export interface User {
  readonly id: UserId
  readonly account: AccountId
  /** Address with which the person signs in, unique over all accounts in any letter case. */
  readonly email: string
  readonly role: UserRole
  readonly locked: boolean
  readonly added: Instant
  /** False if the invited person has not chosen a password yet. */
  readonly hasPassword: boolean
}

export interface UserLogin {
  readonly user: User
  readonly password: PasswordHash | undefined
}

/** Link with which a person chooses a password, once. */
export interface PasswordLink {
  readonly hash: KeyHash
  /** Seconds for which the link is valid, by the store's clock. */
  readonly seconds: number
}

/**
 * Users of accounts. Each method requires the account and never finds a user of another one. Sessions of users end like
 * those of account holders, and also by a new password or a lock of the user.
 */
export interface Users {
  add(
    to: AccountId,
    user: Pick<User, 'email' | 'role'>,
    link: PasswordLink,
  ): Promise<UserId | 'email-taken' | 'no-such-account'>
  /** Lists users by e-mail address. */
  list(of: AccountId): Promise<readonly User[]>
  find(of: AccountId, id: UserId): Promise<User | undefined>
  /** Reads a user by e-mail address, in any letter case, from the store. */
  byEmail(email: string): Promise<UserLogin | undefined>
  /**
   * Returns the user of a link without using the link. Returns undefined if the link was used or has expired, or the
   * user is locked.
   */
  byLink(link: KeyHash): Promise<User | undefined>
  /** Stores a new link; the previous one is no longer valid. Returns false if the user does not exist. */
  offerLink(of: AccountId, id: UserId, link: PasswordLink): Promise<boolean>
  /**
   * Sets the password, uses the link up, and ends all sessions of the user. Of concurrent callers only one receives
   * true.
   */
  setPasswordByLink(link: KeyHash, password: PasswordHash): Promise<boolean>
  /** Replaces the password, which ends all sessions of the user. Returns false if the user does not exist. */
  setPassword(of: AccountId, id: UserId, password: PasswordHash): Promise<boolean>
  /**
   * Replaces the hash `before` by another hash of the same password. Sessions stay open. Returns false if the user does
   * not exist or the stored hash has changed.
   */
  replaceHash(of: AccountId, id: UserId, before: PasswordHash, after: PasswordHash): Promise<boolean>
  /** Changes the role, at once and also in open sessions. Returns false if the user does not exist. */
  setRole(of: AccountId, id: UserId, role: UserRole): Promise<boolean>
  /** Locks or unlocks a user. A lock ends all sessions of the user. Returns false if the user does not exist. */
  setLocked(of: AccountId, id: UserId, locked: boolean): Promise<boolean>
  /** Removes a user with all sessions and the second factor. Returns false if the user does not exist. */
  remove(of: AccountId, id: UserId): Promise<boolean>
}
