import {
  erasedNumber,
  formatCredits,
  INCIDENT,
  refundsOf,
  OUTCOME,
  type CarrierId,
  type DecidedLocation,
  type Instant,
  type MessageTrace,
  type TracedPart,
  type TracedReceipt,
  type TracedRefund,
  type Waiting,
} from '@gateway/core'
import { outcomeMeaning, outcomeText } from '../outcome-words.ts'
import { printable } from '../output.ts'
import { counted, timeText } from '../show.ts'
import { attemptsOf, isRefunded } from './attempts.ts'
import { routeText } from './route-text.ts'
import { locationText } from './location-text.ts'

interface Event {
  readonly at: Instant
  readonly text: string
}

/** The trace for a person: what is known, where the message is now, and what happened in the order of time. */
export function traceText(trace: MessageTrace, now: Instant, waiting: Waiting | undefined): string {
  const events = eventsOf(trace).toSorted((a, b) => a.at - b.at)
  return [
    ...factsOf(trace).map(([name, value]) => `${name.padEnd(8)}  ${printable(value)}`),
    '',
    locationText(trace, now, waiting),
    '',
    ...events.map(({ at, text }) => `${timeText(at)}  ${printable(text)}`),
    'All times are GMT+2.',
  ].join('\n')
}

function factsOf(trace: MessageTrace): readonly (readonly [string, string])[] {
  const { text, place } = trace
  const encoding = text.encoding === 'gsm-7' ? 'GSM 7-bit' : 'UCS-2'
  const size = `${counted(text.characters, 'character')}, ${encoding}, ${counted(text.parts, 'part')}`
  const carrier = place.place === 'decided' ? place.carrier : undefined
  const reference = place.place === 'decided' ? place.reference : undefined
  const parts = place.place === 'decided' ? place.parts : []
  const name = reference === undefined ? 'its id of the message is not known' : idsText(reference, parts)
  return [
    ['message', String(trace.id)],
    ['account', String(trace.account)],
    ['number', trace.number === erasedNumber ? `${trace.number} (erased)` : trace.number],
    ...(trace.from === undefined ? [] : [['from', trace.from] as const]),
    ['text', `${size}; the text itself is not shown`],
    ...(trace.confirmation ? [['purpose', 'it confirms an opt-out'] as const] : []),
    ['due', trace.scheduled === undefined ? 'at once' : timeText(trace.scheduled)],
    ...(trace.route === undefined ? [] : [['route', routeText(trace.route)] as const]),
    ['price', `${formatCredits(trace.cost)} credits, ${isRefunded(trace) ? 'refunded' : 'charged'}`],
    ['attempts', String(attemptsOf(trace))],
    ...(carrier === undefined ? [] : [['carrier', `${carrier}, ${name}`] as const]),
  ]
}

const idsText = (reference: string, parts: readonly TracedPart[]): string =>
  parts.length === 0
    ? `its id of the message: ${reference}`
    : `its ids of the parts: ${parts.map((part) => part.reference).join(', ')}`

const INCIDENT_WORDS: ReadonlyMap<string, string> = new Map([
  [INCIDENT.refusedForNow, 'the carrier refused it for now'],
  [INCIDENT.recovered, 'its dispatcher ended without telling what became of it: it may have been sent or not'],
  [INCIDENT.unknown, 'it was submitted, and the carrier did not answer whether it took it'],
  [INCIDENT.late, 'its dispatcher told later what became of it'],
  [INCIDENT.adopted, 'a receipt that fits no other message was taken for its own'],
])

const incidentText = (what: string, carrier: CarrierId | undefined): string =>
  what === INCIDENT.refusedForNow && carrier !== undefined
    ? `carrier ${carrier} refused it for now`
    : (INCIDENT_WORDS.get(what) ?? what)

const eventsOf = (trace: MessageTrace): readonly Event[] => [
  accepted(trace),
  ...trace.incidents.map(({ at, what, carrier }) => ({ at, text: incidentText(what, carrier) })),
  ...(trace.place.place === 'decided' ? outcomes(trace, trace.place) : []),
  ...refunds(trace),
  ...trace.receipts.map(kept),
]

function accepted({ accepted: at, send: { first, messages, debit } }: MessageTrace): Event {
  const of = messages === 1 ? '' : ` for the ${messages} messages of its send (ids ${first} to ${first + messages - 1})`
  return { at, text: `accepted; ${formatCredits(debit)} credits were debited${of}` }
}

/** Codes that the gateway gives to submitted messages. */
const OWN_CODES: ReadonlySet<number> = new Set([OUTCOME.sent, OUTCOME.unknown, OUTCOME.refused])

/** The stored outcome of the submission, and later changes by a receipt or a late answer. */
function outcomes(
  { incidents }: MessageTrace,
  { code, at, stored, carrier, refunded, parts }: DecidedLocation,
): readonly Event[] {
  if (carrier === undefined) return [{ at: stored, text: `ended without a carrier: ${outcomeText(code)}` }]
  const wasUnknown = incidents.some(({ what }) => what === INCIDENT.recovered || what === INCIDENT.unknown)
  const isPartly = code === OUTCOME.failed && at === stored
  const took = isPartly ? 'took some of its parts and refused the others' : 'took it'
  const handedOver = { at: stored, text: `carrier ${carrier} ${refunded ? 'refused it' : took}` }
  const first = wasUnknown ? [] : [handedOver]
  if (isPartly || parts.some((part) => part.at !== undefined)) return [...first, ...receiptsOf(parts)]
  if (!OWN_CODES.has(code)) return [...first, { at, text: `its receipt says: ${outcomeText(code)}` }]
  if (wasUnknown) {
    return code === OUTCOME.unknown ? [] : [{ at, text: `carrier ${carrier} had ${refunded ? 'refused' : 'taken'} it` }]
  }
  return code === OUTCOME.unknown ? [...first, { at, text: 'its receipt says that the carrier does not know' }] : first
}

const receiptsOf = (parts: readonly TracedPart[]): readonly Event[] =>
  parts.flatMap(({ code, at }, i) =>
    at === undefined
      ? []
      : [{ at, text: `the receipt of part ${i + 1} of ${parts.length} says: ${outcomeText(code)}` }],
  )

function refunds(trace: MessageTrace): readonly Event[] {
  const { own, others } = refundsOf(trace)
  const why = own?.code === undefined ? (own?.why ?? '') : `${outcomeMeaning(own.code)} (${own.code})`
  const amount = formatCredits(trace.cost)
  const isFree = trace.cost === 0
  const itself =
    own === undefined || isFree
      ? []
      : [{ at: own.at, text: `${amount} credits were refunded for this message: ${why}` }]
  return [...itself, ...others.map(refunded)]
}

function refunded({ code, messages, amount, first, last }: TracedRefund): Event {
  const of = messages === undefined ? 'other messages' : counted(messages, 'other message')
  const why = code === undefined ? ': by the operator' : `: ${outcomeMeaning(code)} (${code})`
  const since = first === last ? '' : `, the first of them ${timeText(first)}`
  return { at: last, text: `${formatCredits(amount)} credits were refunded for ${of} of its send${why}${since}` }
}

function kept({ at, carrier, reference, code, fits }: TracedReceipt): Event {
  const says = `a receipt of carrier ${carrier} for its id ${reference}: ${outcomeText(code)}`
  const decision = fits === 'own' ? 'to be applied' : 'kept, it may be of this message or of another to this number'
  return { at, text: `${says}; ${decision}` }
}
