import { randomUUID } from 'node:crypto'
import type { AccountId } from '@gateway/core/accounts'
import type { ClientRequest } from '@gateway/core/client-requests'
import {
  credits,
  type Credits,
  type Ledger,
  type LedgerCheck,
  type Movement,
  type Period,
  type RefundByHand,
  type Refunded,
  type RefundRefusal,
  type Transfer,
  type TransferFailure,
} from '@gateway/core/credits'
import type { Instant } from '@gateway/core/time'
import { askedDigest, keyDigest } from '../client-requests/postgres-client-requests.ts'
import type { Connections } from '../connections.ts'
import type { Context } from '../context.ts'
import { isLostAnswer, isTaken } from '../errors.ts'
import { refuseWhileHeld } from '../write-health.ts'
import { settleLostStatement } from '../settle-lost-statement.ts'
import {
  findOperation,
  findRefund,
  checkLedger,
  enterCredits,
  balanceBeforeMovements,
  beginMovements,
  listMovements,
  type MovementRow,
  refundMessage as refund,
  transfer,
} from '../sql/credits.ts'
import type { ValuesOf } from '../sql/statement.ts'
import { listBulkRuns } from '../sql/bulk-sends.ts'
import { causeOf } from './cause-of-movement.ts'
import { addToGroup, groupOf, type StatementGroup } from './statement-groups.ts'
import { statementPage } from './statement-page.ts'

export function postgresLedger(context: Context): Ledger {
  const { ordinary, kysely } = context.pools

  async function balance(id: AccountId): Promise<Credits | undefined> {
    const row = await kysely.selectFrom('account').select('balance').where('id', '=', id).executeTakeFirst()
    return row?.balance
  }

  async function topUp(id: AccountId, amount: Credits, why: string, now: Instant, operation?: string) {
    const done = ordinary.run(enterCredits, { account: id, amount, why, at: now, operation })
    const rows = await done.catch((error: unknown) => {
      if (isTaken(error, 'ledger_top_up')) return 'repeated' as const
      throw error
    })
    if (rows === 'repeated') return rows
    const [row] = rows
    if (row !== undefined) return row.balance
    return (await balance(id)) === undefined ? 'no-such-account' : 'out-of-range'
  }

  async function check(): Promise<LedgerCheck> {
    const rows = await ordinary.run(checkLedger, {})
    const differences = rows.flatMap(({ id, balance, entries }) =>
      id === null ? [] : [{ account: id, balance, entries }],
    )
    return { accounts: rows[0]?.accounts ?? 0, balances: rows[0]?.balances ?? credits(0), differences }
  }
  return {
    balance,
    topUp,
    check,
    refund: (refund, now) => refundMessage(context, refund, now),
    movements: (of, period, historyDays) => movements(context.pools, of, period, historyDays),
    statement: (of, period, historyDays) => statementOf(ordinary, of, period, historyDays),
    statementPage: (of, period, historyDays, place) => statementPage(ordinary, of, period, historyDays, place),
    transfer: (transfer, now) => transferCredits(context, transfer, now) as ReturnType<Ledger['transfer']>,
    transferOnce: (transfer, now, request) => transferCredits(context, transfer, now, request),
  }
}

/** Number of lost answers after which a change is no longer tried again. */
const lossesMax = 3

/**
 * Transfers credits with one statement. If its answer is lost, looks up whether its ledger entries exist, and runs it
 * again if not.
 */
async function transferCredits(
  { pools: { ordinary, writes }, settings, log }: Context,
  { from, to, amount }: Transfer,
  now: Instant,
  request?: ClientRequest,
): Promise<'done' | TransferFailure | 'repeated'> {
  if (from === to || amount <= 0) throw new RangeError('a transfer needs a positive amount and two different accounts')
  refuseWhileHeld(writes)
  const operation = randomUUID()
  const values = {
    from,
    to,
    amount,
    at: now,
    operation,
    asker: request?.account,
    key: request && keyDigest(request),
    digest: request && askedDigest(request),
  }

  for (let losses = 0; ; losses++) {
    const attempt = ordinary.run(transfer, values)
    const result = await attempt.catch((error: unknown) => ({ error }))
    if (!('error' in result)) {
      const [row] = result
      if (row?.result) return row.result
      throw new Error(`transfer: account ${from} or ${to} does not exist`)
    }
    const { error } = result
    const look = () => ordinary.run(findOperation, { account: from, operation })
    if (isLostAnswer(error)) {
      if ((await settleLostStatement(ordinary, error, settings.lookUpSeconds, look)).length > 0) return 'done'
      if (losses < lossesMax) continue
    }
    log.warn(`a transfer from account ${from} to ${to} failed: ${String(error)}`)
    // An earlier attempt of the same request may have transferred the credits; 'failed' would deny that.
    if (request !== undefined)
      throw new Error('whether the credits were transferred is unknown: the database does not answer', { cause: error })
    return 'failed'
  }
}

/**
 * Refunds a message with one statement. If its answer is lost, looks up whether its ledger entry exists, and runs it
 * again if not.
 */
async function refundMessage(
  { pools: { ordinary }, settings }: Context,
  { message, why }: RefundByHand,
  now: Instant,
): Promise<Refunded | RefundRefusal> {
  const operation = randomUUID()
  for (let losses = 0; ; losses++) {
    try {
      const [row] = await ordinary.run(refund, { message, why, at: now, operation })
      if (row === undefined || row.account === null || row.price === null) return 'no-such-message'
      const { account, amount, balance } = row
      if (amount !== null && balance !== null) return { account, amount, balance }
      if (!row.decided) return 'waiting'
      return row.price === 0 ? 'nothing-charged' : 'refunded-already'
    } catch (error) {
      if (!isLostAnswer(error)) throw error
      const look = () => ordinary.run(findRefund, { message, operation })
      const [found] = await settleLostStatement(ordinary, error, settings.lookUpSeconds, look)
      if (found !== undefined) return found
      if (losses === lossesMax) throw error
    }
  }
}

/** Maximum number of movements that one statement reads. */
const pageMovements = 1000
const accountsMax = 1000

/** Reads each page with a separate statement, so that a slow reader does not hold a connection (P-13). */
async function* movements(
  { ordinary, kysely }: Context['pools'],
  of: AccountId | 'all',
  period: Period,
  historyDays: number,
): AsyncIterable<readonly Movement[]> {
  const listed = await listedFrom(ordinary, period, historyDays)
  if (of === 'all') {
    for await (const ids of accountIds(kysely)) for (const id of ids) yield* movementsOf(ordinary, id, listed)
  } else yield* movementsOf(ordinary, of, listed)
}

async function listedFrom(ordinary: Connections, { from, to }: Period, historyDays: number): Promise<ListedMovements> {
  const [moment] = await ordinary.run(beginMovements, {})
  if (moment === undefined) throw new Error('reading the time of the ledger returned no row')
  return { from, to, historyDays, until: moment.time, entry: moment.entry }
}

/**
 * Reads the movements twice, both times as of one moment. The first pass sums the debits and refunds of each bulk send.
 * The second pass returns each sum in the place of its first movement. So memory grows with the number of bulk sends,
 * not with the number of movements.
 */
async function* statementOf(
  ordinary: Connections,
  account: AccountId,
  period: Period,
  historyDays: number,
): AsyncIterable<readonly Movement[]> {
  const listed = await listedFrom(ordinary, period, historyDays)
  const runs = await ordinary.run(listBulkRuns, { account })
  const groups = new Map<string, StatementGroup>()
  // Without bulk sends, each movement is a separate line, so that no first pass is needed.
  if (runs.length > 0)
    for await (const page of movementsOf(ordinary, account, listed))
      for (const movement of page) addToGroup(groups, runs, movement)
  let balance: number | undefined
  for await (const page of movementsOf(ordinary, account, listed)) {
    const lines: Movement[] = []
    for (const movement of page) {
      const key = groupOf(runs, movement)?.key
      const group = key === undefined ? undefined : groups.get(key)
      if (key !== undefined && group === undefined) continue
      if (key !== undefined) groups.delete(key)
      const line = group === undefined ? movement : group.line
      balance = (balance ?? movement.balance - movement.amount) + line.amount
      lines.push({ ...line, balance: credits(balance) })
    }
    if (lines.length > 0) yield lines
  }
}

async function* accountIds(kysely: Context['pools']['kysely']): AsyncIterable<readonly AccountId[]> {
  const page = kysely.selectFrom('account').select('id').orderBy('id').limit(accountsMax)
  for (let after: AccountId | undefined; ;) {
    const rows = await (after === undefined ? page : page.where('id', '>', after)).execute()
    const last = rows.at(-1)
    if (last === undefined) return
    yield rows.map(({ id }) => id)
    after = last.id
  }
}

type ListedMovements = Omit<ValuesOf<typeof listMovements>, 'account' | keyof Place | 'countMax'>

/**
 * Position after the pages read so far. They have all movements before `time`, and of the movements at `time` the
 * entries up to `entryId` and the sends up to `sendId`.
 */
type Place = Pick<ValuesOf<typeof listMovements>, 'time' | 'entryId' | 'sendId'>

const placeAfter = ({ time, part, id }: MovementRow): Place =>
  part === 0 ? { time, entryId: id, sendId: 0 } : { time, entryId: Number.MAX_SAFE_INTEGER, sendId: id }

/**
 * Reads the movements of one account. The balance before the first page cannot change any more, so that it may be read
 * after that page. The balances after the movements are calculated from it.
 */
async function* movementsOf(
  ordinary: Connections,
  account: AccountId,
  listed: ListedMovements,
): AsyncIterable<readonly Movement[]> {
  const { from, historyDays } = listed
  const start = from == null ? '-infinity' : new Date(from).toISOString()
  let place: Place = { time: start, entryId: 0, sendId: 0 }
  let balance: number | undefined
  for (;;) {
    const [page] = await ordinary.run(listMovements, { ...listed, account, ...place, countMax: pageMovements })
    if (page?.changed !== false) throw new Error('history was dropped while movements were listed; list them again')
    const last = page.rows.at(-1)
    if (last === undefined) return
    balance ??= (await ordinary.run(balanceBeforeMovements, { account, from, historyDays }))[0]?.balance ?? 0
    const before = balance
    balance = page.rows.reduce((sum, { amount }) => sum + amount, before)
    yield movementsIn(page.rows, account, before)
    if (page.rows.length < pageMovements) return
    place = placeAfter(last)
  }
}

function movementsIn(rows: readonly MovementRow[], account: AccountId, before: number): readonly Movement[] {
  let balance = before
  return rows.map((row) => {
    balance += row.amount
    return {
      account,
      at: row.at,
      amount: row.amount,
      balance: credits(balance),
      cause: causeOf(row),
    }
  })
}
