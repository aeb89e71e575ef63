import { OUTCOME, type Handover, type SettledCode } from '@gateway/core'
import { enter } from './money.ts'
import type { Decision, MessageRow } from './rows.ts'
import { referenceKey, type MemoryStore } from './store.ts'

/** What the hand-over to a carrier made of a message. */
export function decide(store: MemoryStore, row: MessageRow, carrier: Decision['carrier'], handover: Handover): void {
  if (handover.outcome === 'refused') {
    endRefunded(store, row, OUTCOME.refused, carrier)
    return
  }
  const now = store.clock.now()
  const decided = { at: now, left: row.decision?.left ?? now, carrier }
  if (handover.outcome === 'unknown') {
    row.decision ??= { ...decided, code: OUTCOME.unknown, reference: undefined }
    store.unknown.add(row)
    return
  }
  row.decision = { ...decided, code: OUTCOME.sent, reference: handover.reference }
  store.unknown.delete(row)
  if (carrier !== undefined) store.references.set(referenceKey(carrier, handover.reference), row)
}

/** Ends a message that no carrier has: what was charged goes back to the account that was charged. */
export function endRefunded(
  store: MemoryStore,
  row: MessageRow,
  code: SettledCode | typeof OUTCOME.refused | typeof OUTCOME.cancelled,
  carrier: Decision['carrier'],
): void {
  const account = store.accounts.get(row.send.account)
  if (account === undefined) throw new Error(`message ${row.id} has no account`)
  const at = store.clock.now()
  const left = row.decision?.left ?? at
  row.decision = { code, at, left, carrier, reference: undefined }
  store.unknown.delete(row)
  enter(account, row.cost, { kind: 'refund', first: row.id, code }, at)
}
