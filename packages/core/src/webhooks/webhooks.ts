import type { AccountId } from '../accounts/account.ts'
import type { Brand } from '../brand.ts'
import type { Page, Paged } from '../messages/messages.ts'
import type { Instant } from '../time/instant.ts'
import type { SealedSecret } from './secret-box.ts'
import type { PushAnswer } from './webhook-client.ts'
import type { EventGroup, WebhookEventId } from './webhook-event.ts'
import type { NewWebhook, SigningSecrets, Webhook, WebhookChange, WebhookId } from './webhook.ts'

/** Id of a list of events, sent as `webhook-id`. It is the same for every attempt; a replay uses new lists. */
export type EventListId = Brand<string, 'EventListId'>

/** List claimed by one caller, which alone pushes it until the lease ends. */
export interface ClaimedList {
  readonly id: EventListId
  readonly webhook: Webhook
  /** Events in order. Empty if the list is `unreadable`. */
  readonly groups: readonly EventGroup[]
  /**
   * Number of events that this version cannot read, because they are corrupt or their type belongs to another version.
   * If this is not 0, the list contains no other events, because readable events are put in a separate list.
   */
  readonly unreadable: number
  /** Number of the next attempt, from 1. A result with another number is too late and is ignored. */
  readonly tries: number
}

/**
 * Consequence of an attempt. `gone`: the endpoint answered 410 and is disabled. `failed`: a test event failed; it is
 * tried only once.
 */
export type PushVerdict = 'delivered' | 'retry' | 'dead' | 'gone' | 'failed'

export interface PushResult {
  readonly list: EventListId
  readonly tries: number
  readonly at: Instant
  readonly answer: PushAnswer
  readonly verdict: PushVerdict
  /** Time of the next attempt. Undefined if there is none. */
  readonly next: Instant | undefined
}

/** Attempt to push one list, as shown to the account holder. */
export interface PushAttempt extends PushResult {
  readonly events: readonly WebhookEventId[]
}

/** Events to push again: one event, the events of a period, or every dead list. */
export type Replay =
  | { readonly kind: 'event'; readonly event: WebhookEventId }
  | { readonly kind: 'period'; readonly from: Instant; readonly to: Instant }
  | { readonly kind: 'dead' }

/** Id of a replay, from one sequence for all accounts. */
export type ReplayId = Brand<number, 'ReplayId'>

export type ReplayState = 'running' | 'done' | 'stopped'

/** Replay of events of an endpoint, with its progress. */
export interface ReplayTask {
  readonly id: ReplayId
  readonly webhook: WebhookId
  readonly replay: Replay
  readonly state: ReplayState
  /** Number of events queued again so far. */
  readonly events: number
  /** Number of the queued events that still wait to be pushed. */
  readonly waiting: number
  /** Time up to which events were examined. Undefined before the start. */
  readonly upTo: Instant | undefined
  readonly started: Instant
  readonly ended: Instant | undefined
}

/** Events and lists that wait for an endpoint, and dead lists. */
export interface WebhookBacklog {
  /** Events that are not in a list yet. */
  readonly events: number
  /** Lists that wait for an attempt. */
  readonly lists: number
  readonly dead: number
}

/** Condition of an endpoint. A failing endpoint is active, but its last request failed. */
export const webhookConditions = ['active', 'failing', 'paused', 'disabled'] as const

export type WebhookCondition = (typeof webhookConditions)[number]

/** Backlog of all endpoints in one condition. */
export interface WebhookTotal extends WebhookBacklog {
  readonly condition: WebhookCondition
  readonly endpoints: number
  /** Time of the oldest waiting event. */
  readonly oldest: Instant | undefined
}

/** Maximum number of endpoints in one claim. */
export const endpointsMax = 64

export interface Claiming {
  readonly listsMax: number
  /** Maximum number of lists to claim for one endpoint. */
  readonly perWebhookMax: number
  /** Limits that replace `perWebhookMax` for some endpoints. No list is claimed for an endpoint with limit 0. */
  readonly rooms: ReadonlyMap<WebhookId, number>
  readonly leaseSeconds: number
}

/**
 * Endpoints of accounts and the events pushed to them. Other ports (`ClaimedBatches`, `DeliveryReceipts`, `Inbox`,
 * `Suppressions`) store an event in the transaction that causes it, for the endpoints subscribed at that moment.
 */
export interface Webhooks {
  /** Adds an endpoint. Refuses more than `webhooksMax` of one account. */
  add(webhook: NewWebhook, now: Instant): Promise<Webhook | 'too-many' | 'no-such-account'>
  /** Lists endpoints by ascending id, of one account or of all. */
  list(account: AccountId | undefined): Promise<readonly Webhook[]>
  /** Finds an endpoint of the account, or of any account if `account` is undefined. */
  find(account: AccountId | undefined, id: WebhookId): Promise<Webhook | undefined>
  /** Changes an endpoint. A new URL does not bring attempts forward; `active` makes all waiting lists due at once. */
  change(
    account: AccountId | undefined,
    id: WebhookId,
    change: WebhookChange,
    now: Instant,
  ): Promise<Webhook | undefined>
  /** Removes an endpoint with its waiting events. Returns false if it does not exist. */
  remove(account: AccountId | undefined, id: WebhookId): Promise<boolean>
  /** Replaces the secrets by the result of `change`, under a lock. */
  rotate(
    account: AccountId | undefined,
    id: WebhookId,
    change: (secrets: SigningSecrets) => SigningSecrets,
  ): Promise<Webhook | undefined>
  /** Returns the secret that was stored last (by `add`, `rotate` or `resealSecrets`), or undefined if there is none. */
  lastSecret(): Promise<SealedSecret | undefined>
  /** Passes each stored secret to `change`, stores the result, and returns the number of changed secrets. */
  resealSecrets(change: (sealed: SealedSecret) => SealedSecret): Promise<number>
  /** Stores a test event for one endpoint, in a list of its own, even while the endpoint is paused. */
  addTest(account: AccountId | undefined, id: WebhookId, now: Instant): Promise<WebhookEventId | undefined>
  /**
   * Starts a replay, which `advanceReplay` carries out, unless one of the account is running. Returns undefined if the
   * endpoint does not exist.
   */
  startReplay(
    account: AccountId | undefined,
    id: WebhookId,
    replay: Replay,
  ): Promise<{ readonly started: ReplayTask } | { readonly running: ReplayTask } | undefined>
  /** Returns the latest replay of an endpoint, or undefined if there was none in the last `deadListDays` days. */
  findReplay(account: AccountId | undefined, id: WebhookId): Promise<ReplayTask | undefined>
  /**
   * Stops the latest replay and returns it: none of its events is pushed any more, except those in claimed lists. A
   * finished replay without waiting events does not change.
   */
  stopReplay(account: AccountId | undefined, id: WebhookId): Promise<ReplayTask | undefined>
  /**
   * Carries out one step of a replay. Events keep their ids and are queued in new lists, once per replay. An event that
   * an earlier replay queued is queued again only if it is dead. Returns 'waits' if enough events already wait to be
   * pushed. Several callers may call this concurrently.
   */
  advanceReplay(): Promise<'more' | 'waits' | 'none'>
  /** Lists attempts, newest first. */
  attempts(account: AccountId | undefined, id: WebhookId, page: Page): Promise<Paged<PushAttempt> | undefined>
  backlog(id: WebhookId): Promise<WebhookBacklog>
  /**
   * Returns the backlog of all accounts together, one total per condition in the order of `webhookConditions`. For each
   * endpoint, at most `rowsMax` events, lists and dead lists are counted.
   */
  totals(rowsMax: number): Promise<readonly WebhookTotal[]>

  /**
   * Claims lists that are due by the database's clock, an equal share for each active endpoint. Lists that are retried
   * come before new lists of waiting events. A list whose lease has ended is due again, and the ended lease counts as
   * an attempt.
   */
  claim(claiming: Claiming): Promise<readonly ClaimedList[]>
  /**
   * Stores results of attempts. Pauses an endpoint whose requests all failed for `failingDays` and disables one that is
   * gone; their lists wait. A failed test event changes nothing, because the endpoint may still be under construction.
   */
  record(results: readonly PushResult[]): Promise<void>
  /** Releases claimed lists without an attempt. */
  release(lists: readonly Pick<ClaimedList, 'id' | 'tries'>[]): Promise<void>
  /**
   * Deletes lists older than `deadListDays` together with their attempts, and events that have waited longer than that,
   * by the database's clock. Deletes at most `rowsMax` rows of each kind, and returns the largest number of rows
   * deleted of one kind.
   */
  purge(rowsMax: number): Promise<number>
}
