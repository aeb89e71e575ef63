import type { Database } from './database.ts'
import type { Figures } from './figures.ts'
import { optOutText } from './observations.ts'
import type { Received } from './receiver.ts'
import type { State, StoredArrival } from './state.ts'

export interface EventsJudged {
  readonly database: Database
  readonly figures: Figures
  readonly state: State
  readonly received: readonly Received[]
  /** Messages that were submitted to a carrier. */
  readonly submitted: ReadonlySet<number>
}

const waiting = `select webhook_id, type, sequence, unnest(subjects) subject from webhook_event`
const inLists = `select webhook_id, type, sequence, subject
  from webhook_list
  cross join lateral json_to_recordset(events) stored (type int, sequence int, subjects bigint[])
  cross join lateral unnest(subjects) subject
  where state = 0`

/**
 * Returns the events that are still to be pushed, as `<account> <id>`. Such events remain, because the third attempt is
 * minutes after the second.
 */
async function openEvents(database: Database): Promise<ReadonlySet<string>> {
  const rows = await database.ask<{ account: number; type: number; sequence: number; subject: string }>(
    `select account_id account, type, sequence, subject
from (${waiting} union all ${inLists}) open join webhook on webhook.id = open.webhook_id`,
  )
  return new Set(rows.map(({ account, type, sequence, subject }) => `${account} ${idOf(type, sequence, subject)}`))
}

/** Returns the id of an event by the code of its type. */
function idOf(type: number, sequence: number, subject: string): string {
  if (type <= 3) return `message-${subject}-${sequence}`
  if (type <= 5) return `inbound-${subject}`
  return `optout-${type === 6 ? 'added' : 'removed'}-${subject}`
}

/**
 * P-11: every event was pushed and answered with 200 or is still to be pushed. No event was pushed that did not happen.
 */
export async function judgeEvents(judged: EventsJudged): Promise<void> {
  const { database, figures, received } = judged
  const open = await openEvents(database)
  const moments = await momentsOf(database)
  figures.count('events yet to be pushed when all was over', open.size)
  for (const one of received) {
    const { account, acknowledged: received, pushed, listsOf, replayed } = one
    figures.count('events received', received.size)
    for (const oneOf of expectedOf(judged, account)) {
      const isThere = oneOf.some((id) => received.has(id) || open.has(`${account} ${id}`))
      // An event that was pushed once had been stored, whether the push was answered or not.
      const isKnown = oneOf.some((id) => pushed.has(id))
      if (!isThere && !isKnown && oneOf.some((id) => wasDisabled(one, moments.get(subjectOf(id))))) {
        figures.count('events of what happened while a webhook was disabled')
      } else if (!isThere) figures.broken('P-11', `account ${account} never got ${oneOf.join(' or ')}`)
    }
    for (const [id, times] of replayed) {
      figures.count('events replayed', times)
      if ((listsOf.get(id)?.size ?? 0) < 1 + times && !open.has(`${account} ${id}`))
        figures.broken('P-11', `account ${account} never got ${id} again, which was replayed ${times} times`)
    }
    const possible = possibleOf(judged, account)
    for (const event of pushed.values()) {
      figures.count(`events received: ${event.type}`)
      const content: Readonly<Record<string, unknown>> = { ...event.data, type: event.type }
      const wrong = Object.entries(possible.get(event.id) ?? { id: 'of nothing' }).filter(
        ([name, value]) => content[name] !== value,
      )
      if (wrong.length > 0) {
        figures.broken(
          'P-11',
          `account ${account} got what did not happen, ${JSON.stringify(wrong)}: ${JSON.stringify(event)}`,
        )
      }
    }
  }
}

/**
 * Time of the latest occurrence that an event reports. `isLate` is true if the occurrence was stored later than it
 * happened.
 */
interface Moment {
  readonly at: number
  readonly isLate: boolean
  /** Maximum milliseconds from the beginning of the transaction that stores the event until it reads the endpoints. */
  readonly before: number
}

const momentsIn = (kind: string, at: string, isLate: string, table: string): string =>
  `select '${kind}-' || id as subject, extract(epoch from ${at}) * 1000 as at, ${isLate} as late from ${table}`

async function momentsOf(database: Database): Promise<ReadonlyMap<string, Moment>> {
  const wasLate = `coalesce(code_at < sent_at, false) or exists (select from incident where message_id = message.id)`
  const rows = await database.ask<{ subject: string; at: string; late: boolean }>(
    `${momentsIn('message', 'coalesce(code_at, sent_at)', wasLate, 'message')} union all ${momentsIn('inbound', 'at', 'false', 'inbound_message')}`,
  )
  // An inbound message is stored in a transaction of several statements, each of which may be delayed by a stalled
  // network.
  const beforeOf = (subject: string): number => (subject.startsWith('inbound') ? 10_000 : 1000)
  return new Map(
    rows.map(({ subject, at, late }) => [subject, { at: Number(at), isLate: late, before: beforeOf(subject) }]),
  )
}

const subjectOf = (id: string): string =>
  id
    .replace(/^optout-added/, 'inbound')
    .split('-')
    .slice(0, 2)
    .join('-')

/** Returns true if the endpoint was disabled at that moment, so that it got no event. */
function wasDisabled({ absences }: Received, moment: Moment | undefined): boolean {
  if (moment === undefined) return false
  const { at, isLate, before } = moment
  return absences.some(({ from, to }) => at <= to && (isLate || at >= from - before))
}

function* expectedOf({ state }: EventsJudged, account: number): Generator<readonly string[]> {
  for (const { id, code } of messagesOf(state, account)) {
    if (code === 106) yield [`message-${id}-1`, `message-${id}-3`]
    else yield [`message-${id}-${code === 100 ? 2 : 4}`]
  }
  for (const arrival of arrivalsOf(state, account)) yield [`inbound-${arrival.id}`]
  for (const arrival of arrivalsOf(state, account).filter(optsOut)) yield [`optout-added-${arrival.id}`]
}

const messagesOf = ({ sends, messages }: State, account: number) =>
  sends
    .filter((send) => send.account === account && !send.confirms)
    .flatMap(({ first, n, numbers }) =>
      Array.from({ length: n }, (_, i) => ({ ...messages.get(first + i), number: numbers[i] })),
    )
    .flatMap(({ id, code, number }) => (id === undefined || code === undefined ? [] : { id, code, number }))

const arrivalsOf = ({ arrivals }: State, account: number): readonly StoredArrival[] =>
  arrivals.filter((arrival) => arrival.account === account)

/** Returns true if the text opts out. Each opt-out comes from a different number. */
const optsOut = ({ text }: StoredArrival): boolean => text.startsWith(optOutText)

/**
 * Returns the possible events of an account: by id, the fields that the event must have. Includes the events of the
 * states unknown and sent, through which a message may have passed.
 */
function possibleOf({ state, submitted }: EventsJudged, account: number): ReadonlyMap<string, object> {
  const possible = new Map<string, object>()
  for (const { id, code, number } of messagesOf(state, account)) {
    const fields = { apiMessageId: id, mobileNumber: number }
    for (const sequence of [1, 3]) {
      possible.set(`message-${id}-${sequence}`, { type: 'message.unknown', ...fields, statusCode: 106 })
    }
    if (submitted.has(id)) possible.set(`message-${id}-2`, { type: 'message.sent', ...fields, statusCode: 100 })
    if (code === 100 || code === 106) continue
    const type = code === 0 ? 'message.delivered' : 'message.failed'
    possible.set(`message-${id}-4`, { type, ...fields, statusCode: code })
  }
  for (const arrival of arrivalsOf(state, account)) {
    const fields = { incomingApiMessageId: arrival.id, mobileNumber: arrival.from, messageText: arrival.text }
    possible.set(`inbound-${arrival.id}`, { type: arrival.toCode ? 'shortcode.received' : 'reply.received', ...fields })
    if (optsOut(arrival)) possible.set(`optout-added-${arrival.id}`, { type: 'optout.added', ...fields })
  }
  return possible
}
