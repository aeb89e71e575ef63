import { plus, type Cause, type Credits } from '@gateway/core/credits'
import { codeOfHandover, referencesOf, type Handover, type SettledCode } from '@gateway/core/dispatch'
import { labelsOf, OUTCOME, type MessageFacts, type Outcome } from '@gateway/core/messages'
import { erasedNumber } from '@gateway/core/personal-data'
import { carrierOptOutText } from '@gateway/core/suppressions'
import type { Instant } from '@gateway/core/time'
import type { AccountRow, Decision, MessageRow, Part } from './rows.ts'
import { storeMessageEvent } from './store-events.ts'
import { addSuppression } from './suppressions.ts'
import { referenceKey, type MemoryStore } from './store.ts'

/** Enters a movement and updates the balance, which it returns. */
export function enter(row: AccountRow, amount: Credits, cause: Cause, at: Instant): Credits {
  row.balance = plus(row.balance, amount)
  row.entries.push({ amount, cause, at })
  return row.balance
}

export const factsOf = ({
  number,
  cost,
  reference,
  send: { due, options },
  decision,
  refund,
}: MessageRow): MessageFacts => ({
  number,
  cost,
  due,
  labels: { reference, ...labelsOf(options) },
  outcome: decision && { ...outcomeOf(decision), isRefunded: refund !== undefined },
})

export const outcomeOf = ({ code, at, reference }: Decision): Outcome => ({
  code,
  at,
  hasReference: reference !== undefined,
})

/** Records the outcome of submitting a message to a carrier. */
export function decide(store: MemoryStore, row: MessageRow, carrier: Decision['carrier'], handover: Handover): void {
  const code = codeOfHandover(handover)
  if (code === OUTCOME.refused || code === OUTCOME.optedOut) {
    endRefunded(store, row, code, carrier)
    if (code === OUTCOME.optedOut) optOutAtCarrier(store, row)
    return
  }
  const at = store.clock.now()
  const references = 'reference' in handover ? referencesOf(handover) : []
  row.decision = {
    code,
    at,
    handedOver: row.decision?.handedOver ?? at,
    carrier,
    reference: references[0],
    parts: partsOf(references),
    ...('reference' in handover && handover.price && { carrierPrice: handover.price }),
  }
  if (carrier !== undefined) for (const one of references) store.references.set(referenceKey(carrier, one), row)
  storeMessageEvent(store, row, 'handover')
}

/** Adds the opt-out of a number that has opted out at a carrier (ruling 6.2). */
export function optOutAtCarrier(store: MemoryStore, { id, number, send: { account } }: MessageRow): void {
  if (number === erasedNumber) return
  const entry = { scope: account, number, kind: 'opt-out', since: store.clock.now() } as const
  addSuppression(store, entry, { id: undefined, text: carrierOptOutText, answers: id })
}

/** Refunds a message that its carrier accepted and then ended because the number has opted out there (ruling 6.2). */
export function refundOptedOut(store: MemoryStore, row: MessageRow): void {
  const account = store.accounts.get(row.send.account)
  if (account === undefined) throw new Error(`message ${row.id} has no account`)
  const refund = { kind: 'refund', first: row.id, code: OUTCOME.optedOut } as const
  if (row.refund === undefined) enter(account, row.cost, refund, store.clock.now())
}

/** Returns the parts of a message that has these carrier references. Returns no parts for a single reference. */
export const partsOf = (references: readonly string[]): readonly Part[] =>
  references.length < 2 ? [] : references.map((reference) => ({ reference, code: OUTCOME.sent, at: undefined }))

/** Ends a message that was not submitted and refunds the account that was charged. */
export function endRefunded(
  store: MemoryStore,
  row: MessageRow,
  code: SettledCode | typeof OUTCOME.refused | typeof OUTCOME.cancelled,
  carrier: Decision['carrier'],
): void {
  const account = store.accounts.get(row.send.account)
  if (account === undefined) throw new Error(`message ${row.id} has no account`)
  const at = store.clock.now()
  const handedOver = row.decision?.handedOver ?? at
  row.decision = { code, at, handedOver, carrier, reference: undefined, parts: [] }
  if (row.refund === undefined) enter(account, row.cost, { kind: 'refund', first: row.id, code }, at)
  storeMessageEvent(store, row, 'handover')
}
