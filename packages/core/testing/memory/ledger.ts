import type { AccountId } from '@gateway/core/accounts'
import {
  initialAgeSeconds,
  type ClientRequest,
  type ClientRequests,
  type FirstAnswer,
} from '@gateway/core/client-requests'
import {
  credits,
  isPrice,
  minus,
  plus,
  type Credits,
  type Ledger,
  type LedgerCheck,
  type Movement,
  type Period,
  type Prices,
  type RefundByHand,
  type Refunded,
  type RefundRefusal,
  type Transfer,
  type TransferFailure,
} from '@gateway/core/credits'
import type { BulkSendId } from '@gateway/core/bulk-sends'
import { isAcceptedByCarrier, type MessageId } from '@gateway/core/messages'
import { secondsAfter, type Instant } from '@gateway/core/time'
import { balanceAfter, transferFailure, type Holder } from '../contracts/specification/accounts.ts'
import { isKept } from '../contracts/specification/messages.ts'
import { pageOfStatement } from '../contracts/specification/statement-page.ts'
import { atomic } from './atomic.ts'
import { enter, outcomeOf } from './decide.ts'
import type { AccountRow, ClientRequestRow } from './rows.ts'
import type { MemoryStore } from './store.ts'

export const memoryLedger = (store: MemoryStore): Ledger => ({
  balance: atomic((id) => store.accounts.get(id)?.balance),
  topUp: atomic((id, amount, why, now, operation) => {
    if (operation !== undefined && store.topUps.has(operation)) return 'repeated'
    const after = topUp(store, id, amount, why, now)
    if (operation !== undefined && typeof after === 'number') store.topUps.add(operation)
    return after
  }),
  refund: atomic((request, now) => refund(store, request, now)),
  check: atomic(() => check(store)),
  movements: (of, period) => movements(store, of, period),
  statement: (of, period) => inPieces(statementOf(store, of, period)),
  statementPage: atomic((of, period, _historyDays, place) =>
    pageOfStatement(statementOf(store, of, period), balanceBefore(store, of, period), place),
  ),
  transfer: atomic((order, now) => transfer(store, order, now)),
  transferOnce: atomic((order, now, request) => {
    if (keptRequest(store, request) !== undefined) return 'repeated'
    const result = transfer(store, order, now)
    if (result !== 'failed') keepAnswer(store, request, { text: result })
    return result
  }),
})

function topUp(store: MemoryStore, id: AccountId, amount: Credits, why: string, now: Instant) {
  const row = store.accounts.get(id)
  if (row === undefined) return 'no-such-account'
  if (balanceAfter(row.balance, amount) === undefined) return 'out-of-range'
  return enter(row, amount, { kind: 'top-up', why }, now)
}

function refund(store: MemoryStore, { message, why }: RefundByHand, now: Instant): Refunded | RefundRefusal {
  const row = store.messages.get(message)
  const account = row && store.accounts.get(row.send.account)
  if (row === undefined || account === undefined) return 'no-such-message'
  if (row.decision === undefined) return 'waiting'
  if (row.refund !== undefined || !isAcceptedByCarrier(outcomeOf(row.decision))) return 'refunded-already'
  if (row.cost === 0) return 'nothing-charged'
  row.refund = { at: now, why }
  const balance = enter(account, row.cost, { kind: 'refund-by-hand', message, why }, now)
  return { account: row.send.account, amount: row.cost, balance }
}

function transfer(store: MemoryStore, { from, to, amount }: Transfer, now: Instant): 'done' | TransferFailure {
  if (from === to || amount <= 0) throw new RangeError('a transfer needs a positive amount and two different accounts')
  const [sender, receiver] = [store.accounts.get(from), store.accounts.get(to)]
  if (sender === undefined || receiver === undefined) throw new Error(`no account ${sender ? to : from}`)
  const failure = transferFailure(holder(sender), holder(receiver), amount)
  if (failure !== undefined) return failure
  enter(sender, minus(credits(0), amount), { kind: 'transfer', account: to }, now)
  enter(receiver, amount, { kind: 'transfer', account: from }, now)
  return 'done'
}

const holder = ({ account, balance }: AccountRow): Holder => ({ locked: account.locked, balance })

const pieceMovements = 100

function movements(store: MemoryStore, of: AccountId | 'all', period: Period) {
  const ids = of === 'all' ? [...store.accounts.keys()].sort((a, b) => a - b) : [of]
  return inPieces(ids.flatMap((id) => movementsOf(store, id, period)))
}

// oxlint-disable-next-line typescript/require-await -- the port returns an async iterable
async function* inPieces(all: readonly Movement[]): AsyncIterable<readonly Movement[]> {
  for (let i = 0; i < all.length; i += pieceMovements) yield all.slice(i, i + pieceMovements)
}

function movementsOf(store: MemoryStore, account: AccountId, { from, to }: Period): readonly Movement[] {
  let balance = credits(0)
  return (store.accounts.get(account)?.entries ?? [])
    .toSorted((a, b) => a.at - b.at)
    .map((entry): Movement => ({ ...entry, account, balance: (balance = plus(balance, entry.amount)) }))
    .filter(({ at }) => (from === undefined || at >= from) && (to === undefined || at < to))
}

const balanceBefore = (store: MemoryStore, account: AccountId, { from }: Period): Credits =>
  (from === undefined ? undefined : movementsOf(store, account, { to: from }).at(-1)?.balance) ?? credits(0)

/** Returns the debits and refunds of each bulk send as one line, with recomputed balances. */
function statementOf(store: MemoryStore, account: AccountId, period: Period): readonly Movement[] {
  const lines = new Map<string, Movement>()
  const all = movementsOf(store, account, period)
  for (const [at, movement] of all.entries()) {
    const { cause } = movement
    const bulk = cause.kind === 'send' || cause.kind === 'refund' ? bulkSendOf(store, account, cause.first) : undefined
    const key = bulk === undefined ? `line ${at}` : `${cause.kind} ${bulk} ${'code' in cause ? cause.code : ''}`
    lines.set(key, joined(lines.get(key), movement, bulk))
  }
  let balance = minus(all[0]?.balance ?? credits(0), all[0]?.amount ?? credits(0))
  return [...lines.values()].map((line) => ({ ...line, balance: (balance = plus(balance, line.amount)) }))
}

function joined(line: Movement | undefined, movement: Movement, bulk: BulkSendId | undefined): Movement {
  const { cause } = movement
  if (line === undefined)
    return bulk === undefined ? movement : { ...movement, cause: { ...cause, bulk } as Movement['cause'] }
  const messages =
    line.cause.kind === 'send' && cause.kind === 'send' ? { messages: line.cause.messages + cause.messages } : {}
  return { ...line, amount: plus(line.amount, movement.amount), cause: { ...line.cause, ...messages } }
}

function bulkSendOf({ bulkSends }: MemoryStore, account: AccountId, first: MessageId | undefined) {
  if (first === undefined) return undefined
  for (const { send, calls } of bulkSends.values()) {
    const runs = calls.flatMap(({ ended }) => ended?.accepted ?? [])
    if (send.account === account && runs.some(([from, to]) => first >= from && first <= to)) return send.id
  }
  return undefined
}

function check(store: MemoryStore): LedgerCheck {
  const rows = [...store.accounts.values()].map(({ account, balance, entries }) => ({
    account: account.id,
    balance,
    entries: sum(entries.map(({ amount }) => amount)),
  }))
  return {
    accounts: rows.length,
    balances: sum(rows.map(({ balance }) => balance)),
    differences: rows.filter(({ balance, entries }) => balance !== entries),
  }
}

const sum = (amounts: readonly Credits[]): Credits => amounts.reduce(plus, credits(0))

export const memoryPrices = (store: MemoryStore): Prices => ({
  table: atomic(() => new Map(store.prices)),
  of: atomic((account) => {
    const own = store.accountPrices.get(account)
    return own === undefined || own.size === 0 ? undefined : new Map(own)
  }),
  set: atomic((prefix, price, of) => {
    if (!isPrice(price)) throw new RangeError(`not a price: ${price} tenths of a credit`)
    if (of !== undefined && !store.accounts.has(of)) throw new Error(`no account ${of}`)
    tableOf(store, of).set(prefix, price)
  }),
  remove: atomic((prefix, of) => tableOf(store, of).delete(prefix)),
})

function tableOf({ prices, accountPrices }: MemoryStore, of: AccountId | undefined): Map<string, Credits> {
  if (of === undefined) return prices
  const own = accountPrices.get(of) ?? new Map<string, Credits>()
  accountPrices.set(of, own)
  return own
}

export const memoryClientRequests = (store: MemoryStore): ClientRequests => ({
  find: atomic((request) => answerTo(request, keptRequest(store, request))),
  keep: atomic((request, answer) => {
    const row = keptRequest(store, request)
    if (row === undefined) keepAnswer(store, request, answer)
    return answerTo(request, row) ?? answer
  }),
})

export function keptRequest(store: MemoryStore, request: ClientRequest): ClientRequestRow | undefined {
  const row = store.clientRequests.get(keyOf(request))
  return row !== undefined && isKept(row.at, store.clock.now()) ? row : undefined
}

export function keepAnswer(store: MemoryStore, request: ClientRequest, answer: FirstAnswer): void {
  const at = secondsAfter(store.clock.now(), -initialAgeSeconds(request))
  store.clientRequests.set(keyOf(request), { canonical: request.canonical, answer, at })
}

const keyOf = ({ account, key }: ClientRequest): string => `${account} ${key}`

const answerTo = ({ canonical }: ClientRequest, row: ClientRequestRow | undefined) =>
  row === undefined || row.canonical === canonical ? row?.answer : 'another-request'
