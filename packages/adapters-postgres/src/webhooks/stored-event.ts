import {
  credits,
  inboundEventId,
  instant,
  isTaken,
  optOutEventId,
  testEventId,
  webhookEventTypes,
  type EventGroup,
  type InboundMessageId,
  type MessageId,
  type Msisdn,
  type OutcomeCode,
  type SenderAddress,
  type WebhookEventType,
} from '@gateway/core'

/**
 * Events as a batch or a list keeps them, those of one send together: a subject is a message, an inbound message or 0, or the number of a test. There are
 * as many numbers as subjects, or none.
 */
export type StoredEvents = readonly [
  type: number,
  sequence: number,
  at: number,
  code: OutcomeCode | null,
  send: number | null,
  price: number | null,
  hasReference: boolean | null,
  from: string | null,
  shortCode: string | null,
  answers: number | null,
  text: string | null,
  subjects: readonly number[],
  numbers: readonly (string | null)[] | null,
]

export const storedEventsOf = (json: string): readonly StoredEvents[] => JSON.parse(json) as readonly StoredEvents[]

export const groupsOf = (stored: readonly StoredEvents[]): readonly EventGroup[] => stored.flatMap(groupsIn)

function groupsIn(stored: StoredEvents): readonly EventGroup[] {
  const [place, sequence, at, , , , , from, shortCode, answered, said, subjects, numbers] = stored
  const type = webhookEventTypes[place]
  const occurred = instant(at)
  const text = said ?? undefined
  const answers = (answered ?? undefined) as MessageId | undefined
  if (type === undefined) {
    return subjects.map((number) => ({ id: testEventId(number), sequence, occurred, data: { type: 'test' } }))
  }
  if (type === 'reply.received' || type === 'shortcode.received') {
    const code = (shortCode ?? undefined) as SenderAddress | undefined
    return subjects.map((subject) => {
      const inbound = subject as InboundMessageId
      const data = { type, inbound, from: from ?? '', shortCode: code, answers, text }
      return { id: inboundEventId(inbound), sequence, occurred, data }
    })
  }
  if (type === 'optout.added' || type === 'optout.removed') {
    return subjects.map((subject, i) => {
      const to = numbers?.[i] as Msisdn
      const inbound = subject === 0 ? undefined : (subject as InboundMessageId)
      const id = optOutEventId(type, to, inbound === undefined ? { at: occurred } : { inbound })
      return { id, sequence, occurred, data: { type, number: to, inbound, answers, text } }
    })
  }
  return [messageEvents(type, stored)]
}

type MessageEventType = Extract<WebhookEventType, `message.${string}`>

function messageEvents(type: MessageEventType, stored: StoredEvents): EventGroup {
  const [, sequence, at, code, , price, hasReference, , , , said, subjects, numbers] = stored
  if (code === null) throw new Error(`events of message ${subjects[0]} have no code`)
  const taken = isTaken({ code, hasReference: hasReference ?? false })
  const shared = { type, code, cost: credits(taken ? (price ?? 0) : 0), taken, text: said ?? undefined }
  const messages = subjects as readonly MessageId[]
  return { sequence, occurred: instant(at), shared, messages, numbers: (numbers ?? []) as readonly Msisdn[] }
}
