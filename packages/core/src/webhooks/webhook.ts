import type { AccountId } from '../accounts/account.ts'
import type { Brand } from '../brand.ts'
import type { Instant } from '../time/instant.ts'
import type { SealedSecret } from './secret-box.ts'
import type { WebhookEventType } from './webhook-event.ts'

/** Names an endpoint; a positive integer below 2^31, of one sequence for all accounts. */
export type WebhookId = Brand<number, 'WebhookId'>

export const webhookIdMax = 2 ** 31 - 1

export function webhookId(value: number): WebhookId | undefined {
  return Number.isInteger(value) && value > 0 && value <= webhookIdMax ? (value as WebhookId) : undefined
}

/** An account has at most so many endpoints. */
export const webhooksMax = 10

/** One request carries at most so many events. */
export const listSizeMax = 100

/** What an endpoint receives unless it is told otherwise: everything but `message.sent`. */
export const webhookDefaults = { listSize: listSizeMax, withText: false } as const

/**
 * Paused: nothing is pushed, events are kept and follow when it is resumed. Disabled: it answered 410; only what
 * happened before is kept.
 */
export type WebhookState = 'active' | 'paused' | 'disabled'

/** Why an endpoint is paused: its account did it, or it had only failed for five days. */
export type PauseReason = 'by-request' | 'failing'

/** An endpoint of an account that events are pushed to. */
export interface Webhook extends SigningSecrets {
  readonly id: WebhookId
  readonly account: AccountId
  readonly url: string
  readonly events: readonly WebhookEventType[]
  /** At most so many events in one request, 1 to `listSizeMax`. */
  readonly listSize: number
  /** Whether events carry the text of messages. */
  readonly withText: boolean
  readonly state: WebhookState
  readonly pausedFor: PauseReason | undefined
  readonly created: Instant
  /** Since then no request has succeeded, though some were made; undefined: the last one did, or none was made. */
  readonly failingSince: Instant | undefined
}

/** What signs requests to an endpoint. Sealed: never shown again. */
export interface SigningSecrets {
  readonly secret: SealedSecret
  /** Those before, the newest first: each signs beside it until its own time. */
  readonly previous: readonly PreviousSecret[]
}

export interface PreviousSecret {
  readonly secret: SealedSecret
  readonly until: Instant
}

export type NewWebhook = Pick<Webhook, 'account' | 'url' | 'events' | 'listSize' | 'withText' | 'secret'>

/** What of an endpoint can be changed; what is left out stays as it is. */
export interface WebhookChange {
  readonly url?: string | undefined
  readonly events?: readonly WebhookEventType[] | undefined
  readonly listSize?: number | undefined
  readonly withText?: boolean | undefined
  /** Active resumes a paused or disabled endpoint. */
  readonly state?: 'active' | 'paused' | undefined
}
