import type { Account, AccountId } from '../accounts/account.ts'
import type { PasswordHash } from '../people/secrets.ts'
import type { Instant } from '../time/instant.ts'
import type { NewSmppCredential, RepliesBy, SmppCredential, SmppCredentialId, SmppSettings } from './smpp-credential.ts'

/** Credential with its account. */
export interface SmppSession {
  readonly account: Account
  readonly credential: SmppCredential
}

/** Owner of a system id, for the check of a password. */
export interface SmppLogin extends SmppSession {
  readonly password: PasswordHash | undefined
}

/**
 * Store of the credentials with which the software of customers binds, and of the way in which each account receives
 * replies: by SMPP or by webhook (`RepliesBy`).
 */
export interface SmppCredentials {
  /**
   * Adds a credential. The first one of an account chooses `smpp` for its replies, or `webhook` if an endpoint of the
   * account subscribes to replies.
   */
  add(credential: NewSmppCredential, now: Instant): Promise<SmppCredential | 'no-such-account' | 'system-id-taken'>
  /** Lists credentials by id, of one account or of all. */
  list(account: AccountId | undefined): Promise<readonly SmppCredential[]>
  /** Finds a credential of the account, or of any account if `account` is undefined. */
  find(account: AccountId | undefined, id: SmppCredentialId): Promise<SmppCredential | undefined>
  /** Changes settings. Open binds keep their limits until the next report (`SmppBinds.report`). */
  change(
    account: AccountId | undefined,
    id: SmppCredentialId,
    settings: Partial<SmppSettings>,
  ): Promise<SmppCredential | undefined>
  /** Replaces the password. Each process closes binds that were opened with the old password after its next report. */
  rotate(
    account: AccountId | undefined,
    id: SmppCredentialId,
    password: PasswordHash,
    now: Instant,
  ): Promise<SmppCredential | undefined>
  /** Removes a credential. Each process closes the binds of the credential after its next report. */
  remove(account: AccountId | undefined, id: SmppCredentialId): Promise<boolean>
  /**
   * Returns a credential and its account, cached. A change becomes visible as quickly as a change of an API key
   * (`Accounts.byKey`).
   */
  session(id: SmppCredentialId): Promise<SmppSession | undefined>
  /** Returns the owner of a system id in any letter case. Cached like `session`. */
  bySystemId(systemId: string): Promise<SmppLogin | undefined>
  /** Reads the owner of a system id from the store. */
  readSystemId(systemId: string): Promise<SmppLogin | undefined>
  repliesBy(account: AccountId): Promise<RepliesBy>
  /** Sets who gets the replies. Returns false if the account has no credential. */
  setRepliesBy(account: AccountId, by: RepliesBy): Promise<boolean>
}
