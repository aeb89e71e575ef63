import type { AccountId } from '../accounts/account.ts'
import type { Brand } from '../brand.ts'
import type { Instant } from '../time/instant.ts'

/** The place of an entry: 1 is the first, and none is left out. */
export type AuditSequence = Brand<number, 'AuditSequence'>

export const auditSequence = (value: number): AuditSequence | undefined =>
  Number.isSafeInteger(value) && value > 0 ? (value as AuditSequence) : undefined

/** What JSON can say, and undefined, which it leaves out. */
export type AuditValue =
  string | number | boolean | null | undefined | readonly AuditValue[] | { readonly [name: string]: AuditValue }

export type AuditDetail = Readonly<Record<string, AuditValue>>

/** Who makes changes, and from where: a person's name on a machine, and the command line or a network address. */
export interface AuditActor {
  readonly by: string
  readonly from: string
}

/** A change that is about to be made. */
export interface AuditedChange {
  /** An `AuditAction`, or one of another version. */
  readonly action: string
  /** The account that it changes, where it is one. */
  readonly account?: AccountId | undefined
  /** With what it was asked for; no secret, and of a number of a person not all digits. */
  readonly given?: AuditDetail | undefined
}

/** What became of a change. */
export interface AuditOutcome {
  /** A refusal in the words of core, 'done', or 'failed: …' where it is not known what was done. */
  readonly outcome: AuditValue
  /** What differs, by name: as it was read before the change and after it. */
  readonly changed?: Readonly<Record<string, readonly [before: AuditValue, after: AuditValue]>> | undefined
}

export interface AuditEntry {
  readonly sequence: AuditSequence
  readonly at: Instant
  /** The change that this entry is the outcome of; undefined: a change that is about to be made. */
  readonly ends: AuditSequence | undefined
  /** A JSON object: actor and change, or outcome. The hash is over this very text. */
  readonly record: string
  /**
   * SHA-256 in hexadecimal over the hash of the entry before (64 zeros before the first), the sequence, `at` in
   * milliseconds and the record, each on a line of its own, without a last line feed.
   */
  readonly hash: string
}

/** A change with what became of it; undefined: it is under way, or its process ended meanwhile. */
export interface ListedChange {
  readonly begun: AuditEntry
  readonly ended: AuditEntry | undefined
}

export interface AuditSearch {
  readonly account?: AccountId | undefined
  /** A part of the name. */
  readonly by?: string | undefined
  readonly action?: string | undefined
  /** Only what is older than this entry. */
  readonly before?: AuditSequence | undefined
}

export interface AuditCheck {
  readonly entries: number
  /**
   * Of the last entry, and of 0 entries 64 zeros. Written down elsewhere, it proves later that all before it is there.
   */
  readonly hash: string
  /** The first entry that is not as it was written, or that is missing. */
  readonly broken: AuditSequence | undefined
}

/** What operators have changed, each entry chained by a hash to the one before. Nothing of it is changed or removed. */
export interface AuditLog {
  /** Stored for good when this resolves. Of several at once each has a place of its own. */
  begin(actor: AuditActor, change: AuditedChange): Promise<AuditSequence>
  end(change: AuditSequence, outcome: AuditOutcome): Promise<void>
  /** Changes, the latest first, with their outcomes; at most `countMax`. */
  list(search: AuditSearch, countMax: number): Promise<readonly ListedChange[]>
  /** All entries from the first, in pieces of which none is empty. */
  entries(): AsyncIterable<readonly AuditEntry[]>
  /** Computes every hash again, and looks whether the last entry is the one that was written last. */
  check(): Promise<AuditCheck>
}
