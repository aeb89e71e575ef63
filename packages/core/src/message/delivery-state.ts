import type { KnownStatus, MessageStatus } from './messages.ts'
import { stateOf } from './status-code.ts'

/** What a sender wants to know before sending again: whether anything can still come of the message, and how it ended if not. */
export type DeliveryState = 'delivered' | 'waiting' | 'sent' | 'not-delivered' | 'not-sent' | 'not-found'

/** Whether anything is known of what became of it. */
export const hasOutcome = (status: MessageStatus): status is KnownStatus =>
  typeof status === 'object' && status.code !== 'waiting'

/**
 * The state of a message (ruling 2.7). Not delivered: a carrier took it and reported that it failed. Not sent: it was never handed
 * over, or refused on submission; so it cost nothing.
 */
export function deliveryState(status: MessageStatus): DeliveryState {
  if (!hasOutcome(status)) return status === 'not-found' ? 'not-found' : 'waiting'
  const state = stateOf(status.code)
  if (state !== 'failed') return state
  return status.taken ? 'not-delivered' : 'not-sent'
}
