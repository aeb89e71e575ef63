import { may, type AccountId } from '@gateway/core/accounts'
import { credits, minus, spend, times } from '@gateway/core/credits'
import { isSameSend, laneOf } from '@gateway/core/dispatch'
import {
  isAhead,
  messageId,
  OUTCOME,
  preferredBy,
  statusOf,
  undeletedOutcome,
  labelsOf,
  noOptions,
  withLabels,
  writeAnswer,
  type Acceptance,
  type AllowedSender,
  type AssignedCode,
  type Deletion,
  type MessageId,
  type Messages,
  type Msisdn,
  type Order,
  type OrderedRecipient,
  type OrderedText,
  type Page,
  type Paged,
  type ScheduledMessage,
  type SenderAddress,
  type Senders,
} from '@gateway/core/messages'
import { byRoute, routeNumberOf, type PublishedRoute } from '@gateway/core/routes'
import { secondsAfter, type Instant } from '@gateway/core/time'
import { chooseSender, isDeletable } from '../contracts/specification/messages.ts'
import { atomic } from './atomic.ts'
import { endRefunded, enter, factsOf } from './decide.ts'
import { keepAnswer, keptRequest } from './ledger.ts'
import type { AccountRow, MessageRow, Range, Send } from './rows.ts'
import type { MemoryStore } from './store.ts'
import { messageOf, partStatus } from './smpp-part-status.ts'
import { wakeSleepers } from './wakeups.ts'

export const memoryMessages = (store: MemoryStore): Messages => ({
  accept: atomic((order, deadline) => (deadline?.meet() === false ? 'overloaded' : accept(store, order))),
  acceptOnce: atomic((order, request, draft, deadline) => {
    if (deadline?.meet() === false) return 'overloaded'
    if (keptRequest(store, request) !== undefined) return 'repeated'
    const accepted = accept(store, order)
    if (typeof accepted === 'object' && accepted.results.flat().some((id) => id !== 'insufficient-credits'))
      keepAnswer(store, request, { text: writeAnswer(draft, accepted.results), balance: accepted.balance })
    return accepted
  }),
  status: atomic((by, ids, since) =>
    ids.map((id) => {
      const row = store.messages.get(messageOf(store, id))
      if (row === undefined) return partStatus(store, by, id, since)
      return row.send.account === by ? statusOf(factsOf(row), since) : 'not-found'
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
  const { paid: paid, balance } = spend(account.balance, costs)
  let seen = 0
  const results = order.texts.map((text) =>
    storeText(store, text, {
      account: order.account,
      from: ({ number, from }) => from ?? senderOf(store, order, number),
      routes: store.routes.published,
      paid: paid.slice(seen, (seen += text.to.length)),
      isConsecutive: order.isConsecutive,
    }),
  )
  debit(store, account, results.flat())
  return { results, balance }
}

/** Enters a debit for each send that costs something. */
export function debit(
  store: MemoryStore,
  account: AccountRow,
  results: readonly (MessageId | 'insufficient-credits')[],
): void {
  const rows = results.flatMap((id) => (typeof id === 'string' ? [] : (store.messages.get(id) ?? [])))
  for (const send of new Set(rows.map((row) => row.send))) {
    const ofSend = rows.filter((row) => row.send === send)
    const [{ cost } = { cost: credits(0) }] = ofSend
    const [reference, ...others] = new Set(ofSend.map((row) => row.reference))
    const sent = { kind: 'send', first: send.first, messages: ofSend.length } as const
    const labels = { ...labelsOf(send.options), reference: others.length === 0 ? reference : undefined }
    const cause = withLabels(sent, labels)
    if (cost > 0) enter(account, minus(credits(0), times(cost, ofSend.length)), cause, send.submitted)
  }
}

interface StoreOptions {
  readonly account: AccountId
  readonly from: (recipient: OrderedRecipient) => SenderAddress
  readonly paid?: readonly boolean[]
  readonly isConsecutive?: boolean | undefined
  readonly confirmation?: boolean
  /** Routes that determine the queues of the recipients. Without routes, every carrier may claim the messages. */
  readonly routes?: readonly PublishedRoute[]
  /** Id of the only recipient. By default new ids. */
  readonly id?: MessageId
}

/** Stores the recipients that were paid for. Returns one result for each recipient. */
export function storeText(store: MemoryStore, text: OrderedText, options: StoreOptions) {
  const { body, due: dueTime, options: sendOptions = noOptions, to } = text
  const { validity } = sendOptions
  const { account, paid: isPaid = to.map(() => true), confirmation = false, routes = [] } = options
  const paid = to.flatMap((recipient, i) => {
    if (!isPaid[i]) return []
    const from = options.from(recipient)
    const route = routeNumberOf(routes, { account, from, to: recipient.number })
    return [{ ...recipient, from, route, i }]
  })
  const now = store.clock.now()
  const scheduled = isAhead(dueTime, now)
  const due = scheduled ? dueTime : now
  const expires = validity && secondsAfter(due, validity * 60)
  const sendFields = { account, body, options: sendOptions, confirmation }
  const common = { ...sendFields, lane: laneOf(paid.length), submitted: now, scheduled, due, expires }
  const sends: { send: Send; messages: MessageRow[] }[] = []
  const ids = new Map<number, MessageId>()
  for (const { i, ...one } of options.isConsecutive === true ? paid : byRoute(paid)) {
    const id = options.id ?? newMessageId(store)
    let last = sends.at(-1)
    const [before] = last?.messages ?? []
    if (last === undefined || before === undefined || !isSameSend({ ...before, route: last.send.route }, one)) {
      last = { send: { ...common, route: one.route, first: id }, messages: [] }
      sends.push(last)
    }
    const { from, number, cost, reference } = one
    const row: MessageRow = { id, send: last.send, from, number, cost, reference, decision: undefined }
    ids.set(i, id)
    last.messages.push(row)
    store.addresses.add(one.from)
    store.messages.set(id, row)
  }
  const waiting = scheduled ? store.later : store.due
  for (const range of sends) waiting.add({ ...range, queue: range.send.route, attempt: 0, at: range.send.due })
  if (sends.length > 0) wakeSleepers(store)
  return isPaid.map((_, i) => ids.get(i) ?? 'insufficient-credits')
}

export function newMessageId(store: MemoryStore): MessageId {
  const id = messageId(store.next('message'))
  if (id === undefined) throw new Error('no message id is left')
  return id
}

const waitingOf = (store: MemoryStore) => [store.later, ...store.due.all()] as const

const canGo = ({ send, attempt }: Range): boolean => isDeletable(send.scheduled, attempt)

export function scheduled(store: MemoryStore, by: AccountId, page: Page): Paged<ScheduledMessage> {
  const rows = waitingOf(store)
    .flatMap((waiting) => waiting.allOf(by).filter(canGo))
    .flatMap(({ messages }) => messages)
    .sort((a, b) => a.send.due - b.send.due || a.id - b.id)
  const items = rows
    .slice(page.offset, page.offset + page.limit)
    .map(({ id, number, cost, reference, send: { submitted, due, options } }) =>
      withLabels({ id, number, submitted, due, cost }, { reference, ...labelsOf(options) }),
    )
  return { total: rows.length, items }
}

export function deleteScheduled(
  store: MemoryStore,
  by: AccountId,
  idsOrParts: readonly MessageId[],
  since: Instant,
): readonly Deletion[] {
  const ids = idsOrParts.map((id) => messageOf(store, id))
  const gone = takeOut(store, by, new Set(ids))
  for (const row of gone) endRefunded(store, row, OUTCOME.cancelled, undefined)
  return ids.map((id) => {
    const row = store.messages.get(id)
    const part = row === undefined ? partStatus(store, by, id, since) : 'not-found'
    if (part !== 'not-found') return { outcome: 'sent', number: part.number }
    // A second request for the same message finds it deleted.
    if (row !== undefined && gone.delete(row)) return { outcome: 'deleted', number: row.number, refunded: row.cost }
    const outcome = row?.send.account === by ? undeletedOutcome(factsOf(row), since) : 'not-found'
    return row === undefined || outcome === 'not-found' ? { outcome: 'not-found' } : { outcome, number: row.number }
  })
}

/** Removes deletable messages from the queue; the other messages of their ranges keep waiting. */
function takeOut(store: MemoryStore, by: AccountId, ids: ReadonlySet<MessageId>): Set<MessageRow> {
  const isMeant = ({ id }: MessageRow) => ids.has(id)
  const isCut = (range: Range) => range.send.account === by && canGo(range) && range.messages.some(isMeant)
  const gone = new Set<MessageRow>()
  for (const waiting of waitingOf(store)) {
    for (const range of waiting.takeAll(isCut, Infinity)) {
      for (const row of range.messages.filter(isMeant)) gone.add(row)
      const messages = range.messages.filter((row) => !isMeant(row))
      if (messages.length > 0) waiting.add({ ...range, messages })
    }
  }
  return gone
}

export const memorySenders = (store: MemoryStore): Senders => ({
  assign: atomic((code, account) => assign(store, code, account)),
  release: atomic((code) => {
    const owner = store.codes.get(code)
    if (owner !== undefined) setCodes(store, owner, (codes) => codes.filter((one) => one !== code))
    return store.codes.delete(code)
  }),
  assigned: atomic(() =>
    [...store.codes]
      .map(([code, account]): AssignedCode => ({ code, account }))
      .sort((a, b) => (a.code < b.code ? -1 : 1)),
  ),
  allow: atomic((sender) => allow(store, sender)),
  disallow: atomic((account, sender) => {
    const at = store.allowedSenders.findIndex((one) => one.account === account && one.sender === sender)
    if (at >= 0) store.allowedSenders.splice(at, 1)
    return at >= 0
  }),
  allowed: atomic(() => [...store.allowedSenders].sort((a, b) => a.account - b.account || byText(a.sender, b.sender))),
  allowedTo: atomic((account) => allowedTo(store, account)),
})

const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

export const allowedTo = (store: MemoryStore, account: AccountId): readonly AllowedSender[] =>
  store.allowedSenders.filter((one) => one.account === account).sort((a, b) => byText(a.sender, b.sender))

function allow(store: MemoryStore, sender: AllowedSender): 'added' | 'changed' | 'no-such-account' {
  if (!store.accounts.has(sender.account)) return 'no-such-account'
  const at = store.allowedSenders.findIndex((one) => one.account === sender.account && one.sender === sender.sender)
  store.allowedSenders.splice(at < 0 ? store.allowedSenders.length : at, at < 0 ? 0 : 1, sender)
  return at < 0 ? 'added' : 'changed'
}

/** Returns the address from which the order sends its message to `number`. */
export function senderOf(store: MemoryStore, { account, senders }: Order, number: Msisdn): SenderAddress {
  const chosen = store.chosenSenders.get(number) ?? new Map<AccountId, SenderAddress>()
  store.chosenSenders.set(number, chosen)
  const ofOthers = [...chosen].flatMap(([other, address]) => (other === account ? [] : [address]))
  const address = chooseSender(preferredBy(account, senders), chosen.get(account), new Set(ofOthers))
  if (address === undefined) throw new Error('there is no address to choose from')
  if (senders.length > 1) chosen.set(account, address)
  return address
}

function assign(
  store: MemoryStore,
  code: SenderAddress,
  account: AccountId,
): 'assigned' | 'already' | 'taken' | 'no-such-account' {
  if (!store.accounts.has(account)) return 'no-such-account'
  const owner = store.codes.get(code)
  if (owner !== undefined) return owner === account ? 'already' : 'taken'
  store.codes.set(code, account)
  store.addresses.add(code)
  setCodes(store, account, (codes) => [...codes, code])
  return 'assigned'
}

function setCodes(
  store: MemoryStore,
  id: AccountId,
  change: (codes: readonly SenderAddress[]) => readonly SenderAddress[],
): void {
  const row = store.accounts.get(id)
  if (row !== undefined) row.account = { ...row.account, shortCodes: change(row.account.shortCodes) }
}
