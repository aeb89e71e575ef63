import type { DeliveryReceipts } from '@gateway/core/dispatch'
import type { Context } from '../context.ts'
import { retryOnConnectionLoss } from '../retry-on-connection-loss.ts'
import { fromRow } from '../sql/statement.ts'
import { dropUnreadReceipts, keepUnreadReceipts, listUnreadReceipts } from '../sql/unread-receipts.ts'

/**
 * Implements the store of unread deliveries. If a connection breaks before an answer, each call runs its statement
 * again.
 */
export const postgresUnreadReceipts = ({
  pools: { ordinary },
}: Context): Pick<DeliveryReceipts, 'storeUnread' | 'listUnread' | 'dropUnread'> => ({
  async storeUnread(receipts) {
    if (receipts.length === 0) return
    await retryOnConnectionLoss(ordinary, keepUnreadReceipts, {
      carriers: receipts.map(({ carrier }) => carrier),
      references: receipts.map(({ reference }) => reference),
      numbers: receipts.map(({ number }) => number),
      texts: receipts.map(({ text }) => text),
      pdus: receipts.map(({ pdu }) => pdu),
      areMessages: receipts.map(({ isMessage }) => isMessage),
    })
  },
  listUnread: async (after, countMax, { carrier, since } = {}) => {
    const values = { after: after ?? 0, countMax, carrier, since }
    return (await retryOnConnectionLoss(ordinary, listUnreadReceipts, values)).map(fromRow)
  },
  async dropUnread(ids) {
    if (ids.length > 0) await retryOnConnectionLoss(ordinary, dropUnreadReceipts, { ids })
  },
})
