import { limits } from '../limits.ts'
import type { AccountId } from '../account/account.ts'
import type { Ports } from '../ports.ts'
import { daysBefore } from '../time/instant.ts'
import type { MessageId } from './message-id.ts'
import type { Deletion } from './messages.ts'

/** Deletes a scheduled message of whatever account, as its account holder would (ruling 1.15): one refund, one event. */
export const cancelMessage =
  (ports: Pick<Ports, 'messages' | 'messageTraces' | 'clock'>) =>
  async (id: MessageId): Promise<{ readonly account: AccountId; readonly deletion: Deletion } | undefined> => {
    const trace = await ports.messageTraces.of(id)
    if (trace === undefined) return undefined
    const since = daysBefore(ports.clock.now(), limits.statusDays)
    const [deletion = { outcome: 'not-found' as const }] = await ports.messages.deleteScheduled(
      trace.account,
      [id],
      since,
    )
    return { account: trace.account, deletion }
  }
