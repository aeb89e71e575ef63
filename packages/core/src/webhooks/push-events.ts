import type { Ports } from '../ports.ts'
import type { Instant } from '../time/instant.ts'
import { type PushQueue, PushQueues } from './push-queues.ts'
import { PushResults } from './push-results.ts'
import { nextTry, verdictOf } from './push-schedule.ts'
import type { PushVerdict } from './webhooks.ts'
import type { SealedSecret } from './secret-box.ts'
import type { PushAnswer, PushRequest } from './webhook-client.ts'
import { eventCount, type EventGroup } from './webhook-event.ts'
import type { Webhook } from './webhook.ts'
import { endpointsMax, type ClaimedList, type PushResult } from './webhooks.ts'

export interface PushSettings {
  /** Maximum concurrent requests. Requests that take longer than a second are not counted. */
  readonly requestsMax: number
  /** Maximum concurrent requests to one endpoint. */
  readonly perWebhookMax: number
  /** Maximum number of claimed lists of one endpoint. */
  readonly aheadMax: number
  /** Maximum number of claimed lists of all endpoints, which also limits the requests under way. */
  readonly claimedMax: number
  /** Seconds after which a claimed list that was not started is released. */
  readonly beginSeconds: number
  /** Duration of a lease. It exceeds the time to start a list, send its request and store the result. */
  readonly leaseSeconds: number
}

export const pushDefaults: PushSettings = {
  requestsMax: 200,
  perWebhookMax: 5,
  aheadMax: 1000,
  claimedMax: 2000,
  beginSeconds: 5,
  leaseSeconds: 30,
}

/** Number of results that are stored together. When no request is under way, fewer are stored (docs/decisions/0068). */
const storedAtOnce = 500

/** Milliseconds after which a request counts as slow. */
const quickMilliseconds = 1000

export interface PushOptions {
  /** Returns the body of a request that is sent at `now`. */
  readonly bodyOf: (groups: readonly EventGroup[], now: Instant) => PushRequest['body']
  /** Returns a random number from 0 to 1. */
  readonly chance: () => number
  /** Called when `work` should be called: there may be room for more lists, or the claimed lists run out soon. */
  readonly roomAgain: () => void
  /** Called with an error after which the pusher tries again. */
  readonly report: (problem: unknown) => void
  /** Called with a list that was not pushed because this version cannot read its events. It is tried again. */
  readonly unreadable: (list: Pick<ClaimedList, 'id' | 'webhook' | 'unreadable'>) => void
  readonly settings?: Partial<PushSettings>
}

export interface PushCounts {
  readonly delivered: number
  readonly failed: number
  /** Number of events in delivered lists. */
  readonly events: number
  /** Number of unreadable events, counted at each attempt. */
  readonly unreadable: number
  /** Number of secrets that could not be decrypted, counted at each claim. */
  readonly unopened: number
}

export interface PushState {
  /** Requests under way. */
  readonly requests: number
  /** Claimed lists that wait for their turn. */
  readonly queued: number
  /** Results that are not stored. */
  readonly unstored: number
  /** Milliseconds until a failed list is due again, or infinity if that is not soon. */
  readonly nextMilliseconds: number
}

type Pushing = Pick<Ports, 'webhooks' | 'webhookClient' | 'secretBox' | 'clock'>

/**
 * Pushes events to endpoints (P-11). Has no timers: the caller calls `work` and `drain`. A claimed list waits in
 * `#queues`, is under way, and ends in `#results`. After `drain` has been called, lists only end.
 */
export class EventPusher {
  readonly #ports: Pushing
  readonly #options: PushOptions
  readonly #settings: PushSettings
  readonly #queues: PushQueues
  readonly #results: PushResults
  readonly #counts = { delivered: 0, failed: 0, events: 0, unreadable: 0, unopened: 0 }
  readonly #secretsOf: (webhook: Webhook, now: Instant) => readonly string[]
  readonly #underWay = new Set<{ readonly begunAt: Instant }>()
  #endedAll: (() => void) | undefined
  /** True if more work was requested while a claim was under way. */
  #hasNewWork = false
  /** True if the limits left no room for lists of other endpoints. */
  #isFull = false
  #isClosed = false

  constructor(ports: Pushing, options: PushOptions) {
    this.#ports = ports
    this.#options = options
    this.#settings = { ...pushDefaults, ...options.settings }
    this.#queues = new PushQueues(this.#settings)
    this.#results = new PushResults(ports.webhooks)
    this.#secretsOf = secretsOpenedBy(ports.secretBox, (problem) => {
      this.#counts.unopened++
      options.report(problem)
    })
  }

  /**
   * Stores results, claims lists up to the limits, and starts to push them. Returns 'more' if it should be called again
   * at once. Rejects if the store does.
   */
  async work(): Promise<'more' | 'all'> {
    this.#hasNewWork = false
    // Requests under way that have become slow no longer count, so there may be room for more.
    this.#begin()
    const old = this.#queues.takeOld(this.#ports.clock.now())
    this.#results.giveBack(old)
    // Wait until the released lists are stored as released, because only then can they be claimed again.
    if (old.length > 0) await this.#results.store(1)
    const storing = this.#results.count > 0 ? this.#results.store(1) : undefined
    // If storing has failed before, wait for it before claiming. The leases of the unstored results may end during the
    // claim, and then their lists would be pushed again.
    if (this.#results.hasFailed) await storing
    const claiming = this.#claim()
    // Await both before either may throw, so that claimed lists are started.
    await Promise.allSettled([storing, claiming])
    await storing
    const found = await claiming
    // The claim may already have returned the work that was requested meanwhile.
    return !this.#isClosed && (found === 'more' || this.#mayClaimRequested()) ? 'more' : 'all'
  }

  #mayClaimRequested(): boolean {
    return this.#hasNewWork && (this.#isFull || this.#queues.wantMore())
  }

  state(): PushState {
    return {
      requests: this.#underWay.size,
      queued: this.#queues.count,
      unstored: this.#results.count,
      nextMilliseconds: this.#results.nextMilliseconds(this.#ports.clock.now()),
    }
  }

  /** Returns counts since the start. */
  counts(): PushCounts {
    return { ...this.#counts }
  }

  /**
   * Stops claiming, lets requests finish until `deadline` resolves, stores their results and releases the other lists.
   */
  async drain(deadline: Promise<unknown>): Promise<void> {
    this.#isClosed = true
    this.#results.giveBack(this.#queues.takeAll())
    const isIdle = this.#underWay.size === 0
    const ended = isIdle ? Promise.resolve() : new Promise<void>((resolve) => (this.#endedAll = resolve))
    await this.#ports.webhookClient.close(deadline)
    await Promise.race([ended, deadline])
    await this.#results.store(1)
  }

  /** Starts requests until the limit is reached. The endpoints take turns. */
  #begin(): void {
    const now = this.#ports.clock.now()
    while (!this.#isClosed && this.#hasPlace(now)) {
      const next = this.#queues.next(now)
      if (next === undefined) return
      void this.#push(next.queue, next.list, now)
    }
  }

  #hasPlace(now: Instant): boolean {
    const { requestsMax } = this.#settings
    if (this.#underWay.size < requestsMax) return true
    let quick = 0
    for (const { begunAt } of this.#underWay) if (Math.abs(now - begunAt) < quickMilliseconds) quick++
    return quick < requestsMax
  }

  async #claim(): Promise<'more' | 'all'> {
    const { claimedMax, perWebhookMax, leaseSeconds } = this.#settings
    const listsMax = claimedMax - this.#queues.count - this.#underWay.size
    this.#isFull = listsMax <= 0
    if (this.#isClosed || this.#isFull) return 'all'
    const now = this.#ports.clock.now()
    const rooms = this.#queues.rooms(now)
    const lists = await this.#ports.webhooks.claim({ listsMax, perWebhookMax, rooms, leaseSeconds })
    this.#queues.put(lists, now)
    this.#releaseIfClosed()
    this.#begin()
    return hasMore(lists, listsMax) ? 'more' : 'all'
  }

  /** Releases the lists of a claim during which `drain` was called. */
  #releaseIfClosed(): void {
    if (this.#isClosed) this.#results.giveBack(this.#queues.takeAll())
  }

  async #push(queue: PushQueue, list: ClaimedList, now: Instant): Promise<void> {
    const request = { begunAt: now }
    this.#underWay.add(request)
    const verdict = this.#keep(list, await this.#answerTo(list, queue.webhook, now))
    this.#underWay.delete(request)
    queue.requests--
    if (verdict === 'delivered') queue.delivered++
    // Release the other lists that were claimed for an endpoint that answered 410.
    if (verdict === 'gone') this.#results.giveBack(this.#queues.takeAll(queue))
    this.#begin()
    const isIdle = this.#underWay.size === 0
    if (isIdle || this.#results.isFull(storedAtOnce)) this.#store(isIdle ? 1 : storedAtOnce)
    if (this.#queues.wantMore()) this.#ask()
    if (isIdle) this.#endedAll?.()
  }

  async #answerTo(list: ClaimedList, webhook: Webhook, now: Instant): Promise<PushAnswer> {
    const body = this.#bodyOf(list, now)
    if (body === undefined) return { outcome: 'failed', failure: 'unreadable', milliseconds: 0 }
    const secrets = this.#secretsOf(webhook, now)
    if (secrets.length === 0) return { outcome: 'failed', failure: 'not-signed', milliseconds: 0 }
    const { webhookClient } = this.#ports
    return webhookClient.push({ url: webhook.url, id: list.id, timestamp: Math.floor(now / 1000), body, secrets })
  }

  /**
   * Returns the body, or undefined if the events cannot be read, because unreadable events must not end the process.
   */
  #bodyOf(list: ClaimedList, now: Instant): PushRequest['body'] | undefined {
    try {
      if (list.unreadable === 0) return this.#options.bodyOf(list.groups, now)
    } catch (problem) {
      this.#options.report(problem)
    }
    this.#counts.unreadable += Math.max(list.unreadable, eventCount(list))
    this.#options.unreadable(list)
    return undefined
  }

  #keep(list: ClaimedList, answer: PushAnswer): PushVerdict | undefined {
    if (answer.outcome === 'failed' && answer.failure === 'stopped') {
      this.#results.giveBack([list])
      return undefined
    }
    const now = this.#ports.clock.now()
    const verdict = verdictFor(list, answer)
    this.#counts[verdict === 'delivered' ? 'delivered' : 'failed']++
    if (verdict === 'delivered') this.#counts.events += eventCount(list)
    const next = verdict === 'retry' ? nextTry(list.tries, answer, now, this.#options.chance()) : undefined
    this.#results.keep({ list: list.id, tries: list.tries, at: now, answer, verdict, next })
    return verdict
  }

  #store(atLeast: number): void {
    this.#results.store(atLeast).then(() => {
      if (this.#isFull || this.#queues.wantMore()) this.#ask()
    }, this.#options.report)
  }

  #ask(): void {
    this.#hasNewWork = true
    this.#options.roomAgain()
  }
}

/** Returns true if claiming again at once could return lists of other endpoints. */
const hasMore = (lists: readonly ClaimedList[], listsMax: number): boolean =>
  lists.length >= listsMax || new Set(lists.map(({ webhook }) => webhook.id)).size >= endpointsMax

/** Returns the consequence of an attempt. A test event is tried once, because a person waits for its result. */
function verdictFor({ tries, groups }: ClaimedList, answer: PushAnswer): PushResult['verdict'] {
  const [first] = groups
  const verdict = verdictOf(answer, tries)
  const isTest = first !== undefined && 'data' in first && first.data.type === 'test'
  return isTest && (verdict === 'retry' || verdict === 'dead') ? 'failed' : verdict
}

/**
 * Returns a function that decrypts the valid secrets of an endpoint, the current one first. A secret is decrypted once
 * for each claim. Secrets that cannot be decrypted are left out.
 */
function secretsOpenedBy(
  secretBox: Ports['secretBox'],
  unopened: (problem: unknown) => void,
): (webhook: Webhook, now: Instant) => readonly string[] {
  type Opened = readonly { readonly secret: string; readonly until: number }[]
  const opened = new WeakMap<Webhook, Opened>()
  const open = ({ secret, until }: { secret: SealedSecret; until: number }): Opened => {
    try {
      return [{ secret: secretBox.open(secret), until }]
    } catch (problem) {
      unopened(problem)
      return []
    }
  }
  return (webhook, now) => {
    const all = [{ secret: webhook.secret, until: Infinity }, ...webhook.previous]
    const known = opened.get(webhook) ?? all.filter(({ until }) => now < until).flatMap(open)
    opened.set(webhook, known)
    return known.filter(({ until }) => now < until).map(({ secret }) => secret)
  }
}
