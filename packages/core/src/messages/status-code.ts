/**
 * Outcomes of messages that were handed to a carrier or decided without one (spec 3, status codes; ruling 1.16).
 * Waiting messages and unknown ids have none. 201 and 211 occur only for parts that a customer submitted over SMPP and
 * whose text was refused when it was whole (ruling 5.2).
 */
export const OUTCOME = {
  delivered: 0,
  sent: 100,
  expired: 101,
  cancelled: 102,
  undeliverable: 103,
  underWay: 105,
  unknown: 106,
  rejected: 107,
  refused: 111,
  insufficientCredits: 201,
  accountLocked: 202,
  tooLong: 211,
  optedOut: 212,
  failed: 213,
  blacklisted: 214,
} as const

export type OutcomeCode = (typeof OUTCOME)[keyof typeof OUTCOME]

const CODES: ReadonlySet<number> = new Set(Object.values(OUTCOME))

export const outcomeCode = (value: number): OutcomeCode | undefined =>
  CODES.has(value) ? (value as OutcomeCode) : undefined

/** Returns true for a final code. Only the other codes may still change (P-7). */
export const isFinal = (code: OutcomeCode): boolean =>
  code !== OUTCOME.sent && code !== OUTCOME.underWay && code !== OUTCOME.unknown

/** Codes that may still change, for stores. */
export const changeableCodes: readonly OutcomeCode[] = Object.values(OUTCOME).filter((code) => !isFinal(code))

/** Returns the state under which the interfaces show a code (ruling 1.16). */
export const stateOf = (code: OutcomeCode): 'delivered' | 'sent' | 'failed' => {
  if (code === OUTCOME.delivered) return 'delivered'
  return isFinal(code) ? 'failed' : 'sent'
}
