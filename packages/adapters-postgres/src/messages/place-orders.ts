import { preferredBy, type Order, type OrderedRecipient, type SenderAddress } from '@gateway/core/messages'
import { routeNumberOf, type PublishedRoute, type RouteNumber, type Routes } from '@gateway/core/routes'
import { askAboutNumbers } from '../batcher.ts'
import type { Connections } from '../connections.ts'
import { retryOnConnectionLoss } from '../retry-on-connection-loss.ts'
import { numberOf, type SenderNumbers } from '../senders/sender-numbers.ts'
import { chooseSenders, chosenSenders } from '../sql/senders.ts'

type Placed = Pick<OrderedRecipient, 'number' | 'from'>

/** Returns the `sender.id` of the address from which the message to a recipient is sent. */
export type SenderOf = (to: Placed) => number

/** Returns the route of the message to a recipient. */
export type RouteOf = (to: Placed) => RouteNumber

/** Order with the sender address and the route of each message. */
export interface PlacedOrder extends Order {
  readonly senderOf: SenderOf
  /** Undefined if there are no routes. */
  readonly routeOf?: RouteOf | undefined
}

/** Makes a function that finds the sender address and the route of each message of an order. */
export function placeOrders(
  hot: Connections,
  senders: SenderNumbers,
  routes: Pick<Routes, 'list'>,
): (order: Order) => Promise<PlacedOrder> {
  const choose = chooseFor(hot, senders)
  const place = placeWith(routes, senders)
  return async (order) => place(order, await choose(order))
}

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

/** Makes a function that finds the route of each message of an order. Without routes it only reads a cache. */
function placeWith(routes: Pick<Routes, 'list'>, senders: SenderNumbers) {
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

  return async (order: Order, senderOf: SenderOf): Promise<PlacedOrder> => {
    const published = await read()
    if (published.length === 0) return { ...order, senderOf }
    const { account } = order
    const addressOf = await addressBy(order, senderOf, published)
    const routeOf = (to: Placed) => routeNumberOf(published, { account, from: addressOf(to), to: to.number })
    return { ...order, senderOf, routeOf }
  }
}
