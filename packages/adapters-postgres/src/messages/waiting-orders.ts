import { initialAgeSeconds, type ClientRequest } from '@gateway/core/client-requests'
import type { Credits } from '@gateway/core/credits'
import {
  preferredBy,
  type AnswerDeadline,
  type AnswerDraft,
  type Order,
  type OrderedRecipient,
  type SenderAddress,
} from '@gateway/core/messages'
import { routeNumberOf, type PublishedRoute, type RouteNumber, type Routes } from '@gateway/core/routes'
import { askAboutNumbers } from '../batcher.ts'
import { askedDigest, keyDigest } from '../client-requests/postgres-client-requests.ts'
import type { Connections } from '../connections.ts'
import { retryOnConnectionLoss } from '../retry-on-connection-loss.ts'
import { numberOf, type SenderNumbers } from '../senders/sender-numbers.ts'
import { chooseSenders, chosenSenders } from '../sql/senders.ts'
import type { IdRange } from './message-ids.ts'

type Placed = Pick<OrderedRecipient, 'number' | 'from'>

/** Returns the `sender.id` of the address from which the message to a recipient is sent. */
export type SenderOf = (to: Placed) => number

/** Returns the route of the message to a recipient. */
export type RouteOf = (to: Placed) => RouteNumber

/** Sender address and route of each message of an order. */
export interface Placement {
  readonly senderOf: SenderOf
  /** Undefined if there are no routes. */
  readonly routeOf: RouteOf | undefined
}

/** Order that waits until it is stored or refused. */
export interface WaitingOrder extends Order, Placement {
  /** Costs of all recipients, in their order. */
  readonly costs: readonly Credits[]
  /** Undefined for an order without an idempotency key. */
  readonly repeatable: Repeatable | undefined
  /** Undefined: the caller waits as long as necessary. */
  readonly deadline: AnswerDeadline | undefined
  /** Ids for all recipients. New ones are leased for each attempt to store the order. */
  ranges: readonly IdRange[]
  /** Number of times that the answer to the statement was lost and the order turned out not to be stored. */
  losses: number
}

/** Data to store for a request with an idempotency key. */
export interface Repeatable {
  /** Digest of account and key, as `keyDigest` returns it. */
  readonly key: string
  /** Digest of the request, as `askedDigest` returns it. */
  readonly digest: string
  /** Result of `initialAgeSeconds`. */
  readonly ageSeconds: number
  readonly draft: AnswerDraft
}

/** Arguments of `Messages.acceptOnce`. `accept` has only the order. */
export type AcceptRequest = readonly [
  order: Order,
  request?: ClientRequest,
  draft?: AnswerDraft,
  deadline?: AnswerDeadline,
]

/** Largest value of a price column. */
const costMax = 2 ** 31 - 1

/**
 * Makes a function that prepares an order for storing: it finds the sender address and the route of each message.
 * Throws a RangeError for a cost that is negative, which would create credits, or too large to store, which would fail
 * other orders of the same statement.
 */
export function prepareOrders(
  hot: Connections,
  senders: SenderNumbers,
  routes: Pick<Routes, 'list'>,
): (...request: AcceptRequest) => Promise<WaitingOrder> {
  const choose = chooseFor(hot, senders)
  const findRoutes = routesFor(routes, senders)
  return async (order, request, draft, deadline) => {
    const costs = order.texts.flatMap(({ to }) => to.map(({ cost }) => cost))
    const invalid = costs.find((cost) => cost < 0 || cost > costMax)
    if (invalid !== undefined) throw new RangeError(`invalid cost of a message: ${invalid} tenths of a credit`)
    const senderOf = await choose(order)
    const routeOf = await findRoutes(order, senderOf)
    const repeatable = request && draft && repeatableOf(request, draft)
    // Listed one by one: a spread of the order costs 5 % of the CPU time of a single send.
    const { account, senders: addresses, texts, isConsecutive } = order
    return {
      account,
      senders: addresses,
      texts,
      isConsecutive,
      senderOf,
      routeOf,
      costs,
      repeatable,
      deadline,
      ranges: [],
      losses: 0,
    }
  }
}

const repeatableOf = (request: ClientRequest, draft: AnswerDraft): Repeatable => ({
  key: keyDigest(request),
  digest: askedDigest(request),
  ageSeconds: initialAgeSeconds(request),
  draft,
})

/**
 * Makes a function that chooses the sender address of each message of an order. Reads earlier choices first, for many
 * numbers at once, so that only a number to which the account has not sent before costs a commit.
 */
function chooseFor(hot: Connections, senders: SenderNumbers): (order: Order) => Promise<SenderOf> {
  const look = askAboutNumbers(async (accounts, numbers) => {
    const rows = await retryOnConnectionLoss(hot, chosenSenders, { accounts, numbers })
    return new Map(rows.map(({ place, sender }) => [place, sender]))
  })

  /** Cached results for orders with only one sender address, as most orders have. */
  const always = new Map<SenderAddress, SenderOf>()

  async function chooseFromPool({ account: by, senders: pool, texts }: Order): Promise<SenderOf> {
    const [first] = pool
    const known = pool.length === 1 && first !== undefined ? always.get(first) : undefined
    if (known !== undefined) return known
    const ids = await senders.numbersOf(new Set(pool))
    const offered = pool.map((address) => numberOf(ids, address))
    const [only] = offered
    if (first !== undefined && only !== undefined && offered.length === 1) {
      const senderOf = () => only
      always.set(first, senderOf)
      return senderOf
    }
    const ofPool = texts.flatMap(({ to }) => to.filter(({ from }) => from === undefined))
    const numbers = [...new Set(ofPool.map(({ number }) => number))]
    if (numbers.length === 0) return nobody
    const chosen = new Map(await look({ by, numbers }))
    const missing = numbers.filter((number) => !offered.includes(chosen.get(number) ?? 0))
    if (missing.length > 0) {
      const values = { account: by, numbers: missing, senders: preferredBy(by, offered) }
      for (const { number, sender } of await retryOnConnectionLoss(hot, chooseSenders, values)) {
        chosen.set(number, sender)
      }
    }
    return ({ number }) => chosen.get(number) ?? nobody()
  }

  return async (order) => {
    const isNamed = order.texts.some(({ to }) => to.some(({ from }) => from !== undefined))
    if (!isNamed) return chooseFromPool(order)
    const named = new Set(order.texts.flatMap(({ to }) => to.flatMap(({ from }) => from ?? [])))
    const [ids, others] = await Promise.all([senders.numbersOf(named), chooseFromPool(order)])
    return (recipient) => (recipient.from === undefined ? others(recipient) : numberOf(ids, recipient.from))
  }
}

function nobody(): never {
  throw new Error('no sender address was chosen for a message')
}

/**
 * Makes a function that finds the routes of the messages of an order. Returns undefined if there are no routes, after
 * only reading a cache.
 */
function routesFor(routes: Pick<Routes, 'list'>, senders: SenderNumbers) {
  async function addressBy(order: Order, senderOf: SenderOf, published: readonly PublishedRoute[]) {
    const [first] = order.senders
    const isOne = order.senders.length === 1 || published.every((route) => route.senders.length === 0)
    if (isOne) return ({ from = first }: Placed) => from
    const numbers = new Set(order.texts.flatMap(({ to }) => to.map(senderOf)))
    const addresses = await senders.addressesOf(numbers)
    return (to: Placed) => to.from ?? addresses.get(senderOf(to))
  }

  let known: readonly PublishedRoute[] | undefined

  /**
   * Reads the routes. While the database is unreachable, it returns the routes that were read last. Messages that are
   * then put into the queue of an outdated route are moved later.
   */
  async function read(): Promise<readonly PublishedRoute[]> {
    try {
      return (known = await routes.list())
    } catch (problem) {
      if (known === undefined) throw problem
      return known
    }
  }

  return async (order: Order, senderOf: SenderOf): Promise<RouteOf | undefined> => {
    const published = await read()
    if (published.length === 0) return undefined
    const { account } = order
    const addressOf = await addressBy(order, senderOf, published)
    return (to) => routeNumberOf(published, { account, from: addressOf(to), to: to.number })
  }
}
