import { formatCredits } from '@gateway/core/credits'
import {
  INCIDENT,
  refundsOf,
  tracedCredits,
  OUTCOME,
  type CarrierPriceSum,
  type DecidedLocation,
  type Incident,
  type MessageTrace,
  type TracedPart,
  type TracedReceipt,
  type TracedRefund,
  type Waiting,
  type ClaimedLocation,
  type MessageLocation,
  type WaitingReason,
  type TracedRoute,
} from '@gateway/core/messages'
import { erasedNumber } from '@gateway/core/personal-data'
import { overflowOf, type OverflowAfter } from '@gateway/core/routes'
import type { Instant } from '@gateway/core/time'
import { incidentText } from '@gateway/wire'
import { printable } from '../output.ts'
import { bindText } from './bind-text.ts'
import { outcomeMeaning, outcomeText, counted, timeText, durationText } from '../show.ts'

interface Event {
  readonly at: Instant
  readonly text: string
}

/** Formats the trace for people: the facts, the present location of the message, and its history in order of time. */
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
  const { priority, flash, category } = trace.options
  const encoding = text.encoding === 'gsm-7' ? 'GSM 7-bit' : 'UCS-2'
  const size = `${counted(text.characters, 'character')}, ${encoding}, ${counted(text.parts, 'part')}`
  const carrier = place.place === 'decided' ? place.carrier : undefined
  const reference = place.place === 'decided' ? place.reference : undefined
  const parts = place.place === 'decided' ? place.parts : []
  const priced = place.place === 'decided' ? place.carrierPrice : undefined
  const name = reference === undefined ? 'its id of the message is not known' : idsText(reference, parts)
  return [
    ['message', String(trace.id)],
    ['account', String(trace.account)],
    ['number', trace.number === erasedNumber ? `${trace.number} (erased)` : trace.number],
    ...(trace.from === undefined ? [] : [['from', trace.from] as const]),
    ...(trace.reference === undefined ? [] : [['called', trace.reference] as const]),
    ...(category === undefined ? [] : [['category', category] as const]),
    ...(trace.bind === undefined ? [] : [['bind', bindText(trace.bind)] as const]),
    ['text', `${size}; the text itself is not shown`],
    ...(trace.confirmation ? [['purpose', 'it confirms an opt-out'] as const] : []),
    ['due', trace.scheduled === undefined ? 'at once' : timeText(trace.scheduled)],
    ...(trace.expires === undefined ? [] : [['expires', `${timeText(trace.expires)}, if it waits still`] as const]),
    ...(priority === undefined
      ? []
      : [['priority', `${priority}, among the waiting messages of its account`] as const]),
    ...(flash === true ? [['flash', 'shown at once, not kept by the phone'] as const] : []),
    ...(trace.route === undefined ? [] : [['route', routeText(trace.route)] as const]),
    ['credits', creditsText(trace)],
    ...(priced === undefined ? [] : [['price', `${priced.amount} ${priced.currency}, of the carrier`] as const]),
    ...(trace.send.messages === 1 ? [] : trace.send.carrierPrices.map(sumText)),
    ['attempts', String(attemptsOf(trace))],
    ...(carrier === undefined ? [] : [['carrier', `${carrier}, ${name}`] as const]),
  ]
}

/** Formats a sum of the prices that carriers named for the messages of the send. */
const sumText = ({ amount, currency, messages }: CarrierPriceSum): readonly [string, string] => [
  'prices',
  `${amount} ${currency}, of the carriers for ${counted(messages, 'message')} of the send`,
]

/** Formats the credits of a message in the words of the portal: charged, returned, net. */
const creditsText = (trace: MessageTrace): string => {
  const { charged, returned, net } = tracedCredits(trace)
  const rest = returned === 0 ? '' : `, ${formatCredits(returned)} returned, net ${formatCredits(net)}`
  return `${formatCredits(charged)} charged${rest}`
}

const idsText = (reference: string, parts: readonly TracedPart[]): string =>
  parts.length === 0
    ? `its id of the message: ${reference}`
    : `its ids of the parts: ${parts.map((part) => part.reference).join(', ')}`

const incidentEvent = ({ at, name: incident, carrier }: Incident): Event => ({
  at,
  text: `${incidentText(incident)}${carrier === undefined ? '' : ` (carrier ${carrier})`}`,
})

const eventsOf = (trace: MessageTrace): readonly Event[] => [
  accepted(trace),
  ...trace.incidents.map(incidentEvent),
  ...(trace.place.place === 'decided' ? outcomes(trace, trace.place) : []),
  ...refunds(trace),
  ...trace.receipts.map(receiptEvent),
]

function accepted({ accepted: at, send: { first, messages, debit } }: MessageTrace): Event {
  const of = messages === 1 ? '' : ` for the ${messages} messages of its send (ids ${first} to ${first + messages - 1})`
  return { at, text: `accepted; ${formatCredits(debit)} credits were charged${of}` }
}

/** Outcome codes of submitted messages that the gateway sets itself. All other codes come from receipts. */
const OWN_CODES: ReadonlySet<number> = new Set([OUTCOME.sent, OUTCOME.unknown, OUTCOME.refused])

/** Incidents that left the outcome of a message unknown. */
const unknownBy: ReadonlySet<string> = new Set([
  INCIDENT.recovered,
  INCIDENT.unknown,
  INCIDENT.endedInDoubt,
  INCIDENT.provedSubmitted,
])

/** Returns the events after the submission: its stored outcome, and later changes by a receipt or a late answer. */
function outcomes(
  { incidents, refundByHand }: MessageTrace,
  { code, at, stored, carrier, refunded, reference, parts }: DecidedLocation,
): readonly Event[] {
  if (carrier === undefined) return [{ at: stored, text: `ended without a carrier: ${outcomeText(code)}` }]
  const wasUnknown = incidents.some(({ name: incident }) => unknownBy.has(incident))
  const isPartly = code === OUTCOME.failed && at === stored
  // Credits of refused messages are returned automatically, so credits that an operator returned do not show a refusal.
  // A message with a reference was accepted, and its receipt reported an opt-out.
  const isRefused = refunded && refundByHand === undefined && reference === undefined
  const took = isPartly ? 'took some of its parts and refused the others' : 'took it'
  const handedOver = { at: stored, text: `carrier ${carrier} ${isRefused ? 'refused it' : took}` }
  const first = wasUnknown ? [] : [handedOver]
  if (isPartly || parts.some((part) => part.at !== undefined)) return [...first, ...receiptsOf(parts)]
  if (code === OUTCOME.optedOut && reference === undefined) {
    const refusal = `carrier ${carrier} refused it: the number has opted out there`
    return [{ at, text: refusal }]
  }
  if (!OWN_CODES.has(code)) return [...first, { at, text: `its receipt says: ${outcomeText(code)}` }]
  if (wasUnknown) {
    return code === OUTCOME.unknown
      ? []
      : [{ at, text: `carrier ${carrier} had ${isRefused ? 'refused' : 'taken'} it` }]
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
      : [{ at: own.at, text: `${amount} credits were returned for this message: ${why}` }]
  return [...itself, ...others.map(refunded)]
}

function refunded({ code, messages, amount, first, last }: TracedRefund): Event {
  const of = messages === undefined ? 'other messages' : counted(messages, 'other message')
  const why = code === undefined ? ': by the operator' : `: ${outcomeMeaning(code)} (${code})`
  const since = first === last ? '' : `, the first of them ${timeText(first)}`
  return { at: last, text: `${formatCredits(amount)} credits were returned for ${of} of its send${why}${since}` }
}

const KEPT_WORDS: Readonly<Record<TracedReceipt['fits'], string>> = {
  own: 'to be applied',
  'same-number': 'kept, it may be of this message or of another to this number',
  'other-number': 'kept, it names another number and is not applied to this message',
}

function receiptEvent({ at, carrier, reference, code, fits }: TracedReceipt): Event {
  const says = `a receipt of carrier ${carrier} for its id ${reference}: ${outcomeText(code)}`
  return { at, text: `${says}; ${KEPT_WORDS[fits]}` }
}

/** Returns sentences that say where the message is and what that means for it. */
export function locationText(trace: MessageTrace, now: Instant, waiting: Waiting | undefined): string {
  const { place } = trace
  switch (place.place) {
    case 'scheduled':
      return `It waits for its time, ${timeText(place.due)}, and can still be deleted.`
    case 'postponed':
      return `The carrier has refused it for now, ${counted(place.attempt, 'time')} so far. It waits for another try, until ${timeText(place.until)}.`
    case 'queue':
      return `It waits in the queue, ${place.lane} lane, due since ${timeText(place.due)} (${durationText(now - place.due)}).${tried(place)}${waiting === undefined ? '' : ` ${whyText(waiting)}`}`
    case 'in-doubt':
      return `It is in doubt, due since ${timeText(place.due)}: a standby was promoted that may lack what the lost database server did last, and that server may have had it submitted. It waits until an operator decides: see gateway failover status.`
    case 'claimed':
      return claimed(place)
    case 'decided':
      return [`It is ${outcomeText(place.code)} since ${timeText(place.at)}.`, ...doubts(trace, place)].join(' ')
    case 'nowhere':
      return 'It waits nowhere, no dispatcher has it, and it has no outcome. This is a defect of the gateway: please report it.'
  }
}

const WHY: Readonly<Record<WaitingReason, (carriers: string) => string>> = {
  'not-due': () => 'It is not due.',
  'in-doubt': () => 'It is in doubt: see gateway failover status.',
  'refused-for-now': () => 'It waits for another try.',
  'no-dispatcher': () => 'No dispatcher has been heard of lately: nothing is sent.',
  'route-withdrawn': () => 'Its route is not published any more; it is moved to another one soon.',
  'no-carrier': (carriers) => `No dispatcher works with ${carriers}, which its route names.`,
  held: (carriers) => `${carriers} paused or drained by an operator: see gateway carrier list.`,
  'not-bound': (carriers) => `${carriers} not bound: see gateway carrier list.`,
  'circuit-open': (carriers) => `${carriers} tried with single messages: see gateway carrier show.`,
  throttled: (carriers) => `${carriers} throttled: the carrier said that it gets too much.`,
  'window-full': (carriers) => `${carriers} taken up: all of the window waits for answers.`,
  'in-turn': () => 'A carrier can take it: others are before it.',
}

const whyText = ({ reason, carriers }: Waiting): string => {
  const names = carriers.join(', ')
  const areOrIs = carriers.length === 1 ? `Carrier ${names} is` : `All of the carriers ${names} are`
  return WHY[reason](reason === 'no-carrier' ? names : areOrIs)
}

const tried = ({ attempt }: Extract<MessageLocation, { place: 'queue' }>): string =>
  attempt === 0 ? '' : ` The carrier has refused it for now, ${counted(attempt, 'time')} so far.`

function claimed({ dispatcher, carrier, marked, leaseUntil, overdue }: ClaimedLocation): string {
  const has = marked
    ? 'It is marked: it may have been submitted, and the answer is not stored yet.'
    : 'It is not marked: it has not been submitted.'
  const decision = marked ? 'call its outcome unknown (SENT 106)' : 'give it back to the queue'
  const lease = overdue
    ? `The lease of this dispatcher was over at ${timeText(leaseUntil)}: unless it comes back at once, recovery will ${decision}.`
    : `The lease of this dispatcher lasts until ${timeText(leaseUntil)}.`
  return `Dispatcher ${dispatcher} has claimed it for carrier ${carrier}. ${has} ${lease}`
}

/** Returns sentences that explain what an unknown outcome means for the message. */
function doubts(
  { incidents, refundByHand }: MessageTrace,
  { code, reference, at, stored }: DecidedLocation,
): readonly string[] {
  if (code !== OUTCOME.unknown) return []
  const was = (incidentName: string) => incidents.some((incident) => incident.name === incidentName)
  if (reference !== undefined) {
    return was(INCIDENT.adopted) && at === stored
      ? ['A receipt that fits no other message is taken for its own, and will be applied.']
      : ['The carrier itself says that it does not know.']
  }
  const why = was(INCIDENT.endedInDoubt)
    ? 'a database server was lost that may have had it submitted, and it ended in doubt'
    : was(INCIDENT.recovered)
      ? 'its dispatcher ended, or was cut off, before an answer was stored'
      : 'the carrier did not give an answer that tells'
  return [
    `Nobody knows whether the carrier took it: ${why}. It may have reached its recipient or not.`,
    `It is not sent again${refundByHand === undefined ? ', and stays charged' : ''}. A receipt or a late answer may still settle it.`,
  ]
}

/** Returns the chosen route and the reason for it, with its carriers in the order in which they are tried. */
export function routeText(route: TracedRoute): string {
  const { name, place, carriers } = route
  const where = place === undefined ? 'not published any more' : `number ${place} of those that are tried`
  const tried = carriers
    .toSorted((a, b) => a.priority - b.priority)
    .map(({ carrier, priority, weight }) => `${carrier} (priority ${priority}, weight ${weight})`)
  return `${name}, ${where}, for ${conditionsOf(route)}; carriers: ${tried.join(', ')}${overflowText(route)}`
}

/**
 * Returns the delay after which messages go to carriers of the next priority because all carriers of this one are full.
 * Returns an empty text if there is only one priority.
 */
function overflowText({ carriers, overflow }: TracedRoute): string {
  if (new Set(carriers.map(({ priority }) => priority)).size < 2) return ''
  const { single, bulk } = overflowOf({ ...(overflow && { overflow }) })
  const after = (seconds: OverflowAfter): string => (seconds === 'never' ? 'never' : `after ${seconds} s`)
  return `; when these are full, single sends go to the next priority ${after(single)}, bulk ${after(bulk)}`
}

function conditionsOf({ prefixes, accounts, senders }: TracedRoute): string {
  const conditions = [
    ...(prefixes.length > 0 ? [`numbers that begin with ${prefixes.join(' or ')}`] : []),
    ...(accounts.length > 0 ? [`account ${accounts.join(' or ')}`] : []),
    ...(senders.length > 0 ? [`sender address ${senders.join(' or ')}`] : []),
  ]
  return conditions.length === 0 ? 'every message' : conditions.join(' and ')
}

/** Returns the number of times that the message was, or may have been, handed to a carrier. */
export const attemptsOf = ({ refusedForNow, place }: MessageTrace): number => {
  const isOut =
    (place.place === 'claimed' && place.marked) || (place.place === 'decided' && place.carrier !== undefined)
  return refusedForNow + (isOut ? 1 : 0)
}

export const isRefunded = ({ place }: MessageTrace): boolean => place.place === 'decided' && place.refunded
