/** Limits that hold on every interface (spec 8). Limits of one interface are in its app. */
export const limits = {
  /** GSM 7-bit septets of a text (spec 8; ruling 1.5). */
  septetsMax: 918,
  /** Days for which a status is given (spec 8). */
  statusDays: 90,
  /** Days for which replies and short code messages are returned (spec 8). */
  inboxDays: 90,
} as const
