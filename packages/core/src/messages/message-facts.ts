import { credits, minus, plus, type Credits } from '../credits/credits.ts'
import type { Instant } from '../time/instant.ts'
import { withLabels, type KnownStatus, type MessageLabels, type MessageStatus } from './messages.ts'
import type { Msisdn } from './msisdn.ts'
import { OUTCOME, stateOf, type OutcomeCode } from './status-code.ts'

/** What an account may know of one of its messages. */
export interface MessageFacts extends MessageLabels {
  readonly number: Msisdn
  /** What was charged. */
  readonly cost: Credits
  /** When it was to be sent; when it was accepted, if that was to be at once. */
  readonly due: Instant
  /** Undefined: it waits, be it scheduled, queued or claimed. */
  readonly outcome: Outcome | undefined
}

export interface Outcome {
  readonly code: OutcomeCode
  /** When that state was reached. */
  readonly at: Instant
  /** Whether its carrier gave it a reference. */
  readonly hasReference: boolean
  /** Whether its charge was given back by hand (`Ledger.refund`). */
  readonly isRefunded?: boolean
}

/**
 * Whether a time is still to come. A message for a time that is not is sent at once, as if it had none (spec 4.2, 4.3;
 * ruling 2.4).
 */
export const isAhead = (due: Instant | undefined, now: Instant): due is Instant => due !== undefined && due > now

/**
 * Whether a carrier took a message, or part of it, or may have: it stays charged. Any other that is decided is refunded
 * (ruling 1.4).
 */
export const isTaken = ({ code, hasReference }: Pick<Outcome, 'code' | 'hasReference'>): boolean =>
  hasReference || code === OUTCOME.unknown

/** Whether it was due so long ago that nobody is told of it any more. What waits is never too old (ruling 1.16). */
export const isTooOld = ({ due, outcome }: Pick<MessageFacts, 'due' | 'outcome'>, since: Instant): boolean =>
  outcome !== undefined && due < since

/** What a status query tells of a message of the account (ruling 1.16). */
export function statusOf(message: MessageFacts, since: Instant): MessageStatus {
  const { number, cost, due: _due, outcome, ...labels } = message
  if (outcome === undefined) return withLabels({ code: 'waiting' as const, number, cost }, labels)
  if (isTooOld(message, since)) return 'not-found'
  const taken = isTaken(outcome)
  const isCharged = (taken && outcome.isRefunded !== true) || cost === 0
  const paid = isCharged ? { cost } : { cost: credits(0), returned: cost }
  return withLabels({ code: outcome.code, at: outcome.at, number, ...paid, taken }, labels)
}

/** The credits of something that was sent, in the words of all pages, files, commands and documents. */
export interface SentCredits {
  /** When it was accepted. */
  readonly charged: Credits
  /** Since then: by itself because no carrier took it, or by the operator. */
  readonly returned: Credits
  readonly net: Credits
}

export const sentCredits = (charged: Credits, returned: Credits): SentCredits => ({
  ...{ charged, returned },
  net: minus(charged, returned),
})

/** Credits of a message with this status. A message that is not found counts as free. */
export function creditsOf(status: MessageStatus): SentCredits {
  if (status === 'not-found') return sentCredits(credits(0), credits(0))
  const returned = hasOutcome(status) ? (status.returned ?? credits(0)) : credits(0)
  return sentCredits(plus(status.cost, returned), returned)
}

/** What is told of a message of the account that cannot be deleted (ruling 1.15). */
export function undeletedOutcome(message: Pick<MessageFacts, 'due' | 'outcome'>, since: Instant): 'sent' | 'not-found' {
  const { outcome } = message
  const wasDeleted = outcome?.code === OUTCOME.cancelled && !isTaken(outcome)
  return wasDeleted || isTooOld(message, since) ? 'not-found' : 'sent'
}

/**
 * What a sender wants to know before sending again: whether anything can still come of the message, and how it ended if
 * not.
 */
export type DeliveryState = 'delivered' | 'waiting' | 'sent' | 'not-delivered' | 'not-sent' | 'not-found'

/** Whether anything is known of what became of it. */
export const hasOutcome = (status: MessageStatus): status is KnownStatus =>
  typeof status === 'object' && status.code !== 'waiting'

/**
 * The state of a message (ruling 2.7). Not delivered: a carrier took it and reported that it failed. Not sent: it was
 * never handed over, or refused on submission; so it cost nothing.
 */
export function deliveryState(status: MessageStatus): DeliveryState {
  if (!hasOutcome(status)) return status === 'not-found' ? 'not-found' : 'waiting'
  const state = stateOf(status.code)
  if (state !== 'failed') return state
  return status.taken ? 'not-delivered' : 'not-sent'
}
