import { routeNumberOf, type Msisdn, type Order, type PublishedRoute, type Routes } from '@gateway/core'
import type { PlacedOrder, SenderOf } from '../messages/lay-out.ts'
import type { SenderNumbers } from '../senders/sender-numbers.ts'

/** Finds the route of each message of an order. Without routes it costs one look at what is remembered. */
export function placeWith(routes: Pick<Routes, 'list'>, senders: SenderNumbers) {
  async function addressBy(order: Order, senderOf: SenderOf, published: readonly PublishedRoute[]) {
    const [first] = order.senders
    if (order.senders.length === 1 || published.every((route) => route.senders.length === 0)) return () => first
    const numbers = new Set(order.texts.flatMap(({ to }) => to.map(({ number }) => senderOf(number))))
    const addresses = await senders.addressesOf(numbers)
    return (number: Msisdn) => addresses.get(senderOf(number))
  }

  let known: readonly PublishedRoute[] | undefined

  /** While the database is away those that were read last are good enough: what waits in a route of before is moved. */
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
    if (published.length === 0) return { order, senderOf }
    const { account } = order
    const addressOf = await addressBy(order, senderOf, published)
    return { order, senderOf, routeOf: (to) => routeNumberOf(published, { account, from: addressOf(to), to }) }
  }
}
