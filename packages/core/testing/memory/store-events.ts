import type { AccountId } from '@gateway/core/accounts'
import { credits } from '@gateway/core/credits'
import type { InboundMessageId } from '@gateway/core/inbox'
import { isAcceptedByCarrier, labelsOf, withLabels, type MessageId, type Msisdn } from '@gateway/core/messages'
import type { Instant } from '@gateway/core/time'
import {
  eventTypeOf,
  inboundEventId,
  messageEventId,
  messageSequence,
  optOutEventId,
  type LearntFrom,
  type WebhookEvent,
} from '@gateway/core/webhooks'
import type { InboundMessageRow, MessageRow } from './rows.ts'
import { storeReceipts, storeReply } from './smpp-deliveries.ts'
import type { MemoryStore } from './store.ts'
import { wakeSleepers } from './wakeups.ts'

/** Stores an event for the endpoints of the account that subscribe to it now and are not disabled. */
function storeEvent(store: MemoryStore, account: AccountId, event: WebhookEvent): void {
  for (const { webhook, waiting } of store.webhooks.values()) {
    const { type } = event.data
    const wants = type !== 'test' && webhook.events.includes(type)
    if (webhook.account === account && webhook.state !== 'disabled' && wants) {
      waiting.push(event)
      wakeSleepers(store)
    }
  }
}

/** Stores the event of a changed message. A confirmation of an opt-out has no events (ruling 1.21). */
export function storeMessageEvent(store: MemoryStore, row: MessageRow, from: LearntFrom): void {
  storeReceipts(store, row)
  const { id, number, send, decision, reference } = row
  const type = decision && eventTypeOf(decision.code)
  if (decision === undefined || type === undefined || send.confirmation) return
  const { code, at } = decision
  const sequence = messageSequence(code, from)
  const isCharged = isAcceptedByCarrier({ code, hasReference: decision.reference !== undefined })
  const cost = isCharged ? row.cost : credits(0)
  const fields = { type, message: id, number, code, cost, staysCharged: isCharged, text: send.body.text } as const
  const data = withLabels(fields, { reference, ...labelsOf(send.options) })
  storeEvent(store, send.account, { id: messageEventId(id, sequence), sequence, occurred: at, data })
}

export function storeInboundEvent(store: MemoryStore, account: AccountId, row: InboundMessageRow): void {
  const { id, from, shortCode, answers, text, at } = row
  const by = store.repliesBy.get(account) ?? 'webhook'
  if (by === 'smpp') storeReply(store, account, row)
  if (by !== 'webhook') return
  const type = shortCode === undefined ? 'reply.received' : 'shortcode.received'
  const data = { type, inbound: id, from, shortCode, answers, text } as const
  storeEvent(store, account, { id: inboundEventId(id), sequence: 1, occurred: at, data })
}

interface OptOutChange {
  readonly type: 'optout.added' | 'optout.removed'
  readonly number: Msisdn
  readonly at: Instant
  readonly inbound?: InboundMessageId | undefined
  readonly answers?: MessageId | undefined
  readonly text?: string | undefined
}

export function storeOptOutEvent(store: MemoryStore, account: AccountId, change: OptOutChange): void {
  const { type, number, at, inbound, answers, text } = change
  const id = optOutEventId(type, number, inbound === undefined ? { at } : { inbound })
  storeEvent(store, account, {
    id,
    sequence: 1,
    occurred: at,
    data: { type, number, inbound, answers, text },
  })
}
