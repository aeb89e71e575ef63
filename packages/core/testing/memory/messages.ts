import {
  credits,
  isSameSend,
  laneOf,
  messageId,
  minus,
  spend,
  times,
  type Acceptance,
  type AccountId,
  type Instant,
  type MessageId,
  type Messages,
  type MessageStatus,
  type Order,
  type OrderedText,
} from '@gateway/core'
import { atomic } from './atomic.ts'
import { enter } from './money.ts'
import type { AccountRow, MessageRow, Send } from './rows.ts'
import { deleteScheduled, scheduled } from './scheduled.ts'
import type { MemoryStore } from './store.ts'
import { wakeSleepers } from './wakeups.ts'

export const memoryMessages = (store: MemoryStore): Messages => ({
  accept: atomic((order) => accept(store, order)),
  status: atomic((by, ids, since) => ids.map((id) => statusOf(store.messages.get(id), by, since))),
  scheduled: atomic((by, page) => scheduled(store, by, page)),
  deleteScheduled: atomic((by, ids, since) => deleteScheduled(store, by, ids, since)),
})

function accept(store: MemoryStore, order: Order): Acceptance | 'account-locked' {
  const account = store.accounts.get(order.account)
  if (account === undefined) throw new Error(`no account ${order.account}`)
  if (account.account.locked) return 'account-locked'

  const costs = order.texts.flatMap(({ to }) => to.map(({ cost }) => cost))
  const { taken, balance } = spend(account.balance, costs)
  let seen = 0
  const results = order.texts.map((text) =>
    storeText(store, order.account, text, { taken: taken.slice(seen, (seen += text.to.length)) }),
  )
  debit(store, account, results.flat())
  return { results, balance }
}

/** Each send is a debit; what costs nothing is none. */
function debit(
  store: MemoryStore,
  account: AccountRow,
  results: readonly (MessageId | 'insufficient-credits')[],
): void {
  const rows = results.flatMap((id) => (typeof id === 'string' ? [] : (store.messages.get(id) ?? [])))
  for (const send of new Set(rows.map((row) => row.send))) {
    const ofSend = rows.filter((row) => row.send === send)
    const [{ cost } = { cost: credits(0) }] = ofSend
    const cause = { kind: 'send', first: send.first, messages: ofSend.length } as const
    if (cost > 0) enter(account, minus(credits(0), times(cost, ofSend.length)), cause, send.submitted)
  }
}

/** Stores those recipients that were paid for. One result for each recipient. */
export function storeText(
  store: MemoryStore,
  account: AccountId,
  { body, due, to }: OrderedText,
  { taken = to.map(() => true), confirmation = false }: { taken?: readonly boolean[]; confirmation?: boolean },
) {
  const paid = to.filter((_, i) => taken[i])
  const now = store.clock.now()
  const scheduled = due !== undefined && due > now
  const common = { account, body, lane: laneOf(paid.length), submitted: now, scheduled, confirmation }
  const sends: { send: Send; messages: MessageRow[] }[] = []
  for (const one of paid) {
    const { number, cost, from } = one
    const id = newMessageId(store)
    let last = sends.at(-1)
    const [before] = last?.messages ?? []
    if (last === undefined || before === undefined || !isSameSend(before, one)) {
      last = { send: { ...common, first: id, due: scheduled ? due : now }, messages: [] }
      sends.push(last)
    }
    const row: MessageRow = { id, send: last.send, from, number, cost, decision: undefined }
    last.messages.push(row)
    store.addresses.add(from)
    store.messages.set(id, row)
  }
  const waiting = scheduled ? store.later : store.due[common.lane]
  for (const range of sends) waiting.add({ ...range, attempt: 0, at: range.send.due })
  if (sends.length > 0) wakeSleepers(store)
  const accepted = sends.flatMap(({ messages }) => messages.map(({ id }) => id)).values()
  return taken.map((was) => (was ? accepted.next().value : undefined) ?? 'insufficient-credits')
}

function newMessageId(store: MemoryStore): MessageId {
  const id = messageId(store.next('message'))
  if (id === undefined) throw new Error('no message id is left')
  return id
}

function statusOf(row: MessageRow | undefined, by: AccountId, since: Instant): MessageStatus {
  if (row?.send.account !== by) return 'not-found'
  if (row.decision === undefined) return { code: 'waiting', number: row.number, cost: row.cost }
  if (row.send.due < since) return 'not-found'
  const { code, at, refunded } = row.decision
  return { code, at, number: row.number, cost: refunded ? credits(0) : row.cost, taken: !refunded }
}
