/** The values of message_state (SMPP 3.4, 5.2.28). */
export const MESSAGE_STATE = {
  ENROUTE: 1,
  DELIVERED: 2,
  EXPIRED: 3,
  DELETED: 4,
  UNDELIVERABLE: 5,
  ACCEPTED: 6,
  UNKNOWN: 7,
  REJECTED: 8,
} as const

/** The name of a message_state in SMPP 3.4. */
export type MessageStateName = keyof typeof MESSAGE_STATE
