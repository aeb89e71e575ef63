import { credits, type AccountId, type Body, type ReceivedText, type SenderAddress } from '@gateway/core'
import { confirmationAddress } from '../contracts/specification/replies.ts'
import { storeText } from './messages.ts'
import type { InboundMessageRow } from './rows.ts'
import type { MemoryStore } from './store.ts'
import { addSuppression, removeSuppression, suppressionsOf } from './suppressions.ts'

interface Followed {
  readonly row: InboundMessageRow
  readonly account: AccountId
  readonly address: SenderAddress | undefined
  readonly confirmation: Body
}

/** What follows from a message of an account (rulings 1.21, 1.22). */
export function followOptKeyword(store: MemoryStore, { number, keyword }: ReceivedText, followed: Followed): void {
  if (number === undefined || keyword === undefined) return
  const { row, account } = followed
  const key = { scope: account, number, kind: 'opt-out' } as const
  if (keyword === 'opt-in') {
    const { id: inbound, text, answers, at } = row
    removeSuppression(store, key, { inbound, text, answers, at })
    return
  }
  const reply = { id: row.id, text: row.text, answers: row.answers }
  const isNew = addSuppression(store, { ...key, since: row.at }, reply) === 'added'
  const from = confirmationAddress({
    isNew,
    accountLocked: store.accounts.get(account)?.account.locked ?? true,
    suppressions: suppressionsOf(store, account, number),
    address: followed.address,
  })
  if (from === undefined) return
  const text = { body: followed.confirmation, due: undefined, to: [{ number, cost: credits(0) }] }
  storeText(store, text, { account, from: () => from, routes: store.routes.published, confirmation: true })
}
