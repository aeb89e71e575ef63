import { strict as assert } from 'node:assert'
import {
  accountId,
  carrierId,
  messageId,
  type AccountId,
  type CarrierId,
  type DispatcherId,
  type ClaimedBatchId,
  type KeyId,
  type MessageId,
  type PasswordHash,
} from '@gateway/core'

/** Throws if it is no id of a message. */
export const aMessageId = (id: number): MessageId => messageId(id) ?? assert.fail(`no id of a message: ${id}`)

/** Throws if it is no id of an account. */
export const anAccountId = (id: number): AccountId => accountId(id) ?? assert.fail(`no id of an account: ${id}`)

/** Throws if no carrier can have this name. */
export const aCarrierId = (name = 'sim'): CarrierId => carrierId(name) ?? assert.fail(`no name of a carrier: ${name}`)

export const aKeyId = (id: number): KeyId => id as KeyId
export const aDispatcherId = (id: number): DispatcherId => id as DispatcherId
export const aClaimedBatchId = (id: number): ClaimedBatchId => id as ClaimedBatchId

/** A hash that no password has. */
export const aPasswordHash = (text: string): PasswordHash => text as PasswordHash
