import type { Brand } from '../brand.ts'
import type { Instant } from '../time/instant.ts'
import type { AccountId, KeyHash } from '../accounts/account.ts'
import type { PasswordHash } from './secrets.ts'
import type { UserId } from './users.ts'

/** Names a session towards its account holder; it opens nothing. */
export type SessionId = Brand<number, 'SessionId'>

/** When a session is over, by the store's clock: so long after its last use, and so long after it was opened. */
export interface SessionBounds {
  readonly idleSeconds: number
  readonly secondsMax: number
}

export const sessionBounds: SessionBounds = { idleSeconds: 60 * 60, secondsMax: 12 * 60 * 60 }

/** A session as a browser asks for it. */
export interface NewSession {
  /** Of the token that the browser keeps: the only form in which it is stored. */
  readonly hash: KeyHash
  /** What the browser calls itself. */
  readonly agent: string
  /** Where it was opened from; empty: not known. */
  readonly address: string
  /** Whether a second factor was used, or a provider of identities vouches for the person. */
  readonly secondFactor: boolean
}

export interface Session {
  readonly id: SessionId
  readonly account: AccountId
  /** Undefined: with the login and password of the account itself. */
  readonly user: UserId | undefined
  readonly opened: Instant
  /** To the minute. */
  readonly used: Instant
  readonly agent: string
  readonly address: string
}

/** Whose a session is: a user's, or of whoever has the account's own password. */
export type SessionOwner = Pick<Session, 'account'> & Partial<Pick<Session, 'user'>>

/**
 * Who is signed in. A session is over when its bounds say so, when it was ended, when its owner has another password
 * than the one that it was opened under, while the account or its user is locked, and, if it was opened without a
 * second factor, while the account has to have one; locking an account ends its sessions, those of its users too.
 */
export interface Sessions {
  /**
   * Opens a session of somebody whose password is still this one. Undefined: it is not, or account or user is locked.
   * Forgets sessions of the account that are over.
   */
  open(
    by: SessionOwner,
    password: PasswordHash,
    session: NewSession,
    bounds: SessionBounds,
  ): Promise<SessionId | undefined>
  /** A link that opens one session within so many seconds. False: no such account. */
  offerLink(to: AccountId, link: KeyHash, seconds: number): Promise<boolean>
  /**
   * Of many that ask with the same link at the same time one gets a session. Undefined: not this one, or the account
   * has a second factor.
   */
  openByLink(link: KeyHash, session: NewSession): Promise<SessionId | undefined>
  /** The session of a token, unless it is over. With `use` it was used at this moment. */
  find(hash: KeyHash, bounds: SessionBounds, use: boolean): Promise<Session | undefined>
  /** The owner's that are not over, the latest used first. */
  list(of: SessionOwner, bounds: SessionBounds): Promise<readonly Session[]>
  /** False: the owner has no such session. */
  end(of: SessionOwner, id: SessionId): Promise<boolean>
  /** Ends all of the owner but this one, and returns how many these were. */
  endAll(of: SessionOwner, but?: SessionId): Promise<number>
}
