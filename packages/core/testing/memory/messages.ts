import {
  byRoute,
  credits,
  isAhead,
  isSameSend,
  laneOf,
  may,
  messageId,
  routeNumberOf,
  minus,
  spend,
  statusOf,
  times,
  type Acceptance,
  type AccountId,
  type MessageId,
  type Messages,
  type Order,
  type OrderedRecipient,
  type OrderedText,
  type PublishedRoute,
  type SenderAddress,
} from '@gateway/core'
import { atomic } from './atomic.ts'
import { keepAnswer, keptRequest } from './client-requests.ts'
import { enter } from './money.ts'
import { factsOf } from './facts.ts'
import type { AccountRow, MessageRow, Send } from './rows.ts'
import { deleteScheduled, scheduled } from './scheduled.ts'
import { senderOf } from './senders.ts'
import type { MemoryStore } from './store.ts'
import { wakeSleepers } from './wakeups.ts'

export const memoryMessages = (store: MemoryStore): Messages => ({
  accept: atomic((order) => accept(store, order)),
  acceptOnce: atomic((order, request, answer) => {
    if (keptRequest(store, request) !== undefined) return 'repeated'
    const accepted = accept(store, order)
    if (typeof accepted === 'object' && accepted.results.flat().some((id) => id !== 'insufficient-credits'))
      keepAnswer(store, request, { text: answer(accepted.results), balance: accepted.balance })
    return accepted
  }),
  status: atomic((by, ids, since) =>
    ids.map((id) => {
      const row = store.messages.get(id)
      return row?.send.account === by ? statusOf(factsOf(row), since) : 'not-found'
    }),
  ),
  scheduled: atomic((by, page) => scheduled(store, by, page)),
  deleteScheduled: atomic((by, ids, since) => deleteScheduled(store, by, ids, since)),
})

function accept(store: MemoryStore, order: Order): Acceptance | 'account-locked' {
  const account = store.accounts.get(order.account)
  if (account === undefined) throw new Error(`no account ${order.account}`)
  if (!may(account.account, 'send')) return 'account-locked'

  const costs = order.texts.flatMap(({ to }) => to.map(({ cost }) => cost))
  const { taken, balance } = spend(account.balance, costs)
  let seen = 0
  const results = order.texts.map((text) =>
    storeText(store, text, {
      account: order.account,
      from: ({ number }) => senderOf(store, order, number),
      routes: store.routes.published,
      taken: taken.slice(seen, (seen += text.to.length)),
    }),
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

interface StoreOptions {
  readonly account: AccountId
  readonly from: (recipient: OrderedRecipient) => SenderAddress
  readonly taken?: readonly boolean[]
  readonly confirmation?: boolean
  /** None: every carrier takes it. */
  readonly routes?: readonly PublishedRoute[]
}

/** Stores those recipients that were paid for. One result for each recipient. */
export function storeText(store: MemoryStore, { body, due, to }: OrderedText, options: StoreOptions) {
  const { account, taken = to.map(() => true), confirmation = false, routes = [] } = options
  const paid = to.flatMap((recipient, i) => {
    if (!taken[i]) return []
    const from = options.from(recipient)
    const route = routeNumberOf(routes, { account, from, to: recipient.number })
    return [{ ...recipient, from, route, i }]
  })
  const now = store.clock.now()
  const scheduled = isAhead(due, now)
  const common = { account, body, lane: laneOf(paid.length), submitted: now, scheduled, confirmation }
  const sends: { send: Send; messages: MessageRow[] }[] = []
  const ids = new Map<number, MessageId>()
  for (const { i, ...one } of byRoute(paid)) {
    const id = newMessageId(store)
    let last = sends.at(-1)
    const [before] = last?.messages ?? []
    if (last === undefined || before === undefined || !isSameSend({ ...before, route: last.send.route }, one)) {
      last = { send: { ...common, route: one.route, first: id, due: scheduled ? due : now }, messages: [] }
      sends.push(last)
    }
    const { from, number, cost } = one
    const row: MessageRow = { id, send: last.send, from, number, cost, decision: undefined }
    ids.set(i, id)
    last.messages.push(row)
    store.addresses.add(one.from)
    store.messages.set(id, row)
  }
  const waiting = scheduled ? store.later : store.due
  for (const range of sends) waiting.add({ ...range, queue: range.send.route, attempt: 0, at: range.send.due })
  if (sends.length > 0) wakeSleepers(store)
  return taken.map((_, i) => ids.get(i) ?? 'insufficient-credits')
}

function newMessageId(store: MemoryStore): MessageId {
  const id = messageId(store.next('message'))
  if (id === undefined) throw new Error('no message id is left')
  return id
}
