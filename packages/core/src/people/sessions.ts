import type { Brand } from '../brand.ts'
import type { Instant } from '../time/instant.ts'
import type { AccountId, KeyHash } from '../accounts/account.ts'
import type { PasswordHash } from './secrets.ts'
import type { UserId } from './users.ts'

/** Id by which an account holder refers to a session. Knowing the id gives no access. */
export type SessionId = Brand<number, 'SessionId'>

/**
 * Limits after which a session ends, by the store's clock: seconds since its last use, and seconds since it was opened.
 */
export interface SessionBounds {
  readonly idleSeconds: number
  readonly secondsMax: number
}

export const sessionBounds: SessionBounds = { idleSeconds: 60 * 60, secondsMax: 12 * 60 * 60 }

/** Session to be opened for a browser. */
export interface NewSession {
  /** Hash of the token that the browser stores. The token itself is never stored here. */
  readonly hash: KeyHash
  /** User agent of the browser. */
  readonly agent: string
  /** Address from which it is opened; empty if unknown. */
  readonly address: string
  /** True if a second factor was used, or an identity provider vouches for the person. */
  readonly secondFactor: boolean
}

export interface Session {
  readonly id: SessionId
  readonly account: AccountId
  /** User. Undefined: signed in with the login and password of the account itself. */
  readonly user: UserId | undefined
  readonly opened: Instant
  /** Time of the last use, to the minute. */
  readonly used: Instant
  readonly agent: string
  readonly address: string
}

/** Owner of a session: a user or, if `user` is undefined, the person who has the password of the account itself. */
export type SessionOwner = Pick<Session, 'account'> & Partial<Pick<Session, 'user'>>

/**
 * Sessions of people who are signed in. A session ends by its bounds, by request, when its owner's password changes,
 * while the account or its user is locked, and, if it was opened without a second factor, while the account requires
 * one. Locking an account ends its sessions and the sessions of its users.
 */
export interface Sessions {
  /**
   * Opens a session for a person whose password is still this one, and deletes ended sessions of the account. Returns
   * undefined if the password has changed, or the account or user is locked.
   */
  open(
    by: SessionOwner,
    password: PasswordHash,
    session: NewSession,
    bounds: SessionBounds,
  ): Promise<SessionId | undefined>
  /** Stores a link that opens one session within `seconds`. Returns false if the account does not exist. */
  offerLink(to: AccountId, link: KeyHash, seconds: number): Promise<boolean>
  /**
   * Opens a session by a link. Of concurrent callers with the same link only one gets a session. Returns undefined for
   * the others, and if the account has a second factor.
   */
  openByLink(link: KeyHash, session: NewSession): Promise<SessionId | undefined>
  /** Returns the session of a token, or undefined if it has ended. With `use`, records now as its last use. */
  find(hash: KeyHash, bounds: SessionBounds, use: boolean): Promise<Session | undefined>
  /** Lists the owner's sessions that have not ended, latest use first. */
  list(of: SessionOwner, bounds: SessionBounds): Promise<readonly Session[]>
  /** Ends a session. Returns false if the owner has no such session. */
  end(of: SessionOwner, id: SessionId): Promise<boolean>
  /** Ends all sessions of the owner except `but`, and returns their number. */
  endAll(of: SessionOwner, but?: SessionId): Promise<number>
}
