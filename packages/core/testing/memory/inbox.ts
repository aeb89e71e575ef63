import {
  addPart,
  deduplicationKeyOf,
  deduplicationKeyOfOffer,
  isPart,
  joinParts,
  partGroupKeyOf,
  readInboundMessage,
  secondsAfter,
  type AccountId,
  type Body,
  type InboundMessage,
  type InboundMessageId,
  type Inbox,
  type InboxMessage,
  type InboxPart,
  type Instant,
  type Received,
  type Taking,
} from '@gateway/core'
import { isIn, isRepetition } from '../contracts/specification/replies.ts'
import { atomic } from './atomic.ts'
import { followOptKeyword } from './follow-opt-keyword.ts'
import type { InboundMessageRow } from './rows.ts'
import { storeInboundEvent } from './store-events.ts'
import type { MemoryStore } from './store.ts'
import { whoseReply } from './whose-reply.ts'

export const memoryInbox = (store: MemoryStore): Inbox => ({
  receive: atomic((messages, confirmation) => messages.map((message) => receive(store, message, confirmation))),
  endOffers: atomic((carrier, offers) => {
    for (const offer of offers)
      store.deduplicationKeys.delete(JSON.stringify([carrier, deduplicationKeyOfOffer(offer)]))
  }),
  releaseParts: atomic((seconds, textsMax, confirmation) => {
    const before = secondsAfter(store.clock.now(), -seconds)
    const old = [...store.parts].filter(([, { last }]) => last < before).slice(0, textsMax)
    for (const [key, { message, parts }] of old) {
      store.parts.delete(key)
      add(store, { ...message, text: joinParts(parts) }, confirmation)
    }
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
    for (const row of store.inboundMessages) if (row.account === by && row.taken === taking) row.taken = undefined
  }),
  unowned: () => unowned(store),
})

function receive(store: MemoryStore, message: InboundMessage, confirmation: Body): Received {
  if (isRepeated(store, message)) return 'repeated'
  if (!isPart(message)) {
    add(store, message, confirmation)
    return 'stored'
  }
  const key = partGroupKeyOf(message)
  const { over, complete, waiting } = addPart(store.parts.get(key)?.parts ?? [], message.part, message.text)
  if (waiting.length === 0) store.parts.delete(key)
  else store.parts.set(key, { message, parts: waiting, last: store.clock.now() })
  for (const parts of [over, complete]) {
    if (parts !== undefined) add(store, { ...message, text: joinParts(parts) }, confirmation)
  }
  return complete === undefined ? 'incomplete' : 'stored'
}

/** Notes it, so that the next one is. */
function isRepeated(store: MemoryStore, message: InboundMessage): boolean {
  const deduplicationKey = deduplicationKeyOf(message)
  if (deduplicationKey === undefined) return false
  const key = JSON.stringify([message.carrier, deduplicationKey])
  const now = store.clock.now()
  const before = store.deduplicationKeys.get(key)
  if (before !== undefined && isRepetition(before, now)) return true
  store.deduplicationKeys.set(key, now)
  return false
}

function add(
  store: MemoryStore,
  message: Pick<InboundMessage, 'carrier' | 'from' | 'to' | 'text'>,
  confirmation: Body,
): void {
  const received = readInboundMessage(message)
  const { account, answers, shortCode, address } = whoseReply(store, received)
  const row: InboundMessageRow = {
    id: store.next('inbound-message') as InboundMessageId,
    carrier: message.carrier,
    from: received.from,
    to: received.to,
    at: store.clock.now(),
    text: received.text,
    account,
    answers,
    shortCode,
    taken: undefined,
  }
  store.inboundMessages.push(row)
  if (account === undefined) return
  storeInboundEvent(store, account, row)
  followOptKeyword(store, received, { row, account, address, confirmation })
}

const ofAccount = (store: MemoryStore, by: AccountId, part: InboxPart, since: Instant): readonly InboundMessageRow[] =>
  store.inboundMessages.filter((row) => row.account === by && row.at >= since && isIn(part, row))

const shown = ({ id, from, at, text, answers, shortCode }: InboundMessageRow): InboxMessage => ({
  id,
  from,
  at,
  text,
  answers,
  shortCode,
})

// eslint-disable-next-line @typescript-eslint/require-await -- async for those who wait for each, as they must elsewhere
async function* unowned(store: MemoryStore) {
  for (const { account, id, carrier, from, to, at, text } of store.inboundMessages) {
    if (account === undefined) yield { id, carrier, from, to, at, text }
  }
}
