import { OUTCOME, type OutcomeCode } from '@gateway/core/messages'
import { MESSAGE_STATE } from '@gateway/smpp'

const STATES = {
  [OUTCOME.delivered]: MESSAGE_STATE.DELIVERED,
  [OUTCOME.sent]: MESSAGE_STATE.ENROUTE,
  [OUTCOME.expired]: MESSAGE_STATE.EXPIRED,
  [OUTCOME.cancelled]: MESSAGE_STATE.DELETED,
  [OUTCOME.undeliverable]: MESSAGE_STATE.UNDELIVERABLE,
  [OUTCOME.underWay]: MESSAGE_STATE.ENROUTE,
  [OUTCOME.unknown]: MESSAGE_STATE.UNKNOWN,
  [OUTCOME.rejected]: MESSAGE_STATE.REJECTED,
  [OUTCOME.refused]: MESSAGE_STATE.REJECTED,
  [OUTCOME.insufficientCredits]: MESSAGE_STATE.REJECTED,
  [OUTCOME.accountLocked]: MESSAGE_STATE.REJECTED,
  [OUTCOME.tooLong]: MESSAGE_STATE.REJECTED,
  [OUTCOME.optedOut]: MESSAGE_STATE.REJECTED,
  [OUTCOME.failed]: MESSAGE_STATE.REJECTED,
  [OUTCOME.blacklisted]: MESSAGE_STATE.REJECTED,
} as const satisfies Record<OutcomeCode, number>

/**
 * Returns the message_state (SMPP 3.4, 5.2.28) of an outcome. A failure without a reason is UNDELIVERABLE if a carrier
 * may have had the message, and REJECTED otherwise.
 */
export const messageState = (code: OutcomeCode, isAccepted: boolean): number =>
  code === OUTCOME.failed && isAccepted ? MESSAGE_STATE.UNDELIVERABLE : STATES[code]
