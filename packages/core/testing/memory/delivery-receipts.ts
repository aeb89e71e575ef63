import {
  countingReceipt,
  guessesApart,
  receiptMatching,
  type CarrierId,
  type DeliveryReceipt,
  type DeliveryReceipts,
} from '@gateway/core/dispatch'
import { INCIDENT, OUTCOME, type Msisdn } from '@gateway/core/messages'
import { daysBefore, secondsAfter, type Instant } from '@gateway/core/time'
import { adoptions, namedReferences, type StoredDeliveryReceipt } from '../contracts/specification/adoptions.ts'
import {
  changesState,
  codeByParts,
  isForNumber,
  isOwnReceipt,
  isRecentFor,
  isUnresolved,
} from '../contracts/specification/outcomes.ts'
import { atomic } from './atomic.ts'
import { optOutAtCarrier, partsOf, refundOptedOut } from './decide.ts'
import { note } from './incidents.ts'
import { mayHaveLeft } from './release.ts'
import type { MessageRow } from './rows.ts'
import { storeMessageEvent } from './store-events.ts'
import { referenceKey, type MemoryStore } from './store.ts'
import { memoryUnknownMessages } from './unknown-messages.ts'
import { memoryUnreadReceipts } from './unread-receipts.ts'

export const memoryDeliveryReceipts = (store: MemoryStore): DeliveryReceipts => ({
  apply: atomic((receipts) => {
    const at = store.clock.now()
    const counting = new Map<string, DeliveryReceipt>()
    const strangers = new Map<string, DeliveryReceipt>()
    const unknown: DeliveryReceipt[] = []
    for (const receipt of guessesApart(receipts).flat()) {
      const { carrier, reference, number } = receipt
      const key = referenceKey(carrier, reference)
      const row = store.references.get(key)
      const isFound =
        row?.decision !== undefined && isRecentFor(row.decision.handedOver, at) && isForNumber(receipt, row.number)
      if (isFound && !overtakes(store.receipts.get(key), receipt)) {
        counting.set(key, countingReceipt(counting.get(key), receipt))
      } else {
        unknown.push(receipt)
        if (receipt.isGuess === true) continue
        strangers.set(`${key} ${number ?? ''}`, countingReceipt(strangers.get(`${key} ${number ?? ''}`), receipt))
      }
    }
    for (const receipt of strangers.values()) {
      keep(store, referenceKey(receipt.carrier, receipt.reference), { receipt, at })
    }
    recordReports(
      store,
      [...counting.values()].map(({ carrier, reference, code, price }) => ({ carrier, reference, code, price, at })),
    )
    return unknown
  }),
  match: atomic((receiptsMax) => {
    nameUnknown(store)
    return match(store, receiptsMax)
  }),
  adopt: atomic((ageSeconds) => adopt(store, ageSeconds)),
  unmatched: atomic((countMax) => {
    const waiting = [store.later, ...store.due.all()]
    const messages = [...store.accounts.keys()]
      .flatMap((account) => waiting.flatMap((some) => some.allOf(account)))
      .concat(store.promotions.flatMap(({ ranges }) => ranges))
      .flatMap((range) => range.messages)
    const all = [...store.receipts.values()].flat().sort((a, b) => a.at - b.at)
    const keyOf = ({ receipt: { carrier, reference, code, number } }: StoredDeliveryReceipt) =>
      [carrier, reference, code, number].join()
    return all
      .filter((one, at) => all.findIndex((other) => keyOf(other) === keyOf(one)) === at)
      .slice(0, countMax)
      .map(({ receipt: { carrier, reference, code, number }, at }) => ({
        ...{ carrier, reference, code, number, at },
        waiting: messages.filter((row) => row.number === number).map(({ id }) => id),
      }))
  }),
  learnedForm: atomic((carrier) => store.learnedForms.get(carrier)),
  keepLearnedForm: atomic((carrier, form) => void store.learnedForms.set(carrier, form)),
  ...memoryUnreadReceipts(store),
  ...memoryUnknownMessages(store),
})

/**
 * Returns true if an earlier stored receipt may belong to the same message. A new receipt is then stored behind it,
 * because the first final receipt counts (P-7).
 */
const overtakes = (receipts: readonly StoredDeliveryReceipt[] = [], { number }: DeliveryReceipt): boolean =>
  receipts.some(({ receipt }) => receipt.number === undefined || number === undefined || receipt.number === number)

function keep(store: MemoryStore, key: string, receipt: StoredDeliveryReceipt): void {
  const list = store.receipts.get(key)
  if (list === undefined) store.receipts.set(key, [receipt])
  else list.push(receipt)
}

interface ReportedCode extends Pick<DeliveryReceipt, 'code' | 'price'> {
  readonly at: Instant
}

interface ReportedReceipt extends ReportedCode {
  readonly carrier: CarrierId
  readonly reference: string
}

/** Records reported receipts on their messages. Receipts for the parts of one message are combined. */
function recordReports(store: MemoryStore, reported: readonly ReportedReceipt[]): void {
  const ofParts = new Map<MessageRow, ReportedReceipt[]>()
  for (const one of reported) {
    const row = store.references.get(referenceKey(one.carrier, one.reference))
    if (row === undefined) continue
    if (row.decision?.parts.length === 0) tell(store, row, one)
    else ofParts.set(row, [...(ofParts.get(row) ?? []), one])
  }
  for (const [row, reports] of ofParts) tellParts(store, row, reports)
}

function tellParts(store: MemoryStore, row: MessageRow, reports: readonly ReportedReceipt[]): void {
  const { decision } = row
  if (decision === undefined) return
  const news = reports.filter(({ reference, code }) => {
    const part = decision.parts.find((one) => one.reference === reference)
    return part !== undefined && changesState(part.code, code)
  })
  const parts = decision.parts.map((part) => {
    const { code, at } = news.find(({ reference }) => reference === part.reference) ?? part
    return { ...part, code, at }
  })
  const undelivered = parts.filter(({ code }) => code !== OUTCOME.delivered).length
  const codes = news.map(({ code }) => code)
  const code = codeByParts(decision.code, codes, undelivered)
  const isChanged = code !== decision.code
  const at = isChanged ? news.map((one) => one.at).reduce((a, b) => (b > a ? b : a)) : decision.at
  row.decision = { ...decision, parts, code, at }
  if (isChanged) changed(store, row)
}

function tell(store: MemoryStore, row: MessageRow, { code, price, at }: ReportedCode): void {
  const { decision } = row
  if (decision === undefined || !changesState(decision.code, code)) return
  row.decision = { ...decision, code, at, ...(price && { carrierPrice: decision.carrierPrice ?? price }) }
  changed(store, row)
}

/** Stores the effects of a receipt that has changed the state of a message. */
function changed(store: MemoryStore, row: MessageRow): void {
  if (row.decision?.code === OUTCOME.optedOut) {
    refundOptedOut(store, row)
    optOutAtCarrier(store, row)
  }
  storeMessageEvent(store, row, 'receipt')
}

function match(store: MemoryStore, receiptsMax: number): number {
  const now = store.clock.now()
  const oldest = daysBefore(now, receiptMatching.keptDays)
  let room = receiptsMax
  let found = 0
  const matched: ReportedReceipt[] = []
  for (const [key, receipts] of [...store.receipts]) {
    if (room <= 0) break
    const row = store.references.get(key)
    const tried = receipts.slice(0, room)
    room -= tried.length
    const handedOver = row?.decision?.handedOver
    const isOwn = ({ receipt, at }: StoredDeliveryReceipt): boolean =>
      row !== undefined &&
      handedOver !== undefined &&
      isForNumber(receipt, row.number) &&
      isOwnReceipt(handedOver, at, now)
    const own = tried.filter(isOwn)
    found += own.length
    const counting = own.reduce<ReportedReceipt | undefined>(
      (before, { receipt: { carrier, reference, code, price }, at }) =>
        countingReceipt(before, { carrier, reference, code, price, at }),
      undefined,
    )
    if (counting !== undefined) matched.push(counting)
    const rest = receipts.filter((one) => !own.includes(one) && (one.at >= oldest || !tried.includes(one)))
    store.receipts.delete(key)
    if (rest.length > 0) store.receipts.set(key, rest) // behind all others, so that each has its turn
  }
  recordReports(store, matched)
  return found
}

/** Gives messages of unknown outcome the references of stored receipts that have their own ids. */
function nameUnknown(store: MemoryStore): void {
  const receipts = strangers(store).filter(({ receipt }) => receipt.ownId !== undefined)
  for (const id of new Set(receipts.flatMap(({ receipt: { ownId } }) => ownId?.message ?? []))) {
    const row = store.messages.get(id)
    if (row?.decision?.carrier === undefined || !isUnresolved(row.decision)) continue
    const { number, send } = row
    const { carrier } = row.decision
    const references = namedReferences({ id, carrier, number, due: send.due, parts: send.body.parts }, receipts)
    if (references.length > 0) resolve(store, row, references, INCIDENT.named)
  }
}

/** Gives a message of unknown outcome the references of its carrier. */
function resolve(store: MemoryStore, row: MessageRow, references: readonly string[], incident: string): void {
  const { decision } = row
  if (decision?.carrier === undefined) return
  row.decision = { ...decision, reference: references[0], parts: partsOf(references) }
  note(store, row.id, incident)
  for (const reference of references) store.references.set(referenceKey(decision.carrier, reference), row)
}

function adopt(store: MemoryStore, ageSeconds: number): number {
  const youngest = secondsAfter(store.clock.now(), -ageSeconds)
  const unmatched = strangers(store)
  const unknown = [...store.messages.values()].flatMap((row) => {
    const { number, decision } = row
    if (decision?.carrier === undefined || !isUnresolved(decision)) return []
    return { row, carrier: decision.carrier, number, parts: row.send.body.parts, handedOver: decision.handedOver }
  })
  const adopted = adoptions(unmatched, unknown, (carrier, number) => mayBeInFlight(store, carrier, number), youngest)
  for (const { message, references } of adopted) resolve(store, message.row, references, INCIDENT.adopted)
  return adopted.length
}

/** Returns stored receipts whose reference belongs to no message, or only to a message that is too old for them. */
export const strangers = (store: MemoryStore): readonly StoredDeliveryReceipt[] =>
  [...store.receipts].flatMap(([key, list]) => {
    const handedOver = store.references.get(key)?.decision?.handedOver
    return list.filter(({ at }) => handedOver === undefined || !isRecentFor(handedOver, at))
  })

/** Returns true if a message to this number may have been submitted and is not recorded. */
export const mayBeInFlight = (store: MemoryStore, carrier: CarrierId, number: Msisdn): boolean =>
  [...store.dispatchers.values()]
    .flatMap(({ batches }) => [...batches.values()])
    .some(
      (batch) =>
        batch.carrier === carrier &&
        [...batch.messages.values()].some((one) => one.row.number === number && mayHaveLeft(one, batch)),
    )
