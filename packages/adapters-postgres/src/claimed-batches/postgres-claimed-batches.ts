import type {
  CarrierId,
  ClaimedBatchId,
  ClaimedBatches,
  ClaimedMessage,
  DispatcherId,
  Repeatable,
  Settled,
} from '@gateway/core/dispatch'
import { senderOver, type MessageId } from '@gateway/core/messages'
import type { QueueNumber } from '@gateway/core/routes'
import { retryOnConnectionLoss } from '../retry-on-connection-loss.ts'
import type { Context } from '../context.ts'
import { disownUnknown, recover as recoverStatement, retire as retireStatement } from '../sql/batches.ts'
import { expire } from '../sql/due.ts'
import { giveBack as giveBackStatement } from '../sql/batches.ts'
import { mark } from '../sql/record.ts'
import { postpone as postponeStatement } from '../sql/batches.ts'
import { promote as promoteStatement } from '../sql/due.ts'
import { queuesWithWork } from '../sql/claim.ts'
import { foldScheduled } from '../sql/scheduled.ts'
import { extend, register } from '../sql/batches.ts'
import { settle as settleStatement } from '../sql/batches.ts'
import { createClaims } from './claim.ts'
import { createKnownBatches } from './known-batches.ts'
import { LANE } from '../stored-codes.ts'
import { createRecord } from './record.ts'
import { claimedMessages, sendersOf } from './claimed-messages.ts'
import { lockRepetitions, takeRepeatable as takeRepeatableStatement } from '../sql/repeatable.ts'

/** Maximum number of accounts that one promotion of scheduled messages reads. */
const promotedAccountsMax = 256
/**
 * Maximum number of recorded changes that are added to the counts after each promotion. A promotion and the accepts
 * before it record fewer changes than this, so that changes do not accumulate.
 */
const foldedMax = 5000
const everyAccount = { fromAccount: 1, toAccount: 2 ** 31 - 1, changesMax: foldedMax }

/**
 * Implements the port of dispatchers. If a connection breaks before an answer, each call looks up the result or runs
 * its statement again.
 */
export function postgresClaimedBatches(context: Context, sleepers: Pick<ClaimedBatches, 'sleeper'>): ClaimedBatches {
  const { hot, ordinary } = context.pools
  const batches = createKnownBatches(hot)
  const { claim, giveBackFailedClaims } = createClaims(context, batches)
  let promoteCursor = 0

  /** Continues the walk over the accounts until some ranges have moved or all accounts were read. */
  async function promote(rangesMax: number): Promise<number> {
    for (let fromStart = promoteCursor === 0; ;) {
      const values = { after: promoteCursor, accountsMax: Math.min(promotedAccountsMax, rangesMax), rangesMax }
      const [row] = await retryOnConnectionLoss(hot, promoteStatement, values)
      const { cursor, moved } = row ?? { cursor: 0, moved: 0 }
      promoteCursor = cursor
      if (moved > 0) await retryOnConnectionLoss(ordinary, foldScheduled, everyAccount)
      if (moved > 0 || (cursor === 0 && fromStart)) return moved
      fromStart ||= cursor === 0
    }
  }

  /** Throws if the answer of the database is lost; the messages then wait until their next repetition. */
  async function takeRepeatable(name: CarrierId, selection: Repeatable): Promise<readonly ClaimedMessage[]> {
    const carrier = await context.carrierNumber(name)
    const rows = await ordinary.transaction(async (connection) => {
      await connection.run(lockRepetitions, {})
      return connection.run(takeRepeatableStatement, { carrier, ...selection })
    })
    if (rows.length === 0) return []
    const allowed = await context.allowedSenders()
    const addresses = await context.senders.addressesOf(sendersOf(rows))
    return claimedMessages(rows, addresses, (account, from) => senderOver(name, allowed.get(account) ?? [], from))
  }

  async function settle(dispatcher: DispatcherId, batch: ClaimedBatchId, settled: readonly Settled[]) {
    const ids = settled.map(({ id }) => id)
    const codes = settled.map(({ code }) => code)
    const values = { dispatcher, batch, ids, codes }
    const [row] = await retryOnConnectionLoss(hot, settleStatement, values)
    if (batches.isFenced(dispatcher, batch, row)) return 'fenced'
    await batches.leave(dispatcher, batch, ids)
    return 'settled'
  }

  async function postpone(
    dispatcher: DispatcherId,
    batch: ClaimedBatchId,
    ids: readonly MessageId[],
    seconds: number,
    queue?: QueueNumber,
  ) {
    let answersLost = 0
    const values = { dispatcher, batch, ids, waitSeconds: seconds, queue }
    const [row] = await retryOnConnectionLoss(hot, postponeStatement, values, () => answersLost++)
    // After a lost answer, an earlier run may have postponed the messages before another dispatcher recovered the
    // batch, so the batch does not count as fenced.
    if (answersLost === 0 && batches.isFenced(dispatcher, batch, row)) return 'fenced'
    await batches.leave(dispatcher, batch, ids)
    return 'postponed'
  }

  async function giveBack(dispatcher: DispatcherId, batch: ClaimedBatchId, ids: readonly MessageId[]) {
    const [row] = await retryOnConnectionLoss(hot, giveBackStatement, { dispatcher, batch, ids })
    if (batches.isFenced(dispatcher, batch, row)) return 'fenced'
    await batches.leave(dispatcher, batch, ids)
    return 'given-back'
  }

  return {
    sleeper: (wake) => sleepers.sleeper(wake),
    claim,
    promote,
    settle,
    takeRepeatable,
    postpone,
    giveBack,
    queuesWithWork: async (lane, queues) => {
      const rows = await retryOnConnectionLoss(hot, queuesWithWork, { lane: LANE[lane], queues })
      const found = new Set(rows.map(({ queue }) => queue))
      return queues.filter((queue) => found.has(queue))
    },
    record: createRecord(context, batches),
    register: async (leaseSeconds, version, place) => {
      const values = { leaseSeconds, version, host: place?.host, pid: place?.pid }
      const [row] = await retryOnConnectionLoss(hot, register, values)
      if (row === undefined) throw new Error('registering a dispatcher returned no id')
      return row.id
    },
    extend: async (dispatcher, leaseSeconds) => {
      const rows = await retryOnConnectionLoss(hot, extend, { dispatcher, leaseSeconds })
      if (rows.length > 0) return 'alive'
      batches.dropAll(dispatcher)
      return 'fenced'
    },
    retire: async (dispatcher) => {
      await giveBackFailedClaims(dispatcher)
      await retryOnConnectionLoss(hot, retireStatement, { dispatcher })
      batches.dropAll(dispatcher)
    },
    disown: async (dispatcher, known) => {
      await giveBackFailedClaims(dispatcher)
      await retryOnConnectionLoss(hot, disownUnknown, { dispatcher, known })
    },
    mark: async (dispatcher, batch, upTo) => {
      const rows = await retryOnConnectionLoss(hot, mark, { dispatcher, batch, upTo })
      return rows.length > 0 ? 'marked' : 'fenced'
    },
    recover: async () => {
      const [{ requeued, unknown } = { requeued: 0, unknown: 0 }] = await retryOnConnectionLoss(
        hot,
        recoverStatement,
        {},
      )
      return { requeued, unknown }
    },
    expire: async (validitySeconds, rangesMax) => {
      const [row] = await retryOnConnectionLoss(hot, expire, { validitySeconds, rangesMax })
      return row?.expired ?? 0
    },
  }
}
