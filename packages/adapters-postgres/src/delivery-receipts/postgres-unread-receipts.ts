import type { CarrierId, KeptUnreadReceipt, UnreadReceiptId, UnreadReceipts } from '@gateway/core/dispatch'
import type { Msisdn } from '@gateway/core/messages'
import { instant } from '@gateway/core/time'
import type { Context } from '../context.ts'
import { retryOnConnectionLoss } from '../retry-on-connection-loss.ts'
import {
  dropUnreadReceipts,
  keepUnreadReceipts,
  listUnreadReceipts,
  type UnreadReceiptRow,
} from '../sql/unread-receipts.ts'

/** Implements unread receipts. If a connection breaks before an answer, each call runs its statement again. */
export const postgresUnreadReceipts = ({ pools: { ordinary } }: Context): UnreadReceipts => ({
  async keep(receipts) {
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
  list: async (after = 0 as UnreadReceiptId, countMax, { carrier, since } = {}) =>
    (await retryOnConnectionLoss(ordinary, listUnreadReceipts, { after, countMax, carrier, since })).map(keptOf),
  async drop(ids) {
    if (ids.length > 0) await retryOnConnectionLoss(ordinary, dropUnreadReceipts, { ids })
  },
})

const keptOf = ({ id, carrier, reference, msisdn, text, pdu, isMessage, at }: UnreadReceiptRow): KeptUnreadReceipt => ({
  id: id as UnreadReceiptId,
  carrier: carrier as CarrierId,
  reference: reference ?? undefined,
  number: (msisdn ?? undefined) as Msisdn | undefined,
  ...{ text, pdu, isMessage },
  at: instant(at),
})
