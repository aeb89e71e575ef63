import {
  type DeliveryReceipts,
  unreadReceiptBounds,
  type StoredUnreadReceipt,
  type UnreadReceiptId,
} from '@gateway/core/dispatch'
import { atomic } from './atomic.ts'
import type { MemoryStore } from './store.ts'

export const memoryUnreadReceipts = (
  store: MemoryStore,
): Pick<DeliveryReceipts, 'storeUnread' | 'listUnread' | 'dropUnread'> => ({
  storeUnread: atomic((receipts) => {
    const at = store.clock.now()
    const rows = receipts.map((receipt): StoredUnreadReceipt => {
      const id = store.next('unread-receipt') as UnreadReceiptId
      return { ...receipt, id, at }
    })
    const last = rows.at(-1)?.id ?? 0
    const others = store.unreadReceipts.filter(({ id }) => id > last - unreadReceiptBounds.countMax)
    store.unreadReceipts = [...others, ...rows]
  }),
  listUnread: atomic((after, countMax, { carrier, since } = {}) =>
    store.unreadReceipts
      .filter((one) => one.id > (after ?? 0) && one.carrier === (carrier ?? one.carrier) && one.at >= (since ?? one.at))
      .slice(0, countMax),
  ),
  dropUnread: atomic((ids) => {
    store.unreadReceipts = store.unreadReceipts.filter(({ id }) => !ids.includes(id))
  }),
})
