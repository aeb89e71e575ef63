import { webhookEventTypes, type WebhookEventType } from '@gateway/core'

/**
 * How the tables write the types of events, and which bit of `webhook.events` is a type's. Codes are stored, also in the JSON of lists: one never
 * changes, and that of a type that is gone is not used again. A new type takes the next number, up to 30.
 */
export const EVENT_CODE = {
  'message.delivered': 0,
  'message.failed': 1,
  'message.unknown': 2,
  'message.sent': 3,
  'reply.received': 4,
  'shortcode.received': 5,
  'optout.added': 6,
  'optout.removed': 7,
  test: 8,
} as const satisfies Record<WebhookEventType | 'test', number>

const types = new Map(
  Object.entries(EVENT_CODE).map(([type, code]): [number, WebhookEventType | 'test'] => [
    code,
    type as keyof typeof EVENT_CODE,
  ]),
)

/** Undefined: another version wrote it, which knows more types. */
export const typeOfCode = (code: number): WebhookEventType | 'test' | undefined => types.get(code)

export const bitsOf = (wanted: readonly WebhookEventType[]): number =>
  wanted.reduce((bits, type) => bits | (1 << EVENT_CODE[type]), 0)

/** Without those that this version does not know. */
export const typesOf = (bits: number): readonly WebhookEventType[] =>
  webhookEventTypes.filter((type) => (bits & (1 << EVENT_CODE[type])) !== 0)
