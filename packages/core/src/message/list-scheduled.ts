import type { Account } from '../account/account.ts'
import type { Ports } from '../ports.ts'
import type { ScheduledMessage } from './messages.ts'
import type { Page, Paged } from './page.ts'

/** What the account has waiting for its time, by due time, then id (ruling 2.10). */
export const listScheduled =
  (ports: Pick<Ports, 'messages'>) =>
  (account: Account, page: Page): Promise<Paged<ScheduledMessage>> =>
    ports.messages.scheduled(account.id, page)
