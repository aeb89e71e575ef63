import type { AccountId, KeyHash } from '../accounts/account.ts'
import type { PasswordHash } from './secrets.ts'
import type { NewSession, Session, SessionBounds, SessionId } from './sessions.ts'
import type { Brand } from '../brand.ts'
import type { Instant } from '../time/instant.ts'

export type OperatorId = Brand<number, 'OperatorId'>

/** Roles of operators. Support reads everything and changes no money (`mayOperator`). */
export const operatorRoles = ['admin', 'support'] as const
export type OperatorRole = (typeof operatorRoles)[number]

/** Person who runs the gateway and signs in at the portal. */
export interface Operator {
  readonly id: OperatorId
  /** Name, unique in any letter case. */
  readonly name: string
  readonly role: OperatorRole
  readonly locked: boolean
  readonly added: Instant
}

/** Operator with the hash of the password. */
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
  /** True if a second factor was used, as in `NewSession`. */
  readonly secondFactor: boolean
  /** Account as which the operator acts, and the time at which that ends. */
  readonly actsAs: ActsAs | undefined
}

/**
 * Operators and their sessions. A session ends like those of account holders: by its bounds, by a new password, and by
 * a lock.
 */
export interface Operators {
  add(operator: Pick<Operator, 'name' | 'role'>, password: PasswordHash): Promise<OperatorId | 'name-taken'>
  /** Lists operators by name. */
  list(): Promise<readonly Operator[]>
  /** Reads an operator by name, in any letter case, from the store. */
  byName(name: string): Promise<OperatorLogin | undefined>
  /** Locks or unlocks an operator. A lock ends all sessions. Returns false if the operator does not exist. */
  setLocked(id: OperatorId, locked: boolean): Promise<boolean>
  /** Replaces a password, which ends all sessions. Returns false if the operator does not exist. */
  setPassword(id: OperatorId, password: PasswordHash): Promise<boolean>
  /**
   * Replaces the hash `before` by another hash of the same password. Sessions stay open. Returns false if the operator
   * does not exist or the stored hash has changed.
   */
  replaceHash(id: OperatorId, before: PasswordHash, after: PasswordHash): Promise<boolean>
  /** Changes the role, at once and also in open sessions. Returns false if the operator does not exist. */
  setRole(id: OperatorId, role: OperatorRole): Promise<boolean>
  /**
   * Opens a session and deletes ended sessions of the operator. Returns undefined if the password has changed or the
   * operator is locked.
   */
  openSession(
    by: OperatorId,
    password: PasswordHash,
    session: NewSession,
    bounds: SessionBounds,
  ): Promise<SessionId | undefined>
  /**
   * Returns the operator and the session of a token, or undefined if the session has ended. With `use`, records now as
   * its last use.
   */
  findSession(
    hash: KeyHash,
    bounds: SessionBounds,
    use: boolean,
  ): Promise<{ readonly operator: Operator; readonly session: OperatorSession } | undefined>
  /** Lists sessions that have not ended, latest use first. */
  listSessions(of: OperatorId, bounds: SessionBounds): Promise<readonly OperatorSession[]>
  /**
   * Lets the session act as this account for `seconds`. If it acts as another account, this account replaces it.
   * Returns undefined if the session or the account does not exist.
   */
  actAs(of: OperatorId, id: SessionId, account: AccountId, seconds: number): Promise<Instant | undefined>
  /**
   * Ends acting as an account and returns the account. Returns undefined if the session does not act as an account now.
   */
  endActingAs(of: OperatorId, id: SessionId): Promise<AccountId | undefined>
  /** Ends one session, or all, and returns their number. */
  endSessions(of: OperatorId, only?: SessionId): Promise<number>
}
