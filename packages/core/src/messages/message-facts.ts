import { credits, minus, plus, type Credits } from '../credits/credits.ts'
import type { Instant } from '../time/instant.ts'
import { withLabels, type KnownStatus, type MessageLabels, type MessageStatus } from './messages.ts'
import type { Msisdn } from './msisdn.ts'
import { OUTCOME, stateOf, type OutcomeCode } from './status-code.ts'

/** Facts of a message that its account may know. */
export interface MessageFacts {
  readonly number: Msisdn
  /** Charged credits. */
  readonly cost: Credits
  /** Scheduled time, or the time of acceptance if the message was to be sent at once. */
  readonly due: Instant
  /** Undefined while the message waits: scheduled, queued or claimed. */
  readonly outcome: Outcome | undefined
  readonly labels?: MessageLabels | undefined
}

export interface Outcome {
  readonly code: OutcomeCode
  /** Time at which the message reached this outcome. */
  readonly at: Instant
  /** True if the carrier returned a reference. */
  readonly hasReference: boolean
  /** True if an operator refunded the charge (`Ledger.refund`). */
  readonly isRefunded?: boolean
}

/**
 * Returns true if a time is in the future. A message whose time is not in the future is sent at once, as if it had no
 * time (spec 4.2, 4.3; ruling 2.4).
 */
export const isAhead = (due: Instant | undefined, now: Instant): due is Instant => due !== undefined && due > now

/**
 * Returns true if a carrier accepted, or may have accepted, the message or a part of it. Such a message stays charged.
 * Any other message with an outcome is refunded (ruling 1.4), also one that the carrier accepted and then ended because
 * the recipient has opted out there (ruling 6.2).
 */
export const isAcceptedByCarrier = ({ code, hasReference }: Pick<Outcome, 'code' | 'hasReference'>): boolean =>
  code === OUTCOME.unknown || (hasReference && code !== OUTCOME.optedOut)

/**
 * Returns true if a message was due before `since`, so that its status is no longer reported. A waiting message is
 * never too old (ruling 1.16).
 */
export const isTooOld = ({ due, outcome }: Pick<MessageFacts, 'due' | 'outcome'>, since: Instant): boolean =>
  outcome !== undefined && due < since

/** Returns the status of a message of the account (ruling 1.16). */
export function statusOf(message: MessageFacts, since: Instant): MessageStatus {
  const { number, cost, outcome, labels } = message
  if (outcome === undefined) return withLabels({ code: 'waiting' as const, number, cost }, labels)
  if (isTooOld(message, since)) return 'not-found'
  const { code, at } = outcome
  const staysCharged = isAcceptedByCarrier(outcome)
  const isCharged = (staysCharged && outcome.isRefunded !== true) || cost === 0
  if (isCharged) return withLabels({ code, at, number, cost, staysCharged }, labels)
  return withLabels({ code, at, number, cost: credits(0), returned: cost, staysCharged }, labels)
}

/** Credits of a send, as all pages, files, commands and documents show them. */
export interface SentCredits {
  /** Credits charged on acceptance. */
  readonly charged: Credits
  /** Credits returned since then: automatically if no carrier accepted the message, or by a decision of an operator. */
  readonly returned: Credits
  readonly net: Credits
}

export const sentCredits = (charged: Credits, returned: Credits): SentCredits => ({
  ...{ charged, returned },
  net: minus(charged, returned),
})

/** Returns the credits of a message with this status. A message that is not found counts as free. */
export function creditsOf(status: MessageStatus): SentCredits {
  if (status === 'not-found') return sentCredits(credits(0), credits(0))
  const returned = hasOutcome(status) ? (status.returned ?? credits(0)) : credits(0)
  return sentCredits(plus(status.cost, returned), returned)
}

/** Returns the result for a message of the account that cannot be deleted (ruling 1.15). */
export function undeletedOutcome(message: Pick<MessageFacts, 'due' | 'outcome'>, since: Instant): 'sent' | 'not-found' {
  const { outcome } = message
  const wasDeleted = outcome?.code === OUTCOME.cancelled && !isAcceptedByCarrier(outcome)
  return wasDeleted || isTooOld(message, since) ? 'not-found' : 'sent'
}

/** State that tells a sender whether to send again: how the message ended, or that it may still be delivered. */
export type DeliveryState = 'delivered' | 'waiting' | 'sent' | 'not-delivered' | 'not-sent' | 'not-found'

/** Returns true if the outcome of the message is known. */
export const hasOutcome = (status: MessageStatus): status is KnownStatus =>
  typeof status === 'object' && status.code !== 'waiting'

/**
 * Returns the state of a message (ruling 2.7). `not-delivered`: a carrier accepted the message and reported that it
 * failed. `not-sent`: the message was never handed over, or was refused on submission, so it cost nothing.
 */
export function deliveryState(status: MessageStatus): DeliveryState {
  if (!hasOutcome(status)) return status === 'not-found' ? 'not-found' : 'waiting'
  const state = stateOf(status.code)
  if (state !== 'failed') return state
  return status.staysCharged ? 'not-delivered' : 'not-sent'
}
