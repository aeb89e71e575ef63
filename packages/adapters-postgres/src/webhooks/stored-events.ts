import { credits } from '@gateway/core/credits'
import type { InboundMessageId } from '@gateway/core/inbox'
import {
  isTaken,
  OUTCOME,
  type MessageId,
  type MessageReference,
  type Msisdn,
  type OutcomeCode,
  type SenderAddress,
} from '@gateway/core/messages'
import { instant } from '@gateway/core/time'
import {
  inboundEventId,
  optOutEventId,
  testEventId,
  type EventGroup,
  type WebhookEventType,
} from '@gateway/core/webhooks'
import { typeOfCode } from '../stored-codes.ts'

/**
 * Events as `webhook_list.events` has them, those of one send together; written by `claim-lists`. What is null is left
 * out.
 */
export interface StoredEvents {
  /** As `EVENT_CODE` has it. */
  readonly type: number
  readonly sequence: number
  readonly at: number
  /** This and the next three: of messages. */
  readonly code?: OutcomeCode
  readonly send?: number
  readonly price?: number
  readonly hasReference?: boolean
  /** This and the next two: of what arrived. */
  readonly from?: string
  readonly shortCode?: string
  readonly answers?: number
  readonly text?: string
  /** Messages; an inbound message, or 0; the number of a test. */
  readonly subjects: readonly number[]
  /** As many as there are subjects. */
  readonly numbers?: readonly string[]
  /** Of messages that have one; as many as there are subjects. */
  readonly references?: readonly (string | null)[]
  /** It was replayed, and is in another list. */
  readonly copy?: boolean
}

/** None if nothing of it can be read. */
export const storedEventsOf = (json: unknown): readonly StoredEvents[] =>
  Array.isArray(json) && json.every(hasSubjects) ? json : []

const hasSubjects = (stored: unknown): stored is StoredEvents =>
  typeof stored === 'object' && stored !== null && 'subjects' in stored && Array.isArray(stored.subjects)

const codes: ReadonlySet<unknown> = new Set(Object.values(OUTCOME))

/** Whether `groupsOf` reads it: another version may have written it, and a row may be spoiled. */
export function isReadable({ type, at, code }: StoredEvents): boolean {
  const name = typeOfCode(type)
  if (name === undefined || !Number.isInteger(at)) return false
  return !name.startsWith('message.') || codes.has(code)
}

/** Of what `isReadable`. Throws for anything else. */
export const groupsOf = (stored: readonly StoredEvents[]): readonly EventGroup[] => stored.flatMap(groupsIn)

function groupsIn(stored: StoredEvents): readonly EventGroup[] {
  const { sequence, subjects, numbers, from = '', text } = stored
  const type = typeOfCode(stored.type)
  const occurred = instant(stored.at)
  const answers = stored.answers as MessageId | undefined
  if (type === undefined) throw new Error(`events have a type that this version does not know: ${stored.type}`)
  if (type === 'test') {
    return subjects.map((number) => ({ id: testEventId(number), sequence, occurred, data: { type } }))
  }
  if (type === 'reply.received' || type === 'shortcode.received') {
    const shortCode = stored.shortCode as SenderAddress | undefined
    return subjects.map((subject) => {
      const inbound = subject as InboundMessageId
      return {
        id: inboundEventId(inbound),
        sequence,
        occurred,
        data: { type, inbound, from, shortCode, answers, text },
      }
    })
  }
  if (type === 'optout.added' || type === 'optout.removed') {
    return subjects.map((subject, i) => {
      const number = numbers?.[i] as Msisdn
      const inbound = subject === 0 ? undefined : (subject as InboundMessageId)
      const id = optOutEventId(type, number, inbound === undefined ? { at: occurred } : { inbound })
      return { id, sequence, occurred, data: { type, number, inbound, answers, text } }
    })
  }
  return [messageEvents(type, stored)]
}

type MessageEventType = Extract<WebhookEventType, `message.${string}`>

function messageEvents(type: MessageEventType, stored: StoredEvents): EventGroup {
  const { sequence, at, code, price = 0, hasReference = false, text, subjects, numbers = [] } = stored
  if (code === undefined) throw new Error(`events of message ${subjects[0]} have no code`)
  const taken = isTaken({ code, hasReference })
  const shared = { type, code, cost: credits(taken ? price : 0), taken, text }
  const messages = subjects as readonly MessageId[]
  const references = stored.references?.map((reference) => (reference ?? undefined) as MessageReference | undefined)
  const events = { sequence, occurred: instant(at), shared, messages, numbers: numbers as readonly Msisdn[] }
  return references === undefined ? events : { ...events, references }
}
