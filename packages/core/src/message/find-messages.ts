import { limits } from '../limits.ts'
import type { Ports } from '../ports.ts'
import { daysBefore } from '../time/instant.ts'
import type { FoundMessage, MessageSearch } from './found-message.ts'
import type { MessageId } from './message-id.ts'

export interface WantedMessages extends Omit<MessageSearch, 'after'> {
  /** Only what the list has after this message, of any number. */
  readonly after?: MessageId | undefined
  /** At most so many; more than 0. */
  readonly limit: number
}

export interface FoundMessages {
  readonly messages: readonly FoundMessage[]
  /** Whether there are more after these. */
  readonly more: boolean
}

/**
 * The messages to a number, the latest due first and of several at one moment the highest id first, all as of one moment.
 * As in a status query, what waits is never too old, and what is decided is there for 90 days from its due time.
 */
export const findMessages =
  (ports: Pick<Ports, 'messageTraces' | 'clock'>) =>
  async ({ after, limit, ...search }: WantedMessages): Promise<FoundMessages | 'no-such-message'> => {
    const trace = after === undefined ? undefined : await ports.messageTraces.of(after)
    if (after !== undefined && trace === undefined) return 'no-such-message'
    const place = trace && { id: trace.id, due: trace.scheduled ?? trace.accepted }
    const decidedSince = daysBefore(ports.clock.now(), limits.statusDays)
    const found = await ports.messageTraces.find({ ...search, after: place }, decidedSince, limit + 1)
    return { messages: found.slice(0, limit), more: found.length > limit }
  }
