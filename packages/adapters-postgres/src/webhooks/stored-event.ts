import {
  credits,
  inboundEventId,
  instant,
  isTaken,
  OUTCOME,
  optOutEventId,
  testEventId,
  type EventGroup,
  type InboundMessageId,
  type MessageId,
  type Msisdn,
  type OutcomeCode,
  type SenderAddress,
  type WebhookEventType,
} from '@gateway/core'
import { typeOfCode } from './event-codes.ts'

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
  /** It was replayed, and is in another list. */
  copy?: boolean,
]

/** None if nothing of it can be read. */
export function storedEventsOf(json: string): readonly StoredEvents[] {
  try {
    const stored: unknown = JSON.parse(json)
    return Array.isArray(stored) && stored.every(hasSubjects) ? stored : []
  } catch {
    return []
  }
}

const hasSubjects = (stored: unknown): stored is StoredEvents => Array.isArray(stored) && Array.isArray(stored[11])

const codes: ReadonlySet<unknown> = new Set(Object.values(OUTCOME))

/** Whether `groupsOf` reads it: another version may have written it, and a row may be spoiled. */
export function isReadable([type, , at, code]: StoredEvents): boolean {
  const name = typeOfCode(type)
  if (name === undefined || !Number.isInteger(at)) return false
  return !name.startsWith('message.') || codes.has(code)
}

/** Of what `isReadable`. Throws for anything else. */
export const groupsOf = (stored: readonly StoredEvents[]): readonly EventGroup[] => stored.flatMap(groupsIn)

function groupsIn(stored: StoredEvents): readonly EventGroup[] {
  const [code, sequence, at, , , , , from, shortCode, answered, said, subjects, numbers] = stored
  const type = typeOfCode(code)
  const occurred = instant(at)
  const text = said ?? undefined
  const answers = (answered ?? undefined) as MessageId | undefined
  if (type === undefined) throw new Error(`events have a type that this version does not know: ${code}`)
  if (type === 'test') {
    return subjects.map((number) => ({ id: testEventId(number), sequence, occurred, data: { type: 'test' } }))
  }
  if (type === 'reply.received' || type === 'shortcode.received') {
    const its = (shortCode ?? undefined) as SenderAddress | undefined
    return subjects.map((subject) => {
      const inbound = subject as InboundMessageId
      const data = { type, inbound, from: from ?? '', shortCode: its, answers, text }
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
