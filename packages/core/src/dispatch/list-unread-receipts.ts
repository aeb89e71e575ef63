import type { CarrierId } from './carrier-id.ts'
import type { DeliveryReceipts } from './delivery-receipts.ts'
import type { StoredUnreadReceipt, UnreadReceiptId } from './unread-receipt.ts'

const pageMax = 500

/** Yields all unread deliveries, the oldest first, read in pages. */
export const listUnreadReceipts = ({ deliveryReceipts }: { readonly deliveryReceipts: DeliveryReceipts }) =>
  async function* (carrier: CarrierId | undefined): AsyncIterable<StoredUnreadReceipt> {
    for (let after: UnreadReceiptId | undefined; ;) {
      const page = await deliveryReceipts.listUnread(after, pageMax, { carrier })
      yield* page
      after = page.at(-1)?.id
      if (after === undefined) return
    }
  }
