import type { Account } from '../account/account.ts'
import { limits } from '../limits.ts'
import type { Page, Paged } from '../message/page.ts'
import type { Ports } from '../ports.ts'
import { daysBefore } from '../time/instant.ts'
import type { InboxMessage, InboxPart } from './inbox.ts'

/** A list of what was received in the last 90 days, oldest first (ruling 2.10). It consumes nothing. */
const listInbox =
  (part: InboxPart) =>
  (ports: Pick<Ports, 'inbox' | 'clock'>) =>
  (account: Account, page: Page): Promise<Paged<InboxMessage>> =>
    ports.inbox.list(account.id, part, daysBefore(ports.clock.now(), limits.inboxDays), page)

/** Replies without short code messages (ruling 1.19). */
export const listReplies = listInbox('replies')

/** Messages to the account's codes; an account without one has none. */
export const listShortCodeMessages = listInbox('short-code')
