import type { Messages, Order } from '@gateway/core'
import type { Context } from '../context.ts'
import { acceptOrders } from './accept-orders.ts'
import { deleteScheduled, scheduled } from './scheduled.ts'
import { statuses } from './statuses.ts'

export function postgresMessages({ pools: { hot, ordinary }, settings, senders, ids }: Context): Messages {
  const accept = acceptOrders(hot, ids, senders, settings.lookUpSeconds)
  let orders = 0
  let recipients = 0

  async function acceptWithinBounds(order: Order) {
    const weight = order.texts.reduce((sum, { to }) => sum + to.length, 0)
    if (orders >= settings.waitingOrdersMax || recipients >= settings.waitingRecipientsMax) return 'overloaded'
    orders++
    recipients += weight
    try {
      return await accept(order)
    } finally {
      orders--
      recipients -= weight
    }
  }
  return {
    accept: acceptWithinBounds,
    status: (by, ids, since) => statuses(hot, by, ids, since),
    scheduled: (by, page) => scheduled(ordinary, by, page),
    deleteScheduled: (by, ids, since) => deleteScheduled(ordinary, settings.lookUpSeconds, by, ids, since),
  }
}
