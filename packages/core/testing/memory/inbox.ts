import {
  isPart,
  joinParts,
  readArrival,
  samenessOf,
  secondsAfter,
  type AccountId,
  type Arrival,
  type ArrivalId,
  type Body,
  type Inbox,
  type InboxMessage,
  type InboxPart,
  type Instant,
  type Received,
  type Taking,
} from '@gateway/core'
import { atomic } from './atomic.ts'
import { followWish } from './follow-wish.ts'
import type { ArrivalRow } from './rows.ts'
import type { MemoryStore } from './store.ts'
import { whoseReply } from './whose-reply.ts'

const sameSeconds = 24 * 3600

export const memoryInbox = (store: MemoryStore): Inbox => ({
  receive: atomic((arrivals, confirmation) => arrivals.map((arrival) => receive(store, arrival, confirmation))),
  releaseParts: atomic((seconds, textsMax, confirmation) => {
    const before = secondsAfter(store.clock.now(), -seconds)
    const old = [...store.parts].filter(([, { last }]) => last < before).slice(0, textsMax)
    for (const [key] of old) storeParts(store, key, confirmation)
    return old.length
  }),
  list: atomic((by, part, since, { offset, limit }) => {
    const rows = ofAccount(store, by, part, since)
    return { total: rows.length, items: rows.slice(offset, offset + limit).map(shown) }
  }),
  take: atomic((by, part, since, messagesMax) => {
    const taking = String(store.next('taking')) as Taking
    const rows = ofAccount(store, by, part, since).filter(({ taken }) => taken === undefined)
    const taken = rows.slice(0, messagesMax)
    for (const row of taken) row.taken = taking
    return { taking, messages: taken.map(shown) }
  }),
  offerAgain: atomic((by, taking) => {
    for (const row of store.arrivals) if (row.account === by && row.taken === taking) row.taken = undefined
  }),
  unowned: () => unowned(store),
})

function receive(store: MemoryStore, arrival: Arrival, confirmation: Body): Received {
  if (isRepeated(store, arrival)) return 'repeated'
  if (!isPart(arrival)) {
    add(store, arrival, confirmation)
    return 'stored'
  }
  const { carrier, from, to, part } = arrival
  const key = JSON.stringify([carrier, from, to, part.group, part.of])
  // The sender uses the name of a group again: what waits under it is another text.
  if (store.parts.get(key)?.arrivals.some((other) => other.part?.number === part.number)) {
    storeParts(store, key, confirmation)
  }
  const arrivals = [...(store.parts.get(key)?.arrivals ?? []), arrival]
  store.parts.set(key, { arrivals, last: store.clock.now() })
  if (arrivals.length < part.of) return 'incomplete'
  storeParts(store, key, confirmation)
  return 'stored'
}

/** Notes it, so that the next one is. */
function isRepeated(store: MemoryStore, arrival: Arrival): boolean {
  const sameness = samenessOf(arrival)
  if (sameness === undefined) return false
  const key = JSON.stringify([arrival.carrier, sameness])
  const now = store.clock.now()
  const before = store.samenesses.get(key)
  if (before !== undefined && before > secondsAfter(now, -sameSeconds)) return true
  store.samenesses.set(key, now)
  return false
}

function storeParts(store: MemoryStore, key: string, confirmation: Body): void {
  const { arrivals = [] } = store.parts.get(key) ?? {}
  store.parts.delete(key)
  const [first] = arrivals
  if (first !== undefined) add(store, { ...first, text: joinParts(arrivals) }, confirmation)
}

function add(store: MemoryStore, arrival: Pick<Arrival, 'carrier' | 'from' | 'to' | 'text'>, confirmation: Body): void {
  const received = readArrival(arrival)
  const { account, answers, shortCode, address } = whoseReply(store, received)
  const row: ArrivalRow = {
    id: store.next('arrival') as ArrivalId,
    carrier: arrival.carrier,
    from: received.from,
    to: received.to,
    at: store.clock.now(),
    text: received.text,
    account,
    answers,
    shortCode,
    taken: undefined,
  }
  store.arrivals.push(row)
  if (account !== undefined) followWish(store, received, { row, account, address, confirmation })
}

const isIn = ({ shortCode }: ArrivalRow, part: InboxPart): boolean =>
  part === 'all' || (shortCode !== undefined) === (part === 'short-code')

const ofAccount = (store: MemoryStore, by: AccountId, part: InboxPart, since: Instant): readonly ArrivalRow[] =>
  store.arrivals.filter((row) => row.account === by && row.at >= since && isIn(row, part))

const shown = ({ id, from, at, text, answers, shortCode }: ArrivalRow): InboxMessage => ({
  id,
  from,
  at,
  text,
  answers,
  shortCode,
})

// eslint-disable-next-line @typescript-eslint/require-await -- async for those who wait for each, as they must elsewhere
async function* unowned(store: MemoryStore) {
  for (const { account, id, carrier, from, to, at, text } of store.arrivals) {
    if (account === undefined) yield { id, carrier, from, to, at, text }
  }
}
