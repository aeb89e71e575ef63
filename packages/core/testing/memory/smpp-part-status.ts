import type { AccountId } from '@gateway/core/accounts'
import { credits } from '@gateway/core/credits'
import type { MessageId, MessageStatus } from '@gateway/core/messages'
import type { Instant } from '@gateway/core/time'
import type { MemoryStore } from './store.ts'

/** Returns the message with this id. For the id of a part of a joined text, returns the message of the text. */
export function messageOf(store: MemoryStore, id: MessageId): MessageId {
  const state = store.smppParts.get(id)?.state
  return typeof state === 'object' && 'message' in state ? state.message : id
}

/** Returns the status of a part that belongs to no message (rulings 5.1, 5.2). */
export function partStatus(
  store: MemoryStore,
  by: AccountId,
  id: MessageId,
  since: Instant,
): Exclude<MessageStatus, 'not-found'> | 'not-found' {
  const row = store.smppParts.get(id)
  if (row?.part.account !== by) return 'not-found'
  const { number } = row.part
  if (row.state === 'waiting') return { code: 'waiting', number, cost: credits(0) }
  if ('message' in row.state || row.at < since) return 'not-found'
  return { ...row.state, number, cost: credits(0), staysCharged: false }
}
