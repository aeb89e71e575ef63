import {
  unreadReceiptBounds,
  type KeptUnreadReceipt,
  type UnreadReceiptId,
  type UnreadReceipts,
} from '@gateway/core/dispatch'
import { atomic } from './atomic.ts'
import type { MemoryStore } from './store.ts'

export const memoryUnreadReceipts = (store: MemoryStore): UnreadReceipts => ({
  keep: atomic((receipts) => {
    const at = store.clock.now()
    const kept = receipts.map((receipt): KeptUnreadReceipt => {
      const id = store.next('unread-receipt') as UnreadReceiptId
      return { ...receipt, id, at }
    })
    const last = kept.at(-1)?.id ?? 0
    const others = store.unreadReceipts.filter(({ id }) => id > last - unreadReceiptBounds.countMax)
    store.unreadReceipts = [...others, ...kept]
  }),
  list: atomic((after, countMax, { carrier, since } = {}) =>
    store.unreadReceipts
      .filter((one) => one.id > (after ?? 0) && one.carrier === (carrier ?? one.carrier) && one.at >= (since ?? one.at))
      .slice(0, countMax),
  ),
  drop: atomic((ids) => {
    store.unreadReceipts = store.unreadReceipts.filter(({ id }) => !ids.includes(id))
  }),
})
