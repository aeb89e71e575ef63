import {
  INCIDENT,
  isFinal,
  secondsAfter,
  type Instant,
  type DeliveryReceipt,
  type DeliveryReceipts,
} from '@gateway/core'
import { atomic } from './atomic.ts'
import { note } from './incidents.ts'
import type { KeptReceipt, MessageRow } from './rows.ts'
import { referenceKey, type MemoryStore } from './store.ts'

const keptSeconds = 3 * 86_400
const submittedEarlierSeconds = 5 * 60
const submittedLaterSeconds = 60 * 60

export const memoryDeliveryReceipts = (store: MemoryStore): DeliveryReceipts => ({
  apply: atomic((receipts) => {
    const at = store.clock.now()
    for (const receipt of receipts) {
      const key = referenceKey(receipt.carrier, receipt.reference)
      const row = store.references.get(key)
      if (row !== undefined) tell(row, receipt, at)
      else keep(store, key, { receipt, at })
    }
  }),
  match: atomic((receiptsMax) => match(store, receiptsMax)),
  adopt: atomic((ageSeconds) => adopt(store, ageSeconds)),
})

function keep(store: MemoryStore, key: string, kept: KeptReceipt): void {
  const list = store.receipts.get(key)
  if (list === undefined) store.receipts.set(key, [kept])
  else list.push(kept)
}

/** What a receipt says of a message counts while that may still change. */
function tell(row: MessageRow, { code }: DeliveryReceipt, at: Instant): void {
  const { decision } = row
  if (decision === undefined || isFinal(decision.code) || decision.code === code) return
  row.decision = { ...decision, code, at }
}

function match(store: MemoryStore, receiptsMax: number): number {
  const oldest = secondsAfter(store.clock.now(), -keptSeconds)
  let room = receiptsMax
  let found = 0
  for (const [key, kept] of [...store.receipts]) {
    if (room <= 0) break
    const row = store.references.get(key)
    const tried = kept.slice(0, room)
    room -= tried.length
    if (row !== undefined) {
      found += tried.length
      for (const { receipt, at } of tried) tell(row, receipt, at)
    }
    const rest = row === undefined ? kept.filter(({ at }) => at >= oldest) : kept.slice(tried.length)
    store.receipts.delete(key)
    if (rest.length > 0) store.receipts.set(key, rest) // behind all others: each has its turn
  }
  return found
}

function adopt(store: MemoryStore, ageSeconds: number): number {
  const youngest = secondsAfter(store.clock.now(), -ageSeconds)
  const fits = fittingPairs(store)
  const perReceipt = groupBy(fits, ({ kept }) => kept)
  const perMessage = groupBy(fits, ({ row }) => row)
  const adopted = fits.filter(
    ({ kept, row }) =>
      perReceipt.get(kept)?.length === 1 &&
      perMessage.get(row)?.length === 1 &&
      kept.at <= youngest &&
      !mayBeInFlight(store, kept.receipt),
  )
  for (const { kept, row } of adopted) {
    if (row.decision === undefined) continue
    row.decision = { ...row.decision, reference: kept.receipt.reference }
    note(store, row.id, INCIDENT.adopted)
    store.unknown.delete(row)
    store.references.set(referenceKey(kept.receipt.carrier, kept.receipt.reference), row)
  }
  return adopted.length
}

interface Fit {
  readonly kept: KeptReceipt
  readonly row: MessageRow
}

/** By carrier, number and time. Of the receipts of one reference the first that tells the number stands for all. */
function fittingPairs(store: MemoryStore): readonly Fit[] {
  const byNumber = groupBy([...store.unknown], ({ number }) => number)
  return [...store.receipts].flatMap(([key, list]) => {
    const kept = list.find(({ receipt }) => receipt.number !== undefined)
    if (kept?.receipt.number === undefined || store.references.has(key)) return []
    const rows = byNumber.get(kept.receipt.number) ?? []
    return rows.filter((row) => fits(row, kept)).map((row) => ({ kept, row }))
  })
}

function fits({ decision }: MessageRow, { receipt, at }: KeptReceipt): boolean {
  if (decision === undefined || decision.carrier !== receipt.carrier) return false
  if (receipt.submitted === undefined) return decision.left <= at
  return (
    decision.left > secondsAfter(receipt.submitted, -submittedEarlierSeconds) &&
    decision.left < secondsAfter(receipt.submitted, submittedLaterSeconds)
  )
}

/** Whether a message that may have left, and is not recorded, goes to the number of this receipt. */
const mayBeInFlight = (store: MemoryStore, { carrier, number }: DeliveryReceipt): boolean =>
  [...store.dispatchers.values()]
    .flatMap(({ batches }) => [...batches.values()])
    .some(
      (batch) =>
        batch.carrier === carrier &&
        [...batch.held.values()].some(({ row, position }) => row.number === number && position <= batch.marked),
    )

function groupBy<T, K>(items: readonly T[], key: (item: T) => K): ReadonlyMap<K, readonly T[]> {
  const groups = new Map<K, T[]>()
  for (const item of items) {
    const group = groups.get(key(item))
    if (group === undefined) groups.set(key(item), [item])
    else group.push(item)
  }
  return groups
}
