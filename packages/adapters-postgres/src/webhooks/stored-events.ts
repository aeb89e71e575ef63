import { credits, type Credits } from '@gateway/core/credits'
import type { InboundMessageId } from '@gateway/core/inbox'
import {
  isAcceptedByCarrier,
  labelsOf,
  noOptions,
  OUTCOME,
  type MessageId,
  type MessageReference,
  type Msisdn,
  type OutcomeCode,
  type SendLabels,
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
import { elementAt } from '../sql/arrays.ts'
import { typeOfCode } from '../stored-codes.ts'

/**
 * Events as `claim-lists` stores them in `webhook_list.events`. Events of one send are stored together, and null fields
 * are omitted.
 */
export interface StoredEvents {
  /** Type of the events, as a code of `EVENT_CODE`. */
  readonly type: number
  readonly sequence: number
  readonly at: number
  /** Present for events of messages, as are `price`, `labels` and `hasReference`. */
  readonly code?: OutcomeCode
  /** First id of the send of a message; the id of the message itself for an opt-out at its carrier. */
  readonly send?: MessageId
  readonly price?: Credits
  readonly labels?: SendLabels
  readonly hasReference?: boolean
  /** Present for events of inbound messages, as are `shortCode` and `answers`. */
  readonly from?: string
  readonly shortCode?: SenderAddress
  readonly answers?: MessageId
  readonly text?: string
  /** Ids of the messages, the id of the inbound message (0 if there is none), or the number of the test. */
  readonly subjects: readonly number[]
  /** Phone number of each subject. */
  readonly numbers?: readonly Msisdn[]
  /** Client reference of each subject, if any message has one. */
  readonly references?: readonly (MessageReference | null)[]
  /** True if the events were replayed and are in another list as well. */
  readonly copy?: boolean
}

/** Returns the stored events, or none if the JSON has another form. */
export const storedEventsOf = (json: unknown): readonly StoredEvents[] =>
  Array.isArray(json) && json.every(hasSubjects) ? json : []

const hasSubjects = (stored: unknown): stored is StoredEvents =>
  typeof stored === 'object' && stored !== null && 'subjects' in stored && Array.isArray(stored.subjects)

const codes: ReadonlySet<unknown> = new Set(Object.values(OUTCOME))

/** Returns true if `groupsOf` can read the events. Another version may have written them, or the row may be damaged. */
export function isReadable({ type, at, code }: StoredEvents): boolean {
  const name = typeOfCode(type)
  if (name === undefined || !Number.isInteger(at)) return false
  return !name.startsWith('message.') || codes.has(code)
}

/** Converts stored events to groups. Throws for events that are not readable (`isReadable`). */
export const groupsOf = (stored: readonly StoredEvents[]): readonly EventGroup[] => stored.flatMap(groupsIn)

function groupsIn(stored: StoredEvents): readonly EventGroup[] {
  const { sequence, subjects, numbers = [], from = '', text, answers, shortCode } = stored
  const type = typeOfCode(stored.type)
  const occurred = instant(stored.at)
  if (type === undefined) throw new Error(`events have a type that this version does not know: ${stored.type}`)
  if (type === 'test') {
    return subjects.map((number) => ({ id: testEventId(number), sequence, occurred, data: { type } }))
  }
  if (type === 'reply.received' || type === 'shortcode.received') {
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
      const number = elementAt(numbers, i)
      const inbound = subject === 0 ? undefined : (subject as InboundMessageId)
      const id = optOutEventId(type, number, inbound === undefined ? { at: occurred } : { inbound })
      // An opt-out at a carrier has no inbound message. Its message is stored in the place of the send.
      return { id, sequence, occurred, data: { type, number, inbound, answers: answers ?? stored.send, text } }
    })
  }
  return [messageEvents(type, stored)]
}

type MessageEventType = Extract<WebhookEventType, `message.${string}`>

function messageEvents(type: MessageEventType, stored: StoredEvents): EventGroup {
  const { sequence, at, code, price = credits(0), hasReference = false, text, subjects, numbers = [] } = stored
  if (code === undefined) throw new Error(`events of message ${subjects[0]} have no code`)
  const wasAccepted = isAcceptedByCarrier({ code, hasReference })
  const shared = {
    ...labelsOf(stored.labels ?? noOptions),
    type,
    code,
    cost: wasAccepted ? price : credits(0),
    staysCharged: wasAccepted,
    text,
  }
  const messages = subjects as readonly MessageId[]
  const references = stored.references?.map((reference) => reference ?? undefined)
  const events = { sequence, occurred: instant(at), shared, messages, numbers }
  return references === undefined ? events : { ...events, references }
}
