import { may } from '../account/may.ts'
import { OUTCOME } from '../message/status-code.ts'
import type { ClaimedMessage, SettledCode } from './claimed-batches.ts'

/** Why a claimed message is not handed to a carrier after all (ruling 1.13); undefined: it is. */
export function screenAgain(message: ClaimedMessage): Exclude<SettledCode, 101> | undefined {
  if (!may({ locked: message.accountLocked }, 'send')) return OUTCOME.accountLocked
  if (message.suppressions.has('blacklist')) return OUTCOME.blacklisted
  if (message.suppressions.has('opt-out') && !message.confirmation) return OUTCOME.optedOut
  return undefined
}
