import {
  credits,
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
import type { AccountRow, MessageRow } from './rows.ts'
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
    storeSend(store, order.account, text, { taken: taken.slice(seen, (seen += text.to.length)) }),
  )
  debit(store, account, results.flat())
  return { results, balance }
}

/** Each run of neighbours at one price is a debit; what costs nothing is none. */
function debit(
  store: MemoryStore,
  account: AccountRow,
  results: readonly (MessageId | 'insufficient-credits')[],
): void {
  const rows = results.flatMap((id) => (typeof id === 'string' ? [] : [store.messages.get(id)])).filter(isThere)
  const runs: MessageRow[][] = []
  for (const row of rows) {
    const run = runs.at(-1)
    if (run?.[0]?.send === row.send && run[0].cost === row.cost) run.push(row)
    else runs.push([row])
  }
  for (const run of runs) {
    const [first] = run
    if (first === undefined || first.cost === 0) continue
    const cause = { kind: 'send', first: first.id, messages: run.length } as const
    enter(account, minus(credits(0), times(first.cost, run.length)), cause, first.send.submitted)
  }
}

const isThere = <T>(value: T | undefined): value is T => value !== undefined

/** Stores those recipients that were paid for, as one send. One result for each recipient. */
export function storeSend(
  store: MemoryStore,
  account: AccountId,
  { body, due, to }: OrderedText,
  { taken = to.map(() => true), confirmation = false }: { taken?: readonly boolean[]; confirmation?: boolean },
) {
  const paid = to.filter((_, i) => taken[i])
  const ids = paid.map(() => newMessageId(store))
  const [first] = ids
  if (first !== undefined) {
    const now = store.clock.now()
    const lane = laneOf(paid.length)
    const scheduled = due !== undefined && due > now
    const send = {
      first,
      account,
      body,
      lane,
      submitted: now,
      due: scheduled ? due : now,
      scheduled,
      confirmation,
    } as const
    const messages = paid.map(({ number, cost, from }, i) => {
      const row: MessageRow = { id: ids[i] ?? first, send, from, number, cost, decision: undefined }
      store.addresses.add(from)
      store.messages.set(row.id, row)
      return row
    })
    const waiting = scheduled ? store.later : store.due[lane]
    waiting.add({ send, messages, attempt: 0, at: send.due })
    wakeSleepers(store)
  }
  const accepted = ids.values()
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
