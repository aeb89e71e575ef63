import { handoverCode, OUTCOME, type Handover, type SettledCode } from '@gateway/core'
import { enter } from './money.ts'
import type { Decision, MessageRow } from './rows.ts'
import { storeMessageEvent } from './store-events.ts'
import { referenceKey, type MemoryStore } from './store.ts'

/** What the hand-over to a carrier made of a message. */
export function decide(store: MemoryStore, row: MessageRow, carrier: Decision['carrier'], handover: Handover): void {
  const code = handoverCode[handover.outcome]
  if (code === OUTCOME.refused) {
    endRefunded(store, row, code, carrier)
    return
  }
  const at = store.clock.now()
  const reference = handover.outcome === 'accepted' ? handover.reference : undefined
  row.decision = { code, at, left: row.decision?.left ?? at, carrier, reference }
  if (carrier !== undefined && reference !== undefined) store.references.set(referenceKey(carrier, reference), row)
  storeMessageEvent(store, row, 'handover')
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
  enter(account, row.cost, { kind: 'refund', first: row.id, code }, at)
  // Who deletes a message is told by the answer: it is no event.
  if (code !== OUTCOME.cancelled) storeMessageEvent(store, row, 'handover')
}
