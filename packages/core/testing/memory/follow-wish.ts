import { credits, type AccountId, type Body, type Msisdn, type ReceivedText, type SenderAddress } from '@gateway/core'
import { storeSend } from './messages.ts'
import type { ArrivalRow } from './rows.ts'
import type { MemoryStore } from './store.ts'
import { addSuppression, removeSuppression, suppressionsOf } from './suppressions.ts'

interface Wished {
  readonly row: ArrivalRow
  readonly account: AccountId
  readonly address: SenderAddress | undefined
  readonly confirmation: Body
}

/** What follows from an arrival of an account (rulings 1.21, 1.22). */
export function followWish(store: MemoryStore, { number, wish }: ReceivedText, wished: Wished): void {
  if (number === undefined || wish === undefined) return
  const { row, account } = wished
  const key = { scope: account, number, kind: 'opt-out' } as const
  if (wish === 'opt-in') {
    removeSuppression(store, key)
    return
  }
  const reply = { id: row.id, text: row.text, answers: row.answers }
  if (addSuppression(store, { ...key, since: row.at }, reply) === 'added') confirm(store, number, wished)
}

function confirm(store: MemoryStore, number: Msisdn, { account, address, confirmation }: Wished): void {
  const isLocked = store.accounts.get(account)?.account.locked ?? true
  if (address === undefined || isLocked || suppressionsOf(store, account, number).has('blacklist')) return
  const to = [{ number, cost: credits(0), from: address }]
  storeSend(store, account, { body: confirmation, due: undefined, to }, { confirmation: true })
}
