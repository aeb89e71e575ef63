import type { Account } from '../accounts/account.ts'
import { minus, plus, type Credits } from '../credits/credits.ts'
import type { Ports } from '../ports.ts'
import type { IdempotencyKey } from '../client-requests/client-requests.ts'
import type { Instant } from '../time/instant.ts'
import { deleteScheduled } from './follow-messages.ts'
import type { MessageId } from './messages.ts'
import { quoteMessages } from './quote-messages.ts'
import type { Refusal } from './refusal.ts'
import { askedFor, type sendMessages } from './send-messages.ts'
import { mayName } from './senders.ts'

/** What a scheduled message is to be from then on. */
export interface WantedChange {
  readonly text: string
  /** Undefined: at once. */
  readonly due: Instant | undefined
}

/**
 * What became of it. Refused: the message waits as before. Cancelled: it was deleted and refunded, and nothing was
 * accepted in its place, since something changed in between; it is never both.
 */
export type ScheduledChange =
  | { readonly outcome: 'changed'; readonly id: MessageId }
  | { readonly outcome: 'refused'; readonly why: Refusal | 'invalid-sender' }
  | { readonly outcome: 'cancelled' | 'sent' | 'not-found' | 'another-request' }

type ChangePorts = Pick<
  Ports,
  'sentMessages' | 'messages' | 'suppressions' | 'prices' | 'senders' | 'ledger' | 'clientRequests' | 'clock'
>

/**
 * Deletes a message that waits for its time and accepts another in its place, with an id of its own: what a dispatcher
 * has claimed is not changed (P-8), and of the two one is sent. With the same key it is done once; a crash between both
 * steps leaves the message cancelled.
 */
export const changeScheduled =
  (ports: ChangePorts, send: ReturnType<typeof sendMessages>) =>
  async (
    account: Account,
    id: MessageId,
    { text, due }: WantedChange,
    key: IdempotencyKey,
  ): Promise<ScheduledChange> => {
    const old = await ports.sentMessages.find(account.id, id)
    if (old === undefined) return { outcome: 'not-found' }
    const allowed = await ports.senders.allowedTo(account.id)
    const sender = old.from !== undefined && mayName(account, allowed, old.from) ? old.from : undefined
    const recipients = [{ number: old.number, reference: old.reference }]
    const texts = [{ text, recipients, scheduled: due, options: old.options, sender }]

    const request = { account: account.id, key, asked: askedFor(texts) }
    const isRepeated = (await ports.clientRequests.find(request)) !== undefined
    if (!isRepeated) {
      const quote = await quoteMessages(ports)(account, texts)
      if (quote === 'invalid-sender') return { outcome: 'refused', why: quote }
      const [result] = quote.texts.flat()
      if (result !== undefined && 'refused' in result && !isPaidByRefund(result.refused, quote, old.cost))
        return { outcome: 'refused', why: result.refused }
      const [deletion] = await deleteScheduled(ports)(account, [id])
      if (deletion?.outcome !== 'deleted') return { outcome: deletion?.outcome ?? 'not-found' }
    }
    const sent = await send(account, texts, key)
    if (sent === 'another-request') return { outcome: sent }
    const [accepted] = typeof sent === 'object' && 'flat' in sent ? sent.flat() : []
    return accepted !== undefined && 'id' in accepted
      ? { outcome: 'changed', id: accepted.id }
      : { outcome: 'cancelled' }
  }

/** What is given back for the old message pays for the new one. */
const isPaidByRefund = (
  refused: Refusal,
  { wanted, balance }: { readonly wanted: Credits; readonly balance: Credits },
  refund: Credits,
): boolean => refused === 'insufficient-credits' && minus(plus(balance, refund), wanted) >= 0
