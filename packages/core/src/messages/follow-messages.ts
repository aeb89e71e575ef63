import type { Account, AccountId } from '../accounts/account.ts'
import { limits } from '../limits.ts'
import type { Ports } from '../ports.ts'
import { daysBefore } from '../time/instant.ts'
import type { FoundMessage, SearchBounds, WhichMessages } from './message-trace.ts'
import type { MessageId } from './message-id.ts'
import type { Deletion, MessageStatus } from './messages.ts'

/**
 * Returns one status per id, in order. Ids of other accounts, unknown ids and messages due more than 90 days ago look
 * the same (ruling 1.16).
 */
export const queryStatus =
  (ports: Pick<Ports, 'messages' | 'clock'>) =>
  (account: Account, ids: readonly MessageId[]): Promise<readonly MessageStatus[]> =>
    ports.messages.status(account.id, ids, daysBefore(ports.clock.now(), limits.statusDays))

/**
 * Deletes scheduled messages that have not been claimed and refunds each once (ruling 1.15). Returns one result per id,
 * in order. A locked account may delete (ruling 1.14).
 */
export const deleteScheduled =
  (ports: Pick<Ports, 'messages' | 'clock'>) =>
  (account: Account, ids: readonly MessageId[]): Promise<readonly Deletion[]> =>
    ports.messages.deleteScheduled(account.id, ids, daysBefore(ports.clock.now(), limits.statusDays))

/**
 * Deletes a scheduled message of any account for the operator, with the effects of a deletion by the account holder
 * (ruling 1.15): one refund, one event.
 */
export const cancelMessage =
  (ports: Pick<Ports, 'messages' | 'sentMessages' | 'clock'>) =>
  async (id: MessageId): Promise<{ readonly account: AccountId; readonly deletion: Deletion } | undefined> => {
    const trace = await ports.sentMessages.trace(id)
    if (trace === undefined) return undefined
    const since = daysBefore(ports.clock.now(), limits.statusDays)
    const [deletion = { outcome: 'not-found' as const }] = await ports.messages.deleteScheduled(
      trace.account,
      [id],
      since,
    )
    return { account: trace.account, deletion }
  }

export type MessageQuery = Omit<SearchBounds, 'after'> &
  WhichMessages & {
    /** Lists only messages after this one in the order of the list. */
    readonly after?: MessageId | undefined
    /** Maximum number of messages, at least 1. */
    readonly limit: number
  }

export interface FoundMessages {
  readonly messages: readonly FoundMessage[]
  /** True if the list has more messages. */
  readonly more: boolean
}

/**
 * Finds messages by number or reference in one snapshot, latest due first and, if due at the same moment, highest id
 * first. As in a status query, waiting messages are always listed, others until 90 days after their due time.
 */
export const findMessages =
  (ports: Pick<Ports, 'sentMessages' | 'clock'>) =>
  async ({ after, limit, ...search }: MessageQuery): Promise<FoundMessages | 'no-such-message'> => {
    const trace = after === undefined ? undefined : await ports.sentMessages.trace(after)
    if (after !== undefined && trace === undefined) return 'no-such-message'
    const place = trace && { id: trace.id, due: trace.scheduled ?? trace.accepted }
    const decidedSince = daysBefore(ports.clock.now(), limits.statusDays)
    const found = await ports.sentMessages.search({ ...search, after: place }, decidedSince, limit + 1)
    return { messages: found.slice(0, limit), more: found.length > limit }
  }
