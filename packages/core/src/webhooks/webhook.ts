import type { AccountId } from '../accounts/account.ts'
import type { Brand } from '../brand.ts'
import type { Instant } from '../time/instant.ts'
import type { SealedSecret } from './secret-box.ts'
import type { WebhookEventType } from './webhook-event.ts'

/** Id of an endpoint: a positive integer below 2^31, from one sequence for all accounts. */
export type WebhookId = Brand<number, 'WebhookId'>

export const webhookIdMax = 2 ** 31 - 1

/** Returns the id for a number, or undefined if the number cannot be one. */
export function webhookId(value: number): WebhookId | undefined {
  return Number.isInteger(value) && value > 0 && value <= webhookIdMax ? (value as WebhookId) : undefined
}

/** Maximum number of endpoints of one account. */
export const webhooksMax = 10

/** Maximum number of events in one request. */
export const listSizeMax = 100

/** Default settings of an endpoint. By default it receives every event type except `message.sent`. */
export const webhookDefaults = { listSize: listSizeMax, withText: false } as const

/**
 * State of an endpoint. A paused endpoint gets no requests; its events are stored, and pushed when it is resumed. An
 * endpoint that answered 410 is disabled; it keeps the events that happened before that and gets no new ones.
 */
export type WebhookState = 'active' | 'paused' | 'disabled'

/** Reason of a pause: the account asked for it, or every request failed for five days. */
export type PauseReason = 'by-request' | 'failing'

/** Endpoint of an account to which events are pushed. */
export interface Webhook extends SigningSecrets {
  readonly id: WebhookId
  readonly account: AccountId
  readonly url: string
  readonly events: readonly WebhookEventType[]
  /** Maximum number of events in one request, 1 to `listSizeMax`. */
  readonly listSize: number
  /** True if events contain the text of messages. */
  readonly withText: boolean
  readonly state: WebhookState
  readonly pausedFor: PauseReason | undefined
  readonly created: Instant
  /** Time since which every request failed. Undefined if the last request succeeded or none was made. */
  readonly failingSince: Instant | undefined
}

/** Encrypted secrets that sign requests to an endpoint. They are never shown again. */
export interface SigningSecrets {
  readonly secret: SealedSecret
  /** Previous secrets, newest first. Each still signs alongside the current one until its `until`. */
  readonly previous: readonly PreviousSecret[]
}

export interface PreviousSecret {
  readonly secret: SealedSecret
  readonly until: Instant
}

export type NewWebhook = Pick<Webhook, 'account' | 'url' | 'events' | 'listSize' | 'withText' | 'secret'>

/** Change of an endpoint. Missing fields do not change. */
export interface WebhookChange {
  readonly url?: string | undefined
  readonly events?: readonly WebhookEventType[] | undefined
  readonly listSize?: number | undefined
  readonly withText?: boolean | undefined
  /** `active` resumes a paused or disabled endpoint. */
  readonly state?: 'active' | 'paused' | undefined
}
