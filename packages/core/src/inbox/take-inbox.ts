import type { Account } from '../accounts/account.ts'
import { limits } from '../limits.ts'
import type { Page, Paged } from '../messages/messages.ts'
import type { Ports } from '../ports.ts'
import { daysBefore } from '../time/instant.ts'
import type { InboxMessage, InboxPart } from './inbox.ts'

/** Lists messages received in the last 90 days, oldest first (ruling 2.10), without consuming them. */
const listInbox =
  (part: InboxPart) =>
  (ports: Pick<Ports, 'inbox' | 'clock'>) =>
  (account: Account, page: Page): Promise<Paged<InboxMessage>> =>
    ports.inbox.list(account.id, part, daysBefore(ports.clock.now(), limits.inboxDays), page)

/** Lists inbound messages other than short code messages (ruling 1.19). */
export const listReplies = listInbox('replies')

/** Lists messages to the account's codes. The list of an account without a code is empty. */
export const listShortCodeMessages = listInbox('short-code')

/** Default maximum number of messages of one return-once call (ruling 1.20). */
export const returnOnceMaxDefault = 10_000

export interface ConsumedMessages {
  readonly messages: readonly InboxMessage[]
  /**
   * Offers the messages again. To be called if the response could not be written completely; may be repeated if it
   * rejects.
   */
  offerAgain(): Promise<void>
}

/**
 * Returns messages of the last 90 days that no return-once call has returned, oldest first, and marks them as returned
 * for all of these calls (P-9; ruling 1.20).
 */
async function take(
  ports: Pick<Ports, 'inbox' | 'clock'>,
  account: Account,
  part: InboxPart,
  messagesMax: number,
): Promise<ConsumedMessages> {
  const since = daysBefore(ports.clock.now(), limits.inboxDays)
  const { taking, messages } = await ports.inbox.take(account.id, part, since, messagesMax)
  return {
    messages,
    offerAgain: () => (messages.length === 0 ? Promise.resolve() : ports.inbox.offerAgain(account.id, taking)),
  }
}

/** Returns replies once, with or without short code messages (ruling 1.19). */
export const takeReplies =
  (ports: Pick<Ports, 'inbox' | 'clock'>, messagesMax: number) =>
  (account: Account, codes: 'with-short-codes' | 'without-short-codes'): Promise<ConsumedMessages> =>
    take(ports, account, codes === 'with-short-codes' ? 'all' : 'replies', messagesMax)

/** Returns messages to the account's codes once. */
export const takeShortCodeMessages =
  (ports: Pick<Ports, 'inbox' | 'clock'>, messagesMax: number) =>
  (account: Account): Promise<ConsumedMessages> =>
    take(ports, account, 'short-code', messagesMax)
