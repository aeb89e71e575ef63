import { may } from '../accounts/account.ts'
import { OUTCOME, type OutcomeCode } from '../messages/status-code.ts'
import { isExpired } from '../messages/send-options.ts'
import type { Instant } from '../time/instant.ts'
import type { ClaimedMessage, Handover, SettledCode } from './claimed-batches.ts'

/** Status codes for the answers of a carrier (ruling 1.16). */
export const handoverCode = {
  accepted: OUTCOME.sent,
  partly: OUTCOME.failed,
  refused: OUTCOME.refused,
  unknown: OUTCOME.unknown,
} as const satisfies Record<Handover['outcome'], OutcomeCode>

/**
 * Returns the code with which a claimed message ends without being submitted (ruling 1.13); undefined if it may be
 * submitted.
 */
export function screenAgain(message: ClaimedMessage, now: Instant, validitySeconds: number): SettledCode | undefined {
  if (isExpired(message, now, validitySeconds)) return OUTCOME.expired
  if (!may({ locked: message.accountLocked }, 'send')) return OUTCOME.accountLocked
  if (message.suppressions.has('blacklist')) return OUTCOME.blacklisted
  return message.suppressions.has('opt-out') && !message.confirmation ? OUTCOME.optedOut : undefined
}
