import { readCallback, unreadRecords, type CallbackRequest } from '@gateway/adapters-http'
import type { Processing } from '@gateway/core'
import type { CallbackCarrier } from './callback-carriers.ts'

/** Use cases that store what arrives in callbacks. */
export type CallbackStore = Pick<Processing, 'acceptReceipts' | 'acceptInboundMessages' | 'acceptUnread'>

/** Use cases that store callbacks, whose results are not used. */
export type StoringCallbacks = {
  readonly [Name in keyof CallbackStore]: (...parameters: Parameters<CallbackStore[Name]>) => Promise<unknown>
}

/**
 * Reads a verified callback and stores its entries. Resolves after the commits (P-7). After a failure the provider
 * sends the callback again; receipts and messages that are already stored are then not stored twice. Entries that
 * cannot be read have no id by which a repetition could be detected, so they are stored last.
 */
export async function storeCallback(
  store: StoringCallbacks,
  { id, account }: CallbackCarrier,
  request: CallbackRequest,
): Promise<void> {
  const read = readCallback(account, request)
  const receipts = read.receipts.map(({ reference, ownId, isOfPart, code, number, price }) => ({
    ...{ reference, ownId, isOfPart, code, number, price, submitted: undefined },
  }))
  const messages = read.messages.map((message) => ({ ...message, offer: undefined }))
  const unread = unreadRecords(read, request)
  if (receipts.length > 0) await store.acceptReceipts(id, receipts)
  if (messages.length > 0) await store.acceptInboundMessages(id, messages)
  if (unread.length > 0) await store.acceptUnread(id, unread)
}
