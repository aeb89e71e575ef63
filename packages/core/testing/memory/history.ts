import { unknownSecondsMax, unreadReceiptBounds } from '@gateway/core/dispatch'
import type { DroppedHistory, History, MessageId } from '@gateway/core/messages'
import { daysBefore, secondsAfter, type Instant } from '@gateway/core/time'
import { isDropped, isKept } from '../contracts/specification/messages.ts'
import { isRepetition, laterContact } from '../contracts/specification/replies.ts'
import { atomic } from './atomic.ts'
import { dropBulkSends } from './bulk-sends.ts'
import type { LastContact, MessageRow, Send } from './rows.ts'
import { referenceKey, type MemoryStore } from './store.ts'
import { contactOf } from './inbox.ts'

const sendsMax = 1000
const idsOfBlock = 10_000

export const memoryHistory = (store: MemoryStore): History => ({
  drop: atomic((days, contactDays) => drop(store, days, contactDays)),
  skipIds: atomic((blocks) => {
    // Consumes the last skipped id as well, to learn its number.
    store.skip('message', blocks * idsOfBlock - 1)
    return (store.next('message') + 1) as MessageId
  }),
})

/** Drops old sends. Their cost stays in the ledger entries of their accounts. */
function drop(store: MemoryStore, days: number, contactDays: number): DroppedHistory {
  const since = daysBefore(store.clock.now(), days)
  const old = [...bySend(store)].filter(([send, rows]) =>
    isDropped(
      send,
      rows.map(({ decision }) => decision),
      since,
    ),
  )
  const rows = old.slice(0, sendsMax).flatMap(([, ofSend]) => ofSend)
  for (const row of rows) forget(store, row)
  store.inboundMessages.splice(0, Infinity, ...store.inboundMessages.filter(({ at }) => at >= since))
  const now = store.clock.now()
  for (const [key, { at }] of store.clientRequests) if (!isKept(at, now)) store.clientRequests.delete(key)
  for (const seen of [store.deduplicationKeys, store.joinedParts]) {
    for (const [key, at] of seen) if (!isRepetition(at, now)) seen.delete(key)
  }
  const unreadSince = daysBefore(now, unreadReceiptBounds.days)
  store.unreadReceipts = store.unreadReceipts.filter(({ at }) => at >= unreadSince)
  const unknownSince = secondsAfter(now, -unknownSecondsMax)
  for (const [key, { at }] of store.unknownReferences) if (at < unknownSince) store.unknownReferences.delete(key)
  store.loginFailures.splice(0, Infinity, ...store.loginFailures.filter(({ until }) => until > now))
  forgetContacts(store, daysBefore(store.clock.now(), contactDays))
  for (const [id, { at, state }] of store.smppParts) if (at < since && state !== 'waiting') store.smppParts.delete(id)
  dropBulkSends(store, since)
  const sends = Math.min(old.length, sendsMax)
  return { partitions: 0, sends, messages: rows.length, progress: old.length > sends ? 'more' : 'all' }
}

function bySend(store: MemoryStore): ReadonlyMap<Send, readonly MessageRow[]> {
  const sends = new Map<Send, MessageRow[]>()
  for (const row of store.messages.values()) {
    const rows = sends.get(row.send)
    if (rows === undefined) sends.set(row.send, [row])
    else rows.push(row)
  }
  return sends
}

function forget(store: MemoryStore, row: MessageRow): void {
  rememberContact(store, row)
  const { carrier, reference, parts = [] } = row.decision ?? {}
  store.messages.delete(row.id)
  store.incidents.delete(row.id)
  if (carrier === undefined || reference === undefined) return
  for (const one of [reference, ...parts.map((part) => part.reference)]) {
    const key = referenceKey(carrier, one)
    if (store.references.get(key) === row) store.references.delete(key)
  }
}

function rememberContact(store: MemoryStore, row: MessageRow): void {
  const contact = contactOf(row)
  if (contact === undefined) return
  const contacts = store.lastContacts.get(row.number) ?? new Map<LastContact['from'], LastContact>()
  store.lastContacts.set(row.number, contacts)
  const before = contacts.get(contact.from)
  if (before === undefined || laterContact(contact, before) < 0) contacts.set(contact.from, contact)
}

function forgetContacts(store: MemoryStore, since: Instant): void {
  for (const contacts of store.lastContacts.values()) {
    for (const [from, { at }] of contacts) if (at < since) contacts.delete(from)
  }
}
