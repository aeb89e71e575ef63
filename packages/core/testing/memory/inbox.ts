import type { AccountId } from '@gateway/core/accounts'
import { credits } from '@gateway/core/credits'
import {
  addPart,
  deduplicationKeyOf,
  deduplicationKeyOfOffer,
  isPart,
  joinedPartKeyOf,
  joinedPartSeconds,
  joinParts,
  partGroupKeyOf,
  readInboundMessage,
  type InboundMessage,
  type InboundMessageId,
  type Inbox,
  type InboxPart,
  type Received,
  type ReceivedText,
  type Taking,
  type WaitingPart,
} from '@gateway/core/inbox'
import type { Body, Msisdn, SenderAddress } from '@gateway/core/messages'
import { secondsAfter, type Instant } from '@gateway/core/time'
import {
  confirmationAddress,
  isContact,
  isIn,
  isRepetition,
  replyOwner,
  type KnownAddress,
  type ReplyOwner,
} from '../contracts/specification/replies.ts'
import { atomic } from './atomic.ts'
import { memoryConversations, shown } from './conversations.ts'
import { outcomeOf } from './decide.ts'
import { storeText } from './messages.ts'
import type { InboundMessageRow, LastContact, MessageRow } from './rows.ts'
import { storeInboundEvent } from './store-events.ts'
import type { MemoryStore } from './store.ts'
import { addSuppression, removeSuppression, suppressionsOf } from './suppressions.ts'

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
      addJoined(store, key, { message, parts }, confirmation)
    }
    return old.length
  }),
  list: atomic((by, part, since, { offset, limit }) => {
    const rows = ofAccount(store, by, part, since)
    return { total: rows.length, items: rows.slice(offset, offset + limit).map(shown) }
  }),
  take: atomic((by, part, since, messagesMax) => {
    const taking = String(store.next('taking')) as Taking
    const rows = ofAccount(store, by, part, since).filter(({ taking: consumption }) => consumption === undefined)
    const consumed = rows.slice(0, messagesMax)
    for (const row of consumed) row.taking = taking
    return { taking, messages: consumed.map(shown) }
  }),
  offerAgain: atomic((by, taking) => {
    for (const row of store.inboundMessages) if (row.account === by && row.taking === taking) row.taking = undefined
  }),
  unowned: () => unowned(store),
  ...memoryConversations(store),
})

function receive(store: MemoryStore, message: InboundMessage, confirmation: Body): Received {
  if (isRepeated(store, message)) return 'repeated'
  if (!isPart(message)) {
    add(store, message, confirmation)
    return 'stored'
  }
  const key = partGroupKeyOf(message)
  const { number } = message.part
  if (isJoined(store, joinedPartKeyOf(key, { number, text: message.text }))) return 'repeated'
  const added = addPart(store.parts.get(key)?.parts ?? [], message.part, message.text)
  if (added.isRepeated) return 'repeated'
  const { over, complete, waiting } = added
  if (waiting.length === 0) store.parts.delete(key)
  else store.parts.set(key, { message, parts: waiting, last: store.clock.now() })
  for (const parts of [over, complete]) {
    if (parts !== undefined) addJoined(store, key, { message, parts }, confirmation)
  }
  return complete === undefined ? 'incomplete' : 'stored'
}

interface Joined {
  readonly message: InboundMessage
  readonly parts: readonly WaitingPart[]
}

function addJoined(store: MemoryStore, group: string, { message, parts }: Joined, confirmation: Body): void {
  for (const part of parts) store.joinedParts.set(joinedPartKeyOf(group, part), store.clock.now())
  add(store, { ...message, text: joinParts(parts) }, confirmation)
}

function isJoined({ joinedParts, clock }: MemoryStore, key: string): boolean {
  const at = joinedParts.get(key)
  return at !== undefined && clock.now() < secondsAfter(at, joinedPartSeconds)
}

/** Returns true if the message is a repetition, and remembers it for later ones. */
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
    taking: undefined,
  }
  store.inboundMessages.push(row)
  if (account === undefined) return
  countArrived(store, account, row.from)
  storeInboundEvent(store, account, row)
  followOptKeyword(store, received, { row, account, address, confirmation })
}

function countArrived({ conversations }: MemoryStore, account: AccountId, from: string): void {
  const ofAccountRow = conversations.get(account) ?? new Map<string, { arrived: number; read: number }>()
  conversations.set(account, ofAccountRow)
  const marks = ofAccountRow.get(from)
  if (marks === undefined) ofAccountRow.set(from, { arrived: 1, read: 0 })
  else marks.arrived += 1
}

const ofAccount = (store: MemoryStore, by: AccountId, part: InboxPart, since: Instant): readonly InboundMessageRow[] =>
  store.inboundMessages.filter((row) => row.account === by && row.at >= since && isIn(part, row))

// oxlint-disable-next-line typescript/require-await -- the port returns an async iterable
async function* unowned(store: MemoryStore) {
  for (const { account, id, carrier, from, to, at, text } of store.inboundMessages) {
    if (account === undefined) yield { id, carrier, from, to, at, text }
  }
}

/** Returns the account of an inbound message (ruling 1.18). */
export const whoseReply = (store: MemoryStore, { number, to }: ReceivedText): ReplyOwner =>
  number === undefined
    ? replyOwner(knownAddress(store, to), [], [])
    : replyOwner(knownAddress(store, to), sentTo(store, number), inFlightTo(store, number))

function knownAddress(store: MemoryStore, to: string | undefined): KnownAddress | undefined {
  const address = to as SenderAddress
  return store.addresses.has(address) ? { address, owner: store.codes.get(address) } : undefined
}

const sentTo = (store: MemoryStore, number: Msisdn): readonly LastContact[] => [
  ...[...store.messages.values()].flatMap((row) => (row.number === number ? (contactOf(row) ?? []) : [])),
  ...(store.lastContacts.get(number)?.values() ?? []),
]

/** Returns the contact of a message; undefined if no carrier has it, or if it confirms an opt-out. */
export function contactOf({ id, send, from, decision }: MessageRow): LastContact | undefined {
  if (decision === undefined || !isContact(outcomeOf(decision), send.confirmation)) return undefined
  return { account: send.account, id, from, at: decision.handedOver }
}

const inFlightTo = (store: MemoryStore, number: Msisdn): readonly LastContact[] =>
  [...store.dispatchers.values()]
    .flatMap(({ batches }) => [...batches.values()])
    .flatMap(({ messages, marked }) => [...messages.values()].filter(({ position }) => position <= marked))
    .filter(({ row }) => row.number === number && !row.send.confirmation)
    .map(({ row }) => ({ account: row.send.account, id: row.id, from: row.from, at: store.clock.now() }))

interface Followed {
  readonly row: InboundMessageRow
  readonly account: AccountId
  readonly address: SenderAddress | undefined
  readonly confirmation: Body
}

/**
 * Adds or removes an opt-out if the inbound message has a keyword for it, and sends a confirmation if one is due
 * (rulings 1.21, 1.22).
 */
export function followOptKeyword(store: MemoryStore, { number, keyword }: ReceivedText, followed: Followed): void {
  if (number === undefined || keyword === undefined) return
  const { row, account } = followed
  const key = { scope: account, number, kind: 'opt-out' } as const
  if (keyword === 'opt-in') {
    const { id: inbound, text, answers, at } = row
    removeSuppression(store, key, { inbound, text, answers, at })
    return
  }
  const reply = { id: row.id, text: row.text, answers: row.answers }
  const isNew = addSuppression(store, { ...key, since: row.at }, reply) === 'added'
  const from = confirmationAddress({
    isNew,
    accountLocked: store.accounts.get(account)?.account.locked ?? true,
    suppressions: suppressionsOf(store, account, number),
    address: followed.address,
  })
  if (from === undefined) return
  const text = { body: followed.confirmation, due: undefined, to: [{ number, cost: credits(0) }] }
  storeText(store, text, { account, from: () => from, routes: store.routes.published, confirmation: true })
}
