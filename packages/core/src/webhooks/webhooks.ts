import type { AccountId } from '../accounts/account.ts'
import type { Brand } from '../brand.ts'
import type { Page, Paged } from '../messages/messages.ts'
import type { Instant } from '../time/instant.ts'
import type { SealedSecret } from './secret-box.ts'
import type { PushAnswer } from './webhook-client.ts'
import type { EventGroup, WebhookEventId } from './webhook-event.ts'
import type { NewWebhook, SigningSecrets, Webhook, WebhookChange, WebhookId } from './webhook.ts'

/** Names a list of events; its `webhook-id`. The same over all tries, another one when it is replayed. */
export type EventListId = Brand<string, 'EventListId'>

/** A list that this caller alone pushes until its lease is over. */
export interface ClaimedList {
  readonly id: EventListId
  readonly webhook: Webhook
  /** Its events, in their order; none if it is `unreadable`. */
  readonly groups: readonly EventGroup[]
  /**
   * 0, or so many events that this version cannot read: of a type of another version, or spoiled. They are all that is
   * in the list; what of a list can be read comes in one of its own.
   */
  readonly unreadable: number
  /** The number of the try to be made, from 1. A result with another one is too late and changes nothing. */
  readonly tries: number
}

/**
 * What follows from a try. Gone: 410, which disables the endpoint. Failed: a test, which is tried once and is not dead.
 */
export type PushVerdict = 'delivered' | 'retry' | 'dead' | 'gone' | 'failed'

export interface PushResult {
  readonly list: EventListId
  readonly tries: number
  readonly at: Instant
  readonly answer: PushAnswer
  readonly verdict: PushVerdict
  /** When it is tried again; undefined: it is not. */
  readonly next: Instant | undefined
}

/** One try of one list, for the account holder. */
export interface PushAttempt extends PushResult {
  readonly events: readonly WebhookEventId[]
}

/** What is pushed again: one event, everything that happened in a time, or every dead list. */
export type Replay =
  | { readonly what: 'event'; readonly event: WebhookEventId }
  | { readonly what: 'period'; readonly from: Instant; readonly to: Instant }
  | { readonly what: 'dead' }

/** Names a replay; of one sequence for all accounts. */
export type ReplayId = Brand<number, 'ReplayId'>

export type ReplayState = 'running' | 'done' | 'stopped'

/** Events of an endpoint that are pushed again, and how far that is. */
export interface ReplayTask {
  readonly id: ReplayId
  readonly webhook: WebhookId
  readonly replay: Replay
  readonly state: ReplayState
  /** So many wait again to be pushed, or did. */
  readonly events: number
  /** So many of them still wait. */
  readonly waiting: number
  /** What happened until then has been looked at; undefined: nothing yet. */
  readonly upTo: Instant | undefined
  readonly started: Instant
  readonly ended: Instant | undefined
}

/** What waits for an endpoint, and what was given up. */
export interface WebhookBacklog {
  /** Not yet in a list. */
  readonly events: number
  /** Being tried. */
  readonly lists: number
  readonly dead: number
}

/** How an endpoint is: failing is active, but its last request failed. */
export const webhookConditions = ['active', 'failing', 'paused', 'disabled'] as const

export type WebhookCondition = (typeof webhookConditions)[number]

/** What waits for all endpoints in one condition. */
export interface WebhookTotal extends WebhookBacklog {
  readonly condition: WebhookCondition
  readonly endpoints: number
  /** When the first of it happened that waits, in a list or not. */
  readonly oldest: Instant | undefined
}

/** So many endpoints have their turn in one claim. */
export const endpointsMax = 64

export interface Claiming {
  readonly listsMax: number
  /** At most so many lists of one endpoint. */
  readonly perWebhookMax: number
  /** Of these endpoints at most so many instead; 0: none. */
  readonly rooms: ReadonlyMap<WebhookId, number>
  readonly leaseSeconds: number
}

/**
 * Endpoints of accounts and what is pushed to them. Events are stored by the calls of other ports that change what they
 * tell of (`ClaimedBatches`, `DeliveryReceipts`, `Inbox`, `Suppressions`), only for endpoints that want them at that
 * moment.
 */
export interface Webhooks {
  /** Refused beyond `webhooksMax`. */
  add(webhook: NewWebhook, now: Instant): Promise<Webhook | 'too-many' | 'no-such-account'>
  /** By id, ascending; undefined account: of all accounts. */
  list(account: AccountId | undefined): Promise<readonly Webhook[]>
  /** Undefined also where it belongs to another account; undefined account: the operator asks. */
  find(account: AccountId | undefined, id: WebhookId): Promise<Webhook | undefined>
  /** Another URL makes nothing due earlier; active makes everything that waits due at once. */
  change(
    account: AccountId | undefined,
    id: WebhookId,
    change: WebhookChange,
    now: Instant,
  ): Promise<Webhook | undefined>
  /** With everything that waits for it. */
  remove(account: AccountId | undefined, id: WebhookId): Promise<boolean>
  /** Its secrets become what `change` says, which nobody else changes meanwhile. */
  rotate(
    account: AccountId | undefined,
    id: WebhookId,
    change: (secrets: SigningSecrets) => SigningSecrets,
  ): Promise<Webhook | undefined>
  /**
   * The secret that an endpoint was given last, by `add`, `rotate` or `resealSecrets`, of those that there are;
   * undefined: there is none.
   */
  lastSecret(): Promise<SealedSecret | undefined>
  /** Seals again what `isOld` says: `change` gets each stored secret. Returns how many changed. */
  resealSecrets(change: (sealed: SealedSecret) => SealedSecret): Promise<number>
  /** Stores a test event for this endpoint alone, in a list of its own, also while it is paused. */
  addTest(account: AccountId | undefined, id: WebhookId, now: Instant): Promise<WebhookEventId | undefined>
  /**
   * Begins a replay, which `advanceReplay` works on; nothing is begun while one of the account runs. Undefined: no such
   * endpoint.
   */
  startReplay(
    account: AccountId | undefined,
    id: WebhookId,
    replay: Replay,
  ): Promise<{ readonly started: ReplayTask } | { readonly running: ReplayTask } | undefined>
  /** The latest of the endpoint; undefined: there was none in `deadListDays`, or no such endpoint. */
  findReplay(account: AccountId | undefined, id: WebhookId): Promise<ReplayTask | undefined>
  /**
   * The same, which is stopped: no more of its events are pushed, those that are claimed apart. One that is done and of
   * which nothing waits stays so.
   */
  stopReplay(account: AccountId | undefined, id: WebhookId): Promise<ReplayTask | undefined>
  /**
   * Works on a replay for a moment: events that are told of keep their ids, in new lists, each once a replay; what was
   * pushed again by an earlier one counts only where it is dead. 'waits': nothing can be done now, since enough of its
   * events wait to be pushed. Any number may work at a time.
   */
  advanceReplay(): Promise<'more' | 'waits' | 'none'>
  /** The newest first. */
  attempts(account: AccountId | undefined, id: WebhookId, page: Page): Promise<Paged<PushAttempt> | undefined>
  backlog(id: WebhookId): Promise<WebhookBacklog>
  /**
   * Of all accounts, in the order of `webhookConditions`. Of one endpoint's events, lists and dead lists the first
   * `rowsMax` rows count.
   */
  totals(rowsMax: number): Promise<readonly WebhookTotal[]>

  /**
   * Lists that are due by the store's clock, an equal share of each active endpoint that has any: first those that are
   * tried again, then new ones of events that wait. A list whose lease is over is due again; that counts as a try.
   */
  claim(claiming: Claiming): Promise<readonly ClaimedList[]>
  /**
   * Stores what came of tries; pauses an endpoint that has only failed for `failingDays`, disables one that is gone:
   * what it got then waits. A test that failed says nothing of its endpoint: it may be one that is being set up.
   */
  record(results: readonly PushResult[]): Promise<void>
  /** Gives back lists that were claimed and not tried. */
  release(lists: readonly Pick<ClaimedList, 'id' | 'tries'>[]): Promise<void>
  /**
   * Drops, by the store's clock, lists of events that are older than `deadListDays`, with their attempts, and events
   * that have waited so long; at most so many of each. Returns how many there were of whichever were most.
   */
  purge(rowsMax: number): Promise<number>
}
