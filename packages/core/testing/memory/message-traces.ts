import { credits, plus, type Credits } from '@gateway/core/credits'
import type { Lane } from '@gateway/core/dispatch'
import {
  INCIDENT,
  isAcceptedByCarrier,
  isTooOld,
  traceLinesMax,
  type CarrierPrice,
  type CarrierPriceSum,
  type FoundLocation,
  type FoundMessage,
  type MessageLocation,
  type MessageSearch,
  type MessageTrace,
  type SendOptions,
  type SentMessages,
  type TracedReceipt,
  type TracedRefund,
  type TracedRoute,
  type TracedSend,
} from '@gateway/core/messages'
import type { Instant } from '@gateway/core/time'
import { laterDue } from '../contracts/specification/messages.ts'
import { isOverdue, receiptsSought } from '../contracts/specification/outcomes.ts'
import { atomic } from './atomic.ts'
import { factsOf, outcomeOf } from './decide.ts'
import { mayHaveLeft } from './release.ts'
import type { MessageRow, Range } from './rows.ts'
import { messageOf } from './smpp-part-status.ts'
import { referenceKey, type MemoryStore } from './store.ts'
import type { StoredDeliveryReceipt } from '../contracts/specification/adoptions.ts'

export const memoryMessageTraces = (store: MemoryStore): Pick<SentMessages, 'trace' | 'search'> => ({
  trace: atomic((id) => {
    const row = store.messages.get(messageOf(store, id))
    return row && traceOf(store, row)
  }),
  search: atomic((search, decidedSince, limit) => find(store, search, decidedSince).slice(0, limit)),
})

function find(store: MemoryStore, search: MessageSearch, decidedSince: Instant): readonly FoundMessage[] {
  const { number, reference, account, from, to, after } = search
  return [...store.messages.values()]
    .filter((row) => number === undefined || row.number === number)
    .filter((row) => reference === undefined || row.reference === reference)
    .filter((row) => account === undefined || row.send.account === account)
    .filter(({ send: { due } }) => (from === undefined || due >= from) && (to === undefined || due < to))
    .filter((row) => !isTooOld(factsOf(row), decidedSince))
    .map((row) => foundOf(store, row))
    .filter((found) => after === undefined || laterDue(after, found) < 0)
    .sort(laterDue)
}

function foundOf(store: MemoryStore, row: MessageRow): FoundMessage {
  const { account, submitted, due, scheduled, confirmation, options } = row.send
  const { id, from, number, cost, reference } = row
  const place = foundPlace(store, row)
  const found = { id, account, from, number, confirmation, accepted: submitted, due, scheduled, cost, reference }
  return { ...found, options, place }
}

function foundPlace(store: MemoryStore, row: MessageRow): FoundLocation {
  const place = placeOf(store, row)
  if (place.place === 'decided') return { place: 'decided', code: place.code, at: place.at, refunded: place.refunded }
  if (place.place === 'claimed') return { place: 'claimed', marked: place.marked, attempt: place.attempt }
  if (place.place === 'queue' || place.place === 'in-doubt') return { place: place.place, attempt: place.attempt }
  if (place.place === 'nowhere') throw new Error(`message ${row.id} is nowhere`)
  return place
}

function traceOf(store: MemoryStore, row: MessageRow): MessageTrace {
  const { account, submitted, due, scheduled, expires, options, body } = row.send
  const place = placeOf(store, row)
  const incidents = store.incidents.get(row.id) ?? []
  return {
    id: row.id,
    account,
    number: row.number,
    from: row.from,
    confirmation: row.send.confirmation,
    accepted: submitted,
    scheduled: scheduled ? due : undefined,
    expires,
    options,
    text: { characters: Array.from(body.text).length, encoding: body.encoding, parts: body.parts },
    cost: row.cost,
    reference: row.reference,
    ...bindOf(store, options),
    send: sendOf(store, row),
    refundByHand: row.refund,
    route: routeOf(store, row),
    place,
    refusedForNow: incidents.filter(({ name }) => name === INCIDENT.refusedForNow).length,
    incidents: incidents.slice(-traceLinesMax),
    receipts: receiptsOf(store, row, place).slice(-traceLinesMax),
  }
}

function bindOf(store: MemoryStore, { smpp }: SendOptions): Pick<MessageTrace, 'bind'> {
  if (smpp === undefined) return {}
  const { credential, remote } = smpp
  return { bind: { credential, systemId: store.smppCredentials.get(credential)?.credential.systemId, remote } }
}

function placeOf(store: MemoryStore, row: MessageRow): MessageLocation {
  if (row.decision !== undefined) {
    const { code, at, handedOver: stored, carrier, reference, parts, carrierPrice } = row.decision
    const refunded = row.refund !== undefined || !isAcceptedByCarrier(outcomeOf(row.decision))
    const decided = { place: 'decided', code, at, stored: stored, carrier, reference, parts, refunded } as const
    return { ...decided, ...(carrierPrice && { carrierPrice }) }
  }
  const { account, due } = row.send
  const rangeIn = (ranges: readonly Range[]) => ranges.find(({ messages }) => messages.includes(row))
  const later = rangeIn(store.later.allOf(account))
  if (later?.attempt === 0) return { place: 'scheduled', due }
  if (later !== undefined) return { place: 'postponed', until: later.at, attempt: later.attempt }
  for (const lane of ['single', 'bulk'] as const satisfies readonly Lane[]) {
    const range = rangeIn(store.due.all(lane).flatMap((queue) => queue.allOf(account)))
    if (range !== undefined) return { place: 'queue', lane, due, attempt: range.attempt }
  }
  const inDoubt = rangeIn(store.promotions.flatMap(({ ranges }) => ranges))
  if (inDoubt !== undefined) return { place: 'in-doubt', due, attempt: inDoubt.attempt }
  return claimedPlace(store, row)
}

function claimedPlace(store: MemoryStore, row: MessageRow): MessageLocation {
  for (const [dispatcher, { leaseUntil, batches }] of store.dispatchers) {
    for (const batch of batches.values()) {
      const { carrier } = batch
      const one = batch.messages.get(row.id)
      if (one === undefined) continue
      const overdue = isOverdue(leaseUntil, store.clock.now())
      const marked = mayHaveLeft(one, batch)
      return { place: 'claimed', dispatcher, carrier, marked, attempt: one.attempt, leaseUntil, overdue }
    }
  }
  return { place: 'nowhere' }
}

function routeOf({ routes: { published, known } }: MemoryStore, { send }: MessageRow): TracedRoute | undefined {
  const route = known.get(send.route)
  const place = published.findIndex(({ number }) => number === send.route)
  return route && { ...route, place: place < 0 ? undefined : place + 1 }
}

function sendOf(store: MemoryStore, { send }: MessageRow): TracedSend {
  const rows = [...store.messages.values()].filter((row) => row.send === send)
  return {
    first: send.first,
    messages: rows.length,
    debit: total(rows),
    refunds: [...refundsOf(rows), ...refundsByHand(rows)],
    carrierPrices: carrierPricesOf(rows.flatMap(({ decision }) => decision?.carrierPrice ?? [])),
  }
}

function carrierPricesOf(prices: readonly CarrierPrice[]): readonly CarrierPriceSum[] {
  const currencies = [...new Set(prices.map(({ currency }) => currency))].sort()
  return currencies.map((currency) => {
    const amounts = prices.filter((price) => price.currency === currency).map(({ amount }) => amount)
    return { amount: decimalSum(amounts), currency, messages: amounts.length }
  })
}

/** Adds decimal numbers exactly. The sum has as many decimals as the number with the most. */
function decimalSum(amounts: readonly string[]): string {
  const decimalsOf = (amount: string): string => amount.split('.')[1] ?? ''
  const scale = Math.max(...amounts.map((amount) => decimalsOf(amount).length))
  const scaled = amounts.map((amount) =>
    BigInt(amount.split('.').join('') + '0'.repeat(scale - decimalsOf(amount).length)),
  )
  const sum = String(scaled.reduce((a, b) => a + b)).padStart(scale + 1, '0')
  return scale === 0 ? sum : `${sum.slice(0, -scale)}.${sum.slice(-scale)}`
}

function refundsOf(rows: readonly MessageRow[]): readonly TracedRefund[] {
  const refunded = rows.flatMap(({ decision, cost, refund }) =>
    decision === undefined || refund !== undefined || isAcceptedByCarrier(outcomeOf(decision))
      ? []
      : [{ ...decision, cost }],
  )
  const codes = [...new Set(refunded.map(({ code }) => code))].sort((a, b) => a - b)
  return codes.map((code) => {
    const of = refunded.filter((one) => one.code === code)
    const times = of.map(({ at }) => at).sort((a, b) => a - b)
    const [first, last] = [times[0], times.at(-1)]
    if (first === undefined || last === undefined) throw new Error('a refund of nothing')
    const amount = total(of)
    return { code, messages: amount === 0 ? undefined : of.length, amount, first, last }
  })
}

function refundsByHand(rows: readonly MessageRow[]): readonly TracedRefund[] {
  const of = rows.filter(({ refund }) => refund !== undefined)
  const times = of.flatMap(({ refund }) => refund?.at ?? []).sort((a, b) => a - b)
  const [first, last] = [times[0], times.at(-1)]
  if (first === undefined || last === undefined) return []
  return [{ code: undefined, messages: of.length, amount: total(of), first, last }]
}

const total = (rows: readonly { readonly cost: Credits }[]): Credits =>
  rows.map(({ cost }) => cost).reduce(plus, credits(0))

function receiptsOf(store: MemoryStore, { number }: MessageRow, place: MessageLocation): readonly TracedReceipt[] {
  const { carrier, references } = receiptsSought(place) ?? {}
  if (carrier === undefined) return []
  if (references !== undefined) {
    const own = references.flatMap((reference) => store.receipts.get(referenceKey(carrier, reference)) ?? [])
    const isOther = ({ receipt }: StoredDeliveryReceipt) => receipt.number !== undefined && receipt.number !== number
    return own.sort((a, b) => a.at - b.at).map((one) => toTraced(isOther(one) ? 'other-number' : 'own')(one))
  }
  return [...store.receipts.values()]
    .flat()
    .filter(({ receipt }) => receipt.carrier === carrier && receipt.number === number)
    .sort((a, b) => a.at - b.at)
    .map(toTraced('same-number'))
}

const toTraced =
  (fits: TracedReceipt['fits']) =>
  ({ receipt: { carrier, reference, code }, at }: StoredDeliveryReceipt): TracedReceipt => ({
    at,
    carrier,
    reference,
    code,
    fits,
  })
