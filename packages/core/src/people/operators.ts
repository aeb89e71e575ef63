import type { AccountId, KeyHash } from '../accounts/account.ts'
import type { PasswordHash } from './secrets.ts'
import type { NewSession, Session, SessionBounds, SessionId } from './sessions.ts'
import type { Brand } from '../brand.ts'
import type { Instant } from '../time/instant.ts'

export type OperatorId = Brand<number, 'OperatorId'>

/** Support reads everything and changes no money (`mayOperator`). */
export const operatorRoles = ['admin', 'support'] as const
export type OperatorRole = (typeof operatorRoles)[number]

/** A person who runs the gateway and signs in at the portal. */
export interface Operator {
  readonly id: OperatorId
  /** Unique in any letter case. */
  readonly name: string
  readonly role: OperatorRole
  readonly locked: boolean
  readonly added: Instant
}

/** An operator with the hash of the password. */
export interface OperatorLogin {
  readonly operator: Operator
  readonly password: PasswordHash
}

export interface ActsAs {
  readonly account: AccountId
  readonly until: Instant
}

export type OperatorSession = Omit<Session, 'account' | 'user'> & {
  readonly operator: OperatorId
  /** As of `NewSession`. */
  readonly secondFactor: boolean
  /** The account that the operator looks at as if signed in there, and until when at the latest. */
  readonly actsAs: ActsAs | undefined
}

/**
 * Operators and their sessions, which are over when those of account holders are: by their bounds, by a new password,
 * and by a lock.
 */
export interface Operators {
  add(operator: Pick<Operator, 'name' | 'role'>, password: PasswordHash): Promise<OperatorId | 'name-taken'>
  /** By name. */
  list(): Promise<readonly Operator[]>
  /** Read afresh, in any letter case. */
  byName(name: string): Promise<OperatorLogin | undefined>
  /** False: no such operator. A lock ends all sessions. */
  setLocked(id: OperatorId, locked: boolean): Promise<boolean>
  /** False: no such operator. Another password ends all sessions. */
  setPassword(id: OperatorId, password: PasswordHash): Promise<boolean>
  /**
   * Replaces the hash `before` by another hash of the same password. Sessions stay open. False: there is no such
   * operator, or the operator has another hash meanwhile.
   */
  replaceHash(id: OperatorId, before: PasswordHash, after: PasswordHash): Promise<boolean>
  /** False: no such operator. It counts at once, also in sessions that are open. */
  setRole(id: OperatorId, role: OperatorRole): Promise<boolean>
  /** Undefined: the operator has another password, or is locked. Forgets sessions of the operator that are over. */
  openSession(
    by: OperatorId,
    password: PasswordHash,
    session: NewSession,
    bounds: SessionBounds,
  ): Promise<SessionId | undefined>
  /** Who is signed in with a token, as it is now, unless the session is over. With `use` it was used at this moment. */
  findSession(
    hash: KeyHash,
    bounds: SessionBounds,
    use: boolean,
  ): Promise<{ readonly operator: Operator; readonly session: OperatorSession } | undefined>
  /** Those that are not over, the latest used first. */
  listSessions(of: OperatorId, bounds: SessionBounds): Promise<readonly OperatorSession[]>
  /**
   * The session acts as this account for so long, and as the one before no more. Undefined: there is no such session or
   * account.
   */
  actAs(of: OperatorId, id: SessionId, account: AccountId, seconds: number): Promise<Instant | undefined>
  /** Which account the session acted as; undefined: none, or it was over. */
  endActingAs(of: OperatorId, id: SessionId): Promise<AccountId | undefined>
  /** Ends one session, or all of them; returns how many these were. */
  endSessions(of: OperatorId, only?: SessionId): Promise<number>
}
