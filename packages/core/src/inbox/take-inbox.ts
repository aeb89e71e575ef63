import type { Account } from '../accounts/account.ts'
import { limits } from '../limits.ts'
import type { Page, Paged } from '../messages/messages.ts'
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

/** So many messages of one call unless the operator sets another number (ruling 1.20). */
export const takenMaxDefault = 10_000

export interface TakenMessages {
  readonly messages: readonly InboxMessage[]
  /**
   * To be called if the answer could not be handed over whole: then they are offered again. May be repeated if it
   * rejects.
   */
  offerAgain(): Promise<void>
}

/**
 * What was received in the last 90 days and has not been returned, oldest first: from now on it is returned, whichever
 * of the calls asked (P-9; ruling 1.20).
 */
async function take(
  ports: Pick<Ports, 'inbox' | 'clock'>,
  account: Account,
  part: InboxPart,
  messagesMax: number,
): Promise<TakenMessages> {
  const since = daysBefore(ports.clock.now(), limits.inboxDays)
  const { taking, messages } = await ports.inbox.take(account.id, part, since, messagesMax)
  return {
    messages,
    offerAgain: () => (messages.length === 0 ? Promise.resolve() : ports.inbox.offerAgain(account.id, taking)),
  }
}

/** All that belongs to the account; without what was sent to its codes if that is wanted (ruling 1.19). */
export const takeReplies =
  (ports: Pick<Ports, 'inbox' | 'clock'>, messagesMax: number) =>
  (account: Account, codes: 'with-short-codes' | 'without-short-codes'): Promise<TakenMessages> =>
    take(ports, account, codes === 'with-short-codes' ? 'all' : 'replies', messagesMax)

/** Messages to the account's codes. */
export const takeShortCodeMessages =
  (ports: Pick<Ports, 'inbox' | 'clock'>, messagesMax: number) =>
  (account: Account): Promise<TakenMessages> =>
    take(ports, account, 'short-code', messagesMax)
