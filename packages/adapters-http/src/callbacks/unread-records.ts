import { unreadRecord } from '@gateway/carrier-kit'
import type { UnreadReceipt } from '@gateway/core/dispatch'
import type { CallbackRequest } from './callback-request.ts'
import type { ReadCallback } from './read-callback.ts'

/**
 * Returns the records to keep. One kind is for entries of a callback that could not be read. The other is for receipts
 * without the provider's reference, because their message cannot be found yet.
 */
export const unreadRecords = (
  { receipts, unread }: ReadCallback,
  { body }: Pick<CallbackRequest, 'body'>,
): readonly Omit<UnreadReceipt, 'carrier'>[] => [
  ...unread.map((entry) => unreadRecord({ ...entry, octets: body })),
  ...receipts
    .filter(({ reference }) => reference === undefined)
    .map((receipt) => unreadRecord({ number: receipt.number, text: JSON.stringify(receipt), octets: body })),
]
