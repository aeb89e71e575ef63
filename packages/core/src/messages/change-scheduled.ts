import type { Account } from '../accounts/account.ts'
import { minus, plus, type Credits } from '../credits/credits.ts'
import type { Ports } from '../ports.ts'
import type { IdempotencyKey } from '../client-requests/client-requests.ts'
import type { Instant } from '../time/instant.ts'
import { deleteScheduled } from './follow-messages.ts'
import type { MessageId } from './message-id.ts'
import type { Refusal } from './messages.ts'
import { quoteMessages } from './quote-messages.ts'
import type { ScreeningPorts } from './screen-texts.ts'
import { canonicalForm, type sendMessages } from './send-messages.ts'
import { mayName } from './senders.ts'

/** Requested content of a scheduled message. It replaces the present content. */
export interface ScheduledMessageUpdate {
  readonly text: string
  /** New scheduled time; undefined: send at once. */
  readonly due: Instant | undefined
}

/**
 * Result of a change. `refused`: the message waits unchanged. `cancelled`: the old message was deleted and refunded,
 * but the new one was not accepted, because something changed between the two steps. The old and the new message are
 * never both sent.
 */
export type ScheduledChange =
  | { readonly outcome: 'changed'; readonly id: MessageId }
  | { readonly outcome: 'refused'; readonly why: Refusal | 'invalid-sender' }
  | { readonly outcome: 'cancelled' | 'sent' | 'not-found' | 'another-request' }

type ChangePorts = ScreeningPorts & Pick<Ports, 'sentMessages' | 'messages' | 'clientRequests'>

/**
 * Replaces a scheduled message: deletes it and accepts a new one with an id of its own. A message that a dispatcher has
 * claimed does not change (P-8), so only one of the two is sent. With a key the change is made once. A crash between
 * the two steps leaves the message cancelled.
 */
export const changeScheduled =
  (ports: ChangePorts, send: ReturnType<typeof sendMessages>) =>
  async (
    account: Account,
    id: MessageId,
    { text, due }: ScheduledMessageUpdate,
    key: IdempotencyKey,
  ): Promise<ScheduledChange> => {
    const old = await ports.sentMessages.find(account.id, id)
    if (old === undefined) return { outcome: 'not-found' }
    const allowed = await ports.senders.allowedTo(account.id)
    const sender = old.from !== undefined && mayName(account, allowed, old.from) ? old.from : undefined
    const recipients = [{ number: old.number, reference: old.reference }]
    const texts = [{ text, recipients, scheduled: due, options: old.options, sender }]

    const request = { account: account.id, key, canonical: canonicalForm(texts) }
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

/**
 * Returns true if the message was refused only for lack of credits and the refund of the old message would cover the
 * cost.
 */
const isPaidByRefund = (
  refused: Refusal,
  { fullCost: cost, balance }: { readonly fullCost: Credits; readonly balance: Credits },
  refund: Credits,
): boolean => refused === 'insufficient-credits' && minus(plus(balance, refund), cost) >= 0
