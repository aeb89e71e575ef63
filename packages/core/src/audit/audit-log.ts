import type { AccountId } from '../accounts/account.ts'
import type { Brand } from '../brand.ts'
import type { Instant } from '../time/instant.ts'

/** Position of an entry in the log, from 1, without gaps. */
export type AuditSequence = Brand<number, 'AuditSequence'>

export const auditSequence = (value: number): AuditSequence | undefined =>
  Number.isSafeInteger(value) && value > 0 ? (value as AuditSequence) : undefined

/** Value that JSON can represent, or undefined, which JSON omits. */
export type AuditValue =
  string | number | boolean | null | undefined | readonly AuditValue[] | { readonly [name: string]: AuditValue }

export type AuditDetail = Readonly<Record<string, AuditValue>>

/** Person who makes changes, by name, and the origin: the command line or a network address. */
export interface AuditActor {
  readonly by: string
  readonly from: string
}

/** Change that is about to be made. */
export interface AuditedChange {
  /** Name of the action: an `AuditAction` of this or another version of the program. */
  readonly action: string
  /** Account that is changed, if the change concerns one. */
  readonly account?: AccountId | undefined
  /** Arguments of the change, without secrets and with some digits of phone numbers removed. */
  readonly given?: AuditDetail | undefined
}

/** Result of a change, as recorded. */
export interface AuditOutcome {
  /** Refusal as named by core, 'done', or 'failed: …' if it is unknown whether the change was made. */
  readonly outcome: AuditValue
  /** Values that differ, by name, as read before and after the change. */
  readonly changed?: Readonly<Record<string, readonly [before: AuditValue, after: AuditValue]>> | undefined
}

export interface AuditEntry {
  readonly sequence: AuditSequence
  readonly at: Instant
  /** Change whose outcome this entry records; undefined in the entry of the change itself. */
  readonly ends: AuditSequence | undefined
  /** JSON object with the actor and the change, or with the outcome. The hash is computed over this exact text. */
  readonly record: string
  /**
   * SHA-256 in hexadecimal of four lines: the hash of the previous entry (64 zeros for the first entry), the sequence,
   * `at` in milliseconds, and the record. The last line has no line feed.
   */
  readonly hash: string
}

/**
 * Change with its outcome. The outcome is undefined while the change is in progress, or if the process ended before it
 * stored the outcome.
 */
export interface ListedChange {
  readonly begun: AuditEntry
  readonly ended: AuditEntry | undefined
}

export interface AuditSearch {
  readonly account?: AccountId | undefined
  /** Part of the name of the actor. */
  readonly by?: string | undefined
  readonly action?: string | undefined
  /** Returns only changes before this entry. */
  readonly before?: AuditSequence | undefined
}

export interface AuditCheck {
  readonly entries: number
  /**
   * Hash of the last entry, or 64 zeros without entries. A copy of it kept elsewhere proves later that no entry up to
   * here was changed or removed.
   */
  readonly hash: string
  /** First entry that was changed or is missing. */
  readonly broken: AuditSequence | undefined
}

/** Log of changes, append-only. A hash chains each entry to the previous one. */
export interface AuditLog {
  /** Stores the entry of a change; it is durable when this resolves. Concurrent calls get different positions. */
  begin(actor: AuditActor, change: AuditedChange): Promise<AuditSequence>
  end(change: AuditSequence, outcome: AuditOutcome): Promise<void>
  /** Returns at most `countMax` changes with their outcomes, the latest first. */
  list(search: AuditSearch, countMax: number): Promise<readonly ListedChange[]>
  /** Returns all entries from the first, in pieces that are never empty. */
  entries(): AsyncIterable<readonly AuditEntry[]>
  /** Computes every hash again, and checks that the last entry is the one written last. */
  check(): Promise<AuditCheck>
}
