import {
  credits,
  inboundEventId,
  instant,
  isTaken,
  messageEventId,
  optOutEventId,
  testEventId,
  webhookEventTypes,
  type InboundMessageId,
  type MessageId,
  type Msisdn,
  type OutcomeCode,
  type SenderAddress,
  type WebhookEvent,
} from '@gateway/core'

/** An event as a list keeps it; the subject is a message, an inbound message or 0, or the number of a test. */
export type StoredEvent = readonly [
  type: number,
  sequence: number,
  at: number,
  subject: number,
  code: OutcomeCode | null,
  number: number | null,
  price: number | null,
  hasReference: boolean | null,
  from: string | null,
  shortCode: string | null,
  answers: number | null,
  text: string | null,
]

export function eventOf(stored: StoredEvent): WebhookEvent {
  const [place, sequence, at, subject, code, number, price, hasReference, from, shortCode, answered, said] = stored
  const type = webhookEventTypes[place]
  const occurred = instant(at)
  const text = said ?? undefined
  const answers = (answered ?? undefined) as MessageId | undefined
  if (type === undefined) return { id: testEventId(subject), sequence, occurred, data: { type: 'test' } }
  if (type === 'reply.received' || type === 'shortcode.received') {
    const inbound = subject as InboundMessageId
    const code = (shortCode ?? undefined) as SenderAddress | undefined
    return {
      id: inboundEventId(inbound),
      sequence,
      occurred,
      data: { type, inbound, from: from ?? '', shortCode: code, answers, text },
    }
  }
  const to = String(number) as Msisdn
  if (type === 'optout.added' || type === 'optout.removed') {
    const inbound = subject === 0 ? undefined : (subject as InboundMessageId)
    const id = optOutEventId(type, to, inbound === undefined ? { at: occurred } : { inbound })
    return { id, sequence, occurred, data: { type, number: to, inbound, answers, text } }
  }
  if (code === null) throw new Error(`an event of message ${subject} has no code`)
  const message = subject as MessageId
  const taken = isTaken({ code, hasReference: hasReference ?? false })
  const cost = credits(taken ? (price ?? 0) : 0)
  const data = { type, message, number: to, code, cost, taken, text } as const
  return { id: messageEventId(message, sequence), sequence, occurred, data }
}

export const eventsOf = (json: string): readonly WebhookEvent[] =>
  (JSON.parse(json) as readonly StoredEvent[]).map(eventOf)
