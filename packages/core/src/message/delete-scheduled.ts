import type { Account } from '../account/account.ts'
import { limits } from '../limits.ts'
import type { Ports } from '../ports.ts'
import { daysBefore } from '../time/instant.ts'
import type { MessageId } from './message-id.ts'
import type { Deletion } from './messages.ts'

/** Deletes what has not been claimed and refunds it, once (ruling 1.15). One result per id, in order. A locked account may do so (ruling 1.14). */
export const deleteScheduled =
  (ports: Pick<Ports, 'messages' | 'clock'>) =>
  (account: Account, ids: readonly MessageId[]): Promise<readonly Deletion[]> =>
    ports.messages.deleteScheduled(account.id, ids, daysBefore(ports.clock.now(), limits.statusDays))
