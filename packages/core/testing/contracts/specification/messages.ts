import { firstAnswerSeconds } from '@gateway/core/client-requests'
import type { FoundMessage } from '@gateway/core/messages'
import { secondsAfter, type Instant } from '@gateway/core/time'

/**
 * Returns the sender address for a number, so that replies find the account (ruling 1.18). Chooses the address from
 * which the account wrote to the number before, else an address from which no other account wrote to the number, else
 * the address that the account prefers.
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
 * Returns true if a message in the queue can be deleted: it was scheduled, and no carrier has refused it temporarily
 * (ruling 1.15).
 */
export const isDeletable = (wasScheduled: boolean, attempts: number): boolean => wasScheduled && attempts === 0

/**
 * Compares messages for a list that is sorted by due time, latest first, and then by id, highest first. Returns a
 * negative number if `a` comes before `b`.
 */
export const laterDue = (a: Pick<FoundMessage, 'due' | 'id'>, b: Pick<FoundMessage, 'due' | 'id'>): number =>
  b.due - a.due || b.id - a.id

/**
 * Two times of a message: `left` is when its submission, or its end without one, was recorded; `at` is when its current
 * state was reached. Undefined while the message waits.
 */
type Decided = { readonly handedOver: Instant; readonly at: Instant } | undefined

/**
 * Returns true if a send is old enough to be dropped: it was due before `before`, all its messages have an outcome, and
 * no message has changed since `before`.
 */
export const isDropped = (send: { readonly due: Instant }, messages: readonly Decided[], before: Instant): boolean =>
  send.due < before && messages.every((one) => one !== undefined && one.handedOver < before && one.at < before)

/**
 * Returns true if a client request's answer, stored at `at`, is still returned for its key. Otherwise the key is free.
 */
export const isKept = (at: Instant, now: Instant): boolean => at > secondsAfter(now, -firstAnswerSeconds)
