import type { Account } from '../account/account.ts'
import { limits } from '../limits.ts'
import type { Ports } from '../ports.ts'
import { daysBefore } from '../time/instant.ts'
import type { MessageId } from './message-id.ts'
import type { MessageStatus } from './messages.ts'

/** One status per id, in order. Ids of other accounts, unknown ids and messages due more than 90 days ago look the same (ruling 1.16). */
export const queryStatus =
  (ports: Pick<Ports, 'messages' | 'clock'>) =>
  (account: Account, ids: readonly MessageId[]): Promise<readonly MessageStatus[]> =>
    ports.messages.status(account.id, ids, daysBefore(ports.clock.now(), limits.statusDays))
