import type { AccountId } from '../account/account.ts'
import type { Msisdn } from '../message/msisdn.ts'
import type { OptOut } from './opt-out.ts'
import type {
  ListedSuppression,
  Suppression,
  SuppressionEntry,
  SuppressionKey,
  SuppressionScope,
} from './suppression.ts'

/** Numbers that must not be written to. */
export interface Suppressions {
  /** What holds for messages of this account, its own entries and everybody's. A number without any is not in the map. */
  matching(by: AccountId, numbers: readonly Msisdn[]): Promise<ReadonlyMap<Msisdn, ReadonlySet<Suppression>>>
  /** An entry that is there already keeps its first time. */
  add(entry: SuppressionEntry): Promise<'added' | 'already'>
  /**
   * Adds all that are not there yet, of one number that comes twice the first, and returns how many these are; all or none.
   * Several may add the same numbers at once, in any order.
   */
  addAll(scope: SuppressionScope, kind: Suppression, entries: readonly ListedSuppression[]): Promise<number>
  /** False: there was no such entry. */
  remove(key: SuppressionKey): Promise<boolean>
  /** By number (as text), read in pieces: a long list does not grow the process. */
  list(scope: SuppressionScope, kind: Suppression): AsyncIterable<SuppressionEntry>
  /** The opt-outs of an account, each with the inbound message that made it, in the same order; in pieces of some hundred, of which none is empty. */
  optOuts(by: AccountId): AsyncIterable<readonly OptOut[]>
}
