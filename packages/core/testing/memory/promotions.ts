import {
  clockMarginSeconds,
  type CarrierId,
  type Promotion,
  type PromotionId,
  type Promotions,
} from '@gateway/core/dispatch'
import { INCIDENT, isExpired } from '@gateway/core/messages'
import { secondsAfter, type Instant } from '@gateway/core/time'
import { isUnresolved } from '../contracts/specification/outcomes.ts'
import { atomic } from './atomic.ts'
import { failedOverSends, failOverSends } from './bulk-sends.ts'
import { decide } from './decide.ts'
import { note } from './incidents.ts'
import { mayBeInFlight, strangers } from './delivery-receipts.ts'
import { end, rangesOf } from './release.ts'
import type { MessageRow, PromotionRow, Range } from './rows.ts'
import type { MemoryStore } from './store.ts'
import { wakeSleepers } from './wakeups.ts'

export const memoryPromotions = (store: MemoryStore): Promotions => ({
  open: atomic(() => openOf(store).map(promotionOf)),
  failedOverSends: atomic(() => failedOverSends(store)),
  decide: atomic((nextDecision, by) => {
    const open = openOf(store)
    if (open.length === 0) return 'nothing-in-doubt'
    if (open.some(({ decision }) => decision !== undefined && decision.choice !== nextDecision))
      return 'decided-otherwise'
    for (const row of open) row.decision ??= { choice: nextDecision, by, at: store.clock.now() }
    return 'decided'
  }),
  carryOut: atomic((messagesMax) => carryOut(store, messagesMax)),
  takeProofs: atomic((ageSeconds) => takeProofs(store, ageSeconds)),
  expire: atomic((validitySeconds, messagesMax) => {
    const now = store.clock.now()
    const isOld = ({ send }: MessageRow) => isExpired(send, now, validitySeconds)
    const old = inDoubt(store).filter(isOld).slice(0, messagesMax)
    for (const row of old) endInDoubt(store, row)
    return old.length
  }),
})

/**
 * Records the promotion of a standby that may lack commits: claimed batches end like those of dead dispatchers, all due
 * messages are in doubt, and running bulk sends are stopped.
 */
export function promoteStandby(store: MemoryStore): void {
  for (const row of openOf(store)) row.decision = undefined
  for (const dispatcher of [...store.dispatchers.keys()]) end(store, dispatcher)
  failOverSends(store)
  const noticed = store.clock.now()
  const dueUntil = secondsAfter(noticed, clockMarginSeconds)
  const due = store.due.all().flatMap((queue) => queue.takeAll(() => true, Infinity))
  const ranges = [...due, ...store.later.takeAll(({ at }) => at <= dueUntil, Infinity)]
  const id = store.next('promotion') as PromotionId
  store.promotions.push({ promotion: { id, noticed, messages: countOf(ranges) }, decision: undefined, ranges })
}

const countOf = (ranges: readonly Range[]): number => ranges.reduce((sum, { messages }) => sum + messages.length, 0)

const openOf = (store: MemoryStore): readonly PromotionRow[] =>
  store.promotions.filter(({ ranges }) => ranges.length > 0)

const inDoubt = (store: MemoryStore): readonly MessageRow[] =>
  store.promotions.flatMap(({ ranges }) => ranges.flatMap(({ messages }) => messages))

function promotionOf({ promotion, decision, ranges }: PromotionRow): Promotion {
  const dues = ranges.map(({ send }) => send.due).sort((a, b) => a - b)
  const [first, last] = [dues[0], dues.at(-1)]
  const due = first === undefined || last === undefined ? undefined : { first, last }
  const { noticed } = promotion
  const server = { fromTimeline: 1, timeline: 2, lastChange: noticed, lastPosition: undefined }
  return { ...promotion, ...server, inDoubt: countOf(ranges), due, decision }
}

/** Removes a message from the ranges in doubt. Returns false if it was not in doubt. */
function leaveDoubt(store: MemoryStore, row: MessageRow): boolean {
  for (const promotion of store.promotions) {
    const range = promotion.ranges.find(({ messages }) => messages.includes(row))
    if (range === undefined) continue
    const rest = range.messages.filter((one) => one !== row)
    const rows = rest.map((one, at) => ({ row: one, attempt: range.attempt, position: at + 1 }))
    promotion.ranges = [...promotion.ranges.filter((one) => one !== range), ...rangesOf(rows, range.queue)]
    return true
  }
  return false
}

function endInDoubt(store: MemoryStore, row: MessageRow): void {
  leaveDoubt(store, row)
  note(store, row.id, INCIDENT.endedInDoubt)
  decide(store, row, undefined, { outcome: 'unknown' })
}

/**
 * Records that a message in doubt, or one that ended in doubt, was submitted to a carrier. A dispatcher or a receipt
 * proves this. The outcome is unknown until it is recorded. Returns true if the message was in doubt. `submittedAt` is
 * the time of submission.
 */
export function proveSubmitted(
  store: MemoryStore,
  row: MessageRow,
  carrier: CarrierId | undefined,
  submittedAt?: Instant,
): boolean {
  if (carrier === undefined) return false
  const wasInDoubt = leaveDoubt(store, row)
  if (wasInDoubt) {
    note(store, row.id, INCIDENT.provedSubmitted, carrier)
    decide(store, row, carrier, { outcome: 'unknown' })
  }
  const { decision } = row
  if (decision === undefined || !isUnresolved(decision)) return false
  if (wasInDoubt || decision.carrier === undefined)
    row.decision = { ...decision, carrier, handedOver: submittedAt ?? decision.handedOver }
  return wasInDoubt
}

function carryOut(store: MemoryStore, messagesMax: number): number {
  let moved = 0
  for (const promotion of openOf(store)) {
    const { decision } = promotion
    if (decision === undefined) continue
    for (const range of promotion.ranges.toSorted((a, b) => firstOf(a) - firstOf(b))) {
      if (moved >= messagesMax) break
      moved += range.messages.length
      if (decision.choice === 'end') for (const row of range.messages) endInDoubt(store, row)
      else {
        promotion.ranges = promotion.ranges.filter((one) => one !== range)
        store.due.add(range)
      }
    }
    if (decision.choice === 'send') wakeSleepers(store)
  }
  return moved
}

const firstOf = ({ messages, send }: Range): number => messages[0]?.id ?? send.first

function takeProofs(store: MemoryStore, ageSeconds: number): number {
  const youngest = secondsAfter(store.clock.now(), -ageSeconds)
  const noticed = Math.min(...store.promotions.map(({ promotion }) => promotion.noticed))
  const proofs = strangers(store)
    .filter(({ at }) => at >= noticed && at <= youngest)
    .sort((a, b) => a.at - b.at)
  let proved = 0
  for (const { receipt, at } of proofs) {
    const { carrier, number, submitted } = receipt
    if (number === undefined || mayBeInFlight(store, carrier, number)) continue
    for (const row of [...store.messages.values()].filter((one) => one.number === number)) {
      if (proveSubmitted(store, row, carrier, submitted ?? at)) proved++
    }
  }
  return proved
}
