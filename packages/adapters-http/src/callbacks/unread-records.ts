import { unreadRecord } from '@gateway/carrier-kit'
import type { UnreadReceipt } from '@gateway/core/dispatch'
import type { CallbackRequest } from './callback-request.ts'
import type { ReadCallback } from './read-callback.ts'

/** Returns the records to keep of the entries of a callback that could not be read. */
export const unreadRecords = (
  { unread }: Pick<ReadCallback, 'unread'>,
  { body }: Pick<CallbackRequest, 'body'>,
): readonly Omit<UnreadReceipt, 'carrier'>[] => unread.map((entry) => unreadRecord({ ...entry, octets: body }))
