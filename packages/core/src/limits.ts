/** Limits of all interfaces (spec 8). An interface defines limits of its own in its app. */
export const limits = {
  /** Maximum length of a text in GSM 7-bit septets (spec 8; ruling 1.5). */
  septetsMax: 918,
  /** Days for which the status of a message is reported (spec 8). */
  statusDays: 90,
  /** Days for which replies and short code messages are returned (spec 8). */
  inboxDays: 90,
} as const
