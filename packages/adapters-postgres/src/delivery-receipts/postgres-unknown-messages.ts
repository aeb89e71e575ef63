import type { DeliveryReceipts } from '@gateway/core/dispatch'
import { senderOver } from '@gateway/core/messages'
import type { Context } from '../context.ts'
import { retryOnConnectionLoss } from '../retry-on-connection-loss.ts'
import { keepUnknownReferences, takeUnknownMessages } from '../sql/unknown-messages.ts'
import { storedReference } from './one-per-message.ts'

/**
 * Implements the store of unknown messages. If the answer to `takeUnknown` is lost, the references that it claimed are
 * never queried.
 */
export const postgresUnknownMessages = (context: Context): Pick<DeliveryReceipts, 'storeUnknown' | 'takeUnknown'> => ({
  async storeUnknown(name, references) {
    if (references.length === 0) return
    const { ordinary } = context.pools
    const carrier = await context.carrierNumber(name)
    const stored = references.map(storedReference)
    await retryOnConnectionLoss(ordinary, keepUnknownReferences, { carrier, references: stored })
  },
  async takeUnknown(name, bounds) {
    const carrier = await context.carrierNumber(name)
    const rows = await context.pools.ordinary.run(takeUnknownMessages, { carrier, ...bounds })
    if (rows.length === 0) return []
    const addresses = await context.senders.addressesOf(new Set(rows.map(({ sender }) => sender)))
    const allowed = await context.allowedSenders()
    return rows.map(({ reference, number, account, sender }) => {
      const own = addresses.get(sender)
      const { from } = senderOver(name, allowed.get(account) ?? [], own)
      return { reference, number, from }
    })
  },
})
