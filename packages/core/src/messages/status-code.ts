/**
 * What became of a message that a carrier was asked to take, or that was decided without one (spec 3, status codes;
 * ruling 1.16). Waiting and unknown ids have no outcome.
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
  accountLocked: 202,
  optedOut: 212,
  failed: 213,
  blacklisted: 214,
} as const

export type OutcomeCode = (typeof OUTCOME)[keyof typeof OUTCOME]

const CODES: ReadonlySet<number> = new Set(Object.values(OUTCOME))

export const outcomeCode = (value: number): OutcomeCode | undefined =>
  CODES.has(value) ? (value as OutcomeCode) : undefined

/** Only these may still change; every other code is final (P-7). */
export const isFinal = (code: OutcomeCode): boolean =>
  code !== OUTCOME.sent && code !== OUTCOME.underWay && code !== OUTCOME.unknown

/** The codes that may still change, for stores. */
export const changeableCodes: readonly OutcomeCode[] = Object.values(OUTCOME).filter((code) => !isFinal(code))

/** How the interfaces group the codes (ruling 1.16). */
export const stateOf = (code: OutcomeCode): 'delivered' | 'sent' | 'failed' => {
  if (code === OUTCOME.delivered) return 'delivered'
  return isFinal(code) ? 'failed' : 'sent'
}
