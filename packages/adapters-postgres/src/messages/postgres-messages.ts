import type { Messages, Routes } from '@gateway/core'
import type { Context } from '../context.ts'
import { orNothingDone, refuseWhileHeld } from '../nothing-done.ts'
import { acceptOrders, type Wanted } from './accept-orders.ts'
import { deleteScheduled, scheduled } from './scheduled.ts'
import { statuses } from './statuses.ts'

export function postgresMessages(
  { pools: { hot, ordinary, writes }, settings, senders, ids }: Context,
  routes: Pick<Routes, 'list'>,
): Messages {
  const accept = acceptOrders(hot, ids, senders, routes, settings.lookUpSeconds)
  let orders = 0
  let recipients = 0

  async function acceptWithinBounds(...wanted: Wanted) {
    const [order] = wanted
    const weight = order.texts.reduce((sum, { to }) => sum + to.length, 0)
    if (orders >= settings.waitingOrdersMax || recipients >= settings.waitingRecipientsMax) return 'overloaded'
    orders++
    recipients += weight
    try {
      return await orNothingDone(writes, () => accept(...wanted))
    } finally {
      orders--
      recipients -= weight
    }
  }
  return {
    accept: (order) => acceptWithinBounds(order) as ReturnType<Messages['accept']>,
    acceptOnce: acceptWithinBounds,
    status: (by, ids, since) => statuses(hot, by, ids, since),
    scheduled: (by, page) => scheduled(ordinary, by, page),
    deleteScheduled: async (by, ids, since) => {
      refuseWhileHeld(writes)
      return deleteScheduled(ordinary, settings.lookUpSeconds, by, ids, since)
    },
  }
}
