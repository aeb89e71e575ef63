import {
  adoptions,
  changesState,
  countingReceipt,
  daysBefore,
  INCIDENT,
  isForNumber,
  isOwnReceipt,
  isRecentFor,
  isUnresolved,
  receiptMatching,
  secondsAfter,
  type CarrierId,
  type DeliveryReceipt,
  type DeliveryReceiptCode,
  type DeliveryReceipts,
  type Instant,
  type KeptDeliveryReceipt,
  type Msisdn,
} from '@gateway/core'
import { atomic } from './atomic.ts'
import { note } from './incidents.ts'
import { mayHaveLeft } from './release.ts'
import type { MessageRow } from './rows.ts'
import { storeMessageEvent } from './store-events.ts'
import { referenceKey, type MemoryStore } from './store.ts'

export const memoryDeliveryReceipts = (store: MemoryStore): DeliveryReceipts => ({
  apply: atomic((receipts) => {
    const at = store.clock.now()
    const counting = new Map<string, DeliveryReceipt>()
    const strangers = new Map<string, DeliveryReceipt>()
    const unknown: DeliveryReceipt[] = []
    for (const receipt of receipts) {
      const { carrier, reference, number } = receipt
      const key = referenceKey(carrier, reference)
      const row = store.references.get(key)
      if (row?.decision !== undefined && isRecentFor(row.decision.left, at) && isForNumber(receipt, row.number)) {
        counting.set(key, countingReceipt(counting.get(key), receipt))
      } else {
        unknown.push(receipt)
        strangers.set(`${key} ${number ?? ''}`, countingReceipt(strangers.get(`${key} ${number ?? ''}`), receipt))
      }
    }
    for (const receipt of strangers.values()) {
      if (receipt.isGuess !== true) keep(store, referenceKey(receipt.carrier, receipt.reference), { receipt, at })
    }
    for (const [key, { code }] of counting) {
      const row = store.references.get(key)
      if (row !== undefined) tell(store, row, { code, at })
    }
    return unknown
  }),
  match: atomic((receiptsMax) => match(store, receiptsMax)),
  adopt: atomic((ageSeconds) => adopt(store, ageSeconds)),
})

function keep(store: MemoryStore, key: string, kept: KeptDeliveryReceipt): void {
  const list = store.receipts.get(key)
  if (list === undefined) store.receipts.set(key, [kept])
  else list.push(kept)
}

interface Told {
  readonly code: DeliveryReceiptCode
  readonly at: Instant
}

function tell(store: MemoryStore, row: MessageRow, { code, at }: Told): void {
  const { decision } = row
  if (decision === undefined || !changesState(decision.code, code)) return
  row.decision = { ...decision, code, at }
  storeMessageEvent(store, row, 'receipt')
}

function match(store: MemoryStore, receiptsMax: number): number {
  const now = store.clock.now()
  const oldest = daysBefore(now, receiptMatching.keptDays)
  let room = receiptsMax
  let found = 0
  for (const [key, kept] of [...store.receipts]) {
    if (room <= 0) break
    const row = store.references.get(key)
    const tried = kept.slice(0, room)
    room -= tried.length
    const left = row?.decision?.left
    const isOwn = ({ receipt, at }: KeptDeliveryReceipt): boolean =>
      row !== undefined && left !== undefined && isForNumber(receipt, row.number) && isOwnReceipt(left, at, now)
    const own = tried.filter(isOwn)
    found += own.length
    const counting = own.reduce<Told | undefined>(
      (before, { receipt: { code }, at }) => countingReceipt(before, { code, at }),
      undefined,
    )
    if (row !== undefined && counting !== undefined) tell(store, row, counting)
    const rest = kept.filter((one) => !own.includes(one) && (one.at >= oldest || !tried.includes(one)))
    store.receipts.delete(key)
    if (rest.length > 0) store.receipts.set(key, rest) // behind all others: each has its turn
  }
  return found
}

function adopt(store: MemoryStore, ageSeconds: number): number {
  const youngest = secondsAfter(store.clock.now(), -ageSeconds)
  const kept = [...store.receipts].flatMap(([key, list]) => {
    const left = store.references.get(key)?.decision?.left
    return list.filter(({ at }) => left === undefined || !isRecentFor(left, at))
  })
  const unknown = [...store.messages.values()].flatMap((row) => {
    const { number, decision } = row
    if (decision?.carrier === undefined || !isUnresolved(decision)) return []
    return { row, carrier: decision.carrier, number, left: decision.left }
  })
  const adopted = adoptions(kept, unknown, (carrier, number) => mayBeInFlight(store, carrier, number), youngest)
  for (const { message, reference } of adopted) {
    const { row, carrier } = message
    if (row.decision === undefined) continue
    row.decision = { ...row.decision, reference }
    note(store, row.id, INCIDENT.adopted)
    store.references.set(referenceKey(carrier, reference), row)
  }
  return adopted.length
}

/** Whether a message that may have left, and is not recorded, goes to this number. */
const mayBeInFlight = (store: MemoryStore, carrier: CarrierId, number: Msisdn): boolean =>
  [...store.dispatchers.values()]
    .flatMap(({ batches }) => [...batches.values()])
    .some(
      (batch) =>
        batch.carrier === carrier &&
        [...batch.held.values()].some((one) => one.row.number === number && mayHaveLeft(one, batch)),
    )
