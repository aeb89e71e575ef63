import { webhookEventTypes, type WebhookEventType } from '@gateway/core'

/** The place of an event's bit in `webhook.events`; a test, which nobody asks for in advance, has the next one. */
export const placeOf = (type: WebhookEventType | 'test'): number =>
  type === 'test' ? webhookEventTypes.length : webhookEventTypes.indexOf(type)

export const bitsOf = (types: readonly WebhookEventType[]): number =>
  types.reduce((bits, type) => bits | (1 << placeOf(type)), 0)

export const typesOf = (bits: number): readonly WebhookEventType[] =>
  webhookEventTypes.filter((type) => (bits & (1 << placeOf(type))) !== 0)
