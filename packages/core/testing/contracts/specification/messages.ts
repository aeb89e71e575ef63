import { firstAnswerSeconds } from '@gateway/core/client-requests'
import type { FoundMessage } from '@gateway/core/messages'
import { secondsAfter, type Instant } from '@gateway/core/time'

/**
 * The address at which a number hears an account, so that a reply finds the account (ruling 1.18): the one that it has
 * heard it at before, else one at which it hears no other account, else the one that the account prefers.
 */
export const chooseSender = <Sender>(
  preferred: readonly Sender[],
  before: Sender | undefined,
  ofOthers: ReadonlySet<Sender>,
): Sender | undefined => {
  if (before !== undefined && preferred.includes(before)) return before
  return preferred.find((sender) => !ofOthers.has(sender)) ?? preferred[0]
}

/**
 * Whether a message in the queue can be deleted: it was scheduled, and no carrier has refused it for now (ruling 1.15).
 */
export const isDeletable = (wasScheduled: boolean, attempts: number): boolean => wasScheduled && attempts === 0

/** Below 0 if `a` comes before `b` in a list: the latest due first, then the highest id. */
export const laterDue = (a: Pick<FoundMessage, 'due' | 'id'>, b: Pick<FoundMessage, 'due' | 'id'>): number =>
  b.due - a.due || b.id - a.id

/**
 * Of a message: when its hand-over was recorded, or that there was none, and when its state was reached; undefined: it
 * waits.
 */
type Decided = { readonly left: Instant; readonly at: Instant } | undefined

/**
 * Whether a send goes: it was due before `before`, and so was the last change of each of its messages, all of them
 * decided.
 */
export const isDropped = (send: { readonly due: Instant }, messages: readonly Decided[], before: Instant): boolean =>
  send.due < before && messages.every((one) => one !== undefined && one.left < before && one.at < before)

/** Whether the answer that was kept at `at` still counts; if not, its key is free. */
export const isKept = (at: Instant, now: Instant): boolean => at > secondsAfter(now, -firstAnswerSeconds)
