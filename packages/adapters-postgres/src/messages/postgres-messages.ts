import type { AccountId } from '@gateway/core/accounts'
import type { MessageId, Messages } from '@gateway/core/messages'
import type { Routes } from '@gateway/core/routes'
import { batcher } from '../batcher.ts'
import type { Context } from '../context.ts'
import { isLostAnswer, sqlState, type LostAnswer } from '../errors.ts'
import { orNothingDone, refuseWhileHeld } from '../write-health.ts'
import { decideOrders, type OrderAnswer } from './decide-orders.ts'
import { deleteScheduled, scheduled } from './scheduled.ts'
import { answersOf, answersToKeep, layOut, lookUpOutcome, sendsOf, storeSends, type OrderSends } from './sends.ts'
import { deletionsWithParts, withParts } from '../smpp-customers/statuses-of-parts.ts'
import { prepareOrders, type AcceptRequest, type WaitingOrder } from './waiting-orders.ts'

export function postgresMessages(context: Context, routes: Pick<Routes, 'list'>): Messages {
  const { pools, settings } = context
  const { hot, ordinary, writes } = pools
  const accept = acceptOrders(context, routes)
  let orders = 0
  let recipients = 0

  async function acceptWithinBounds(...request: AcceptRequest) {
    const [order] = request
    const weight = order.texts.reduce((sum, { to }) => sum + to.length, 0)
    if (orders >= settings.waitingOrdersMax || recipients >= settings.waitingRecipientsMax) return 'overloaded'
    orders++
    recipients += weight
    try {
      return await orNothingDone(writes, () => accept(...request))
    } finally {
      orders--
      recipients -= weight
    }
  }
  return {
    accept: (order) => acceptWithinBounds(order) as ReturnType<Messages['accept']>,
    acceptOnce: acceptWithinBounds,
    status: (by, ids, since) => withParts(hot, by, ids, since),
    scheduled: (by, page) => scheduled(ordinary, by, page),
    deleteScheduled: async (by, ids, since) => {
      refuseWhileHeld(writes)
      const remove = (of: readonly MessageId[]) => deleteScheduled(ordinary, settings.lookUpSeconds, by, of, since)
      return deletionsWithParts(hot, by, ids, remove)
    },
  }
}

/** Answers to orders, in their order. */
type Answers = readonly Promise<OrderAnswer>[]

/**
 * Limits for batches of many orders. In a statement for 32 orders, an order costs PostgreSQL 9 µs less than in one for
 * 16.
 */
const together = { inFlightMax: 2, jobsMax: 256, weightMax: 4000, gatherMs: 8 }
/** Orders with a key are gathered for longer, because they cost more and are fewer. */
const keyedTogether = { gatherMs: 20 }
/** Batches of orders that are decided under a lock are smaller, because each account has a transaction of its own. */
const underLock = { inFlightMax: 2, jobsMax: 32, weightMax: 4000 }
const lossesMax = 3

/**
 * Accepts orders, many in one statement. Orders that arrive while a statement runs go together into the next one. In
 * this way a single account reaches 41,600 orders a second. It reaches 4,300 with a statement for each order, and 1,470
 * with a locked row.
 *
 * Such a statement charges either all orders of an account or none. Orders that were not charged go to a second line,
 * which decides them under the lock of their account, so that accounts without credits do not delay the others. If one
 * order repeats a key, all orders of its account go there too. Orders with a key have a separate first line, so that
 * the other orders do not pay for their higher cost.
 */
function acceptOrders(
  { pools: { hot }, ids, senders, settings }: Context,
  routes: Pick<Routes, 'list'>,
): (...request: AcceptRequest) => Promise<OrderAnswer> {
  const weight = ({ costs }: WaitingOrder) => costs.length
  const firstLine = batcher<WaitingOrder, OrderAnswer>({ ...together, weight, run: acceptTogether })
  const keyedLine = batcher<WaitingOrder, OrderAnswer>({ ...together, ...keyedTogether, weight, run: acceptTogether })
  const secondLine = batcher<WaitingOrder, OrderAnswer>({ ...underLock, weight, run: decideByAccount })
  const begin = (order: WaitingOrder) => (order.repeatable === undefined ? firstLine : keyedLine).add(order)

  const prepare = prepareOrders(hot, senders, routes)

  async function acceptTogether(orders: readonly WaitingOrder[]): Promise<Answers> {
    await Promise.all(orders.map(async (order) => (order.ranges = await ids.take(order.costs.length))))
    const laidOut = orders.map((order) => layOut(order, order.ranges))
    try {
      const answers = answersOf(laidOut, await storeSends(hot, sendsOf(laidOut), answersToKeep(orders, laidOut)))
      return orders.map((order, i) => settled(() => answers[i] ?? secondLine.add(order)))
    } catch (error) {
      if (isLostAnswer(error)) return afterLoss(error, orders, laidOut)
      for (const { ranges } of orders) ids.giveBack(ranges)
      return canBeApart(error, orders)
        ? apart(orders, (order) => acceptTogether([order]))
        : orders.map(() => failed(error))
    }
  }

  async function decideByAccount(orders: readonly WaitingOrder[]): Promise<Answers> {
    const answers = new Map<WaitingOrder, Promise<OrderAnswer>>()
    for (const [account, ofAccount] of byAccount(orders)) {
      const decided = await decide(account, ofAccount).catch((error: unknown) => ofAccount.map(() => failed(error)))
      for (const [i, order] of ofAccount.entries()) answers.set(order, decided[i] ?? undecided())
    }
    return orders.map((order) => answers.get(order) ?? undecided())
  }

  async function decide(account: AccountId, orders: readonly WaitingOrder[]): Promise<Answers> {
    const decision = await decideOrders(hot, account, orders).catch((error: unknown) => ({ error }))
    if ('lost' in decision) return afterLoss(decision.lost, orders, decision.laidOut)
    if ('answers' in decision) {
      ids.giveBack(decision.unused)
      return orders.map((_, i) => settled(() => decision.answers[i] ?? undecided()))
    }
    if (canBeApart(decision.error, orders)) return apart(orders, (order) => decide(account, [order]))
    for (const { ranges } of orders) ids.giveBack(ranges)
    return orders.map(() => failed(decision.error))
  }

  /** Looks up which orders were stored. They are accepted; the others are tried again with new ids. */
  async function afterLoss(
    lost: LostAnswer,
    orders: readonly WaitingOrder[],
    laidOut: readonly OrderSends[],
  ): Promise<Answers> {
    const { stored, balances } = await lookUpOutcome(hot, lost, sendsOf(laidOut), settings.lookUpSeconds)
    const isStored = ({ sends: [first] }: OrderSends) => first !== undefined && stored.has(first.firstId)
    const answers = answersOf(
      laidOut.map((laid) => (isStored(laid) ? laid : { ...laid, sends: [] })),
      balances,
    )
    return orders.map((order, i) =>
      settled(() => {
        const laid = laidOut[i]
        // A stored order with a key is reported as repeated, because the response stored under its key has the balance
        // right after the order.
        if (laid !== undefined && isStored(laid)) return order.repeatable ? 'repeated' : (answers[i] ?? undecided())
        if (order.losses === lossesMax) throw lost
        order.losses++
        return begin(order)
      }),
    )
  }
  return async (...request) => begin(await prepare(...request))
}

/**
 * Returns true if one of several orders may have caused the error. SQLSTATE classes 22 and 23 mean that the database
 * rejects a value. 55P03 means that another transaction has locked an account.
 */
const canBeApart = (error: unknown, orders: readonly WaitingOrder[]): boolean =>
  orders.length > 1 && /^(?:22|23|55P03)/.test(sqlState(error) ?? '')

/** Runs orders one after the other, so that the error of one does not fail the others. */
async function apart<J>(orders: readonly J[], run: (order: J) => Promise<Answers>): Promise<Answers> {
  const answers: Promise<OrderAnswer>[] = []
  for (const order of orders) {
    const [answer] = await run(order).catch((error: unknown) => [failed(error)])
    answers.push(answer ?? undecided())
  }
  return answers
}

function byAccount(orders: readonly WaitingOrder[]): ReadonlyMap<AccountId, readonly WaitingOrder[]> {
  const groups = new Map<AccountId, WaitingOrder[]>()
  for (const order of orders) {
    const { account } = order
    const group = groups.get(account) ?? []
    groups.set(account, group)
    group.push(order)
  }
  return groups
}

/** Returns a promise that may reject before a handler is attached, without ending the process. */
function settled(make: () => OrderAnswer | Promise<OrderAnswer>): Promise<OrderAnswer> {
  const promise = (async () => make())()
  promise.catch(() => undefined)
  return promise
}

const failed = (error: unknown): Promise<OrderAnswer> =>
  settled(() => {
    throw error instanceof Error ? error : new Error('an order failed', { cause: error })
  })

const undecided = (): Promise<OrderAnswer> => failed(new Error('an order got no decision'))
