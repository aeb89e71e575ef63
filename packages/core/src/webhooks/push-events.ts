import type { Ports } from '../ports.ts'
import type { Instant } from '../time/instant.ts'
import { createPushQueues, type PushQueue } from './push-queues.ts'
import { createPushResults } from './push-results.ts'
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

/** Pushes events to endpoints (P-11). Has no timers: the caller calls `work` and `drain`. */
export interface EventPusher {
  /**
   * Stores results, claims lists up to the limits, and starts to push them. Returns 'more' if it should be called again
   * at once. Rejects if the store does.
   */
  work(): Promise<'more' | 'all'>
  /** Returns the numbers of requests under way, of lists waiting for their turn, and of results not stored. */
  state(): {
    readonly requests: number
    readonly queued: number
    readonly unstored: number
    /** Milliseconds until a failed list is due again, or infinity if that is not soon. */
    readonly nextMilliseconds: number
  }
  /** Returns counts since the start. */
  counts(): PushCounts
  /**
   * Stops claiming, lets requests finish until `deadline` resolves, stores their results and releases the other lists.
   */
  drain(deadline: Promise<unknown>): Promise<void>
}

type Pushing = Pick<Ports, 'webhooks' | 'webhookClient' | 'secretBox' | 'clock'>

export function createEventPusher(ports: Pushing, options: PushOptions): EventPusher {
  const { webhooks, webhookClient, clock } = ports
  const settings = { ...pushDefaults, ...options.settings }
  const { requestsMax, perWebhookMax, claimedMax, leaseSeconds } = settings
  const queues = createPushQueues(settings)
  const results = createPushResults(webhooks)
  const counts = { delivered: 0, failed: 0, events: 0, unreadable: 0, unopened: 0 }
  const secretsOf = secretsOpenedBy(ports.secretBox, (problem) => {
    counts.unopened++
    options.report(problem)
  })
  const underWay = new Set<{ readonly begunAt: Instant }>()
  let endedAll: (() => void) | undefined
  /** True if more work was requested while a claim was under way. */
  let isAsked = false
  /** True if the limits left no room for lists of other endpoints. */
  let isFull = false
  let closed = false

  /** Starts requests until the limit is reached. The endpoints take turns. */
  function begin(): void {
    const now = clock.now()
    while (!closed && hasPlace(now)) {
      const next = queues.next(now)
      if (next === undefined) return
      void push(next.queue, next.list, now)
    }
  }

  function hasPlace(now: Instant): boolean {
    if (underWay.size < requestsMax) return true
    let quick = 0
    for (const { begunAt } of underWay) if (Math.abs(now - begunAt) < quickMilliseconds) quick++
    return quick < requestsMax
  }

  async function push(queue: PushQueue, list: ClaimedList, now: Instant): Promise<void> {
    const request = { begunAt: now }
    underWay.add(request)
    const verdict = keep(list, await pushed(list, queue.webhook, now))
    underWay.delete(request)
    queue.requests--
    if (verdict === 'delivered') queue.delivered++
    // Release lists claimed for an endpoint that is gone.
    if (verdict === 'gone') results.giveBack(queues.takeAll(queue))
    begin()
    const isIdle = underWay.size === 0
    if (isIdle || results.isFull(storedAtOnce)) store(isIdle ? 1 : storedAtOnce)
    if (queues.wantMore()) ask()
    if (isIdle) endedAll?.()
  }

  async function pushed(list: ClaimedList, webhook: Webhook, now: Instant): Promise<PushAnswer> {
    const body = bodyOf(list, now)
    if (body === undefined) return { outcome: 'failed', failure: 'unreadable', milliseconds: 0 }
    const secrets = secretsOf(webhook, now)
    if (secrets.length === 0) return { outcome: 'failed', failure: 'not-signed', milliseconds: 0 }
    return webhookClient.push({ url: webhook.url, id: list.id, timestamp: Math.floor(now / 1000), body, secrets })
  }

  /**
   * Returns the body, or undefined if the events cannot be read, because unreadable events must not end the process.
   */
  function bodyOf(list: ClaimedList, now: Instant): PushRequest['body'] | undefined {
    try {
      if (list.unreadable === 0) return options.bodyOf(list.groups, now)
    } catch (problem) {
      options.report(problem)
    }
    counts.unreadable += Math.max(list.unreadable, eventCount(list))
    options.unreadable(list)
    return undefined
  }

  function keep(list: ClaimedList, answer: PushAnswer): PushVerdict | undefined {
    if (answer.outcome === 'failed' && answer.failure === 'stopped') {
      results.giveBack([list])
      return undefined
    }
    const now = clock.now()
    const verdict = verdictFor(list, answer)
    counts[verdict === 'delivered' ? 'delivered' : 'failed']++
    if (verdict === 'delivered') counts.events += eventCount(list)
    const next = verdict === 'retry' ? nextTry(list.tries, answer, now, options.chance()) : undefined
    results.keep({ list: list.id, tries: list.tries, at: now, answer, verdict, next })
    return verdict
  }

  function store(atLeast: number): void {
    results.stored(atLeast).then(() => {
      if (isFull || queues.wantMore()) ask()
    }, options.report)
  }

  function ask(): void {
    isAsked = true
    options.roomAgain()
  }

  async function work(): Promise<'more' | 'all'> {
    isAsked = false
    // Requests under way that have become slow no longer count, so there may be room for more.
    begin()
    const old = queues.takeOld(clock.now())
    results.giveBack(old)
    // Wait until the released lists are stored as released, because only then can they be claimed again.
    if (old.length > 0) await results.stored(1)
    const storing = results.count() > 0 ? results.stored(1) : undefined
    // If storing has failed before, wait for it before claiming. The leases of the unstored results may end during the
    // claim, and then their lists would be pushed again.
    if (results.hasFailed()) await storing
    const claiming = claim()
    // Await both before either may throw, so that claimed lists are started.
    await Promise.allSettled([storing, claiming])
    await storing
    const found = await claiming
    // The claim may already have returned the work that was requested meanwhile.
    const isWanted = isAskedMeanwhile() && (isFull || queues.wantMore())
    return !isClosed() && (found === 'more' || isWanted) ? 'more' : 'all'
  }

  async function claim(): Promise<'more' | 'all'> {
    const listsMax = claimedMax - queues.count() - underWay.size
    isFull = listsMax <= 0
    if (closed || isFull) return 'all'
    const now = clock.now()
    const lists = await webhooks.claim({ listsMax, perWebhookMax, rooms: queues.rooms(now), leaseSeconds })
    queues.put(lists, now)
    if (isClosed()) results.giveBack(queues.takeAll())
    begin()
    return hasMore(lists, listsMax) ? 'more' : 'all'
  }

  const isClosed = (): boolean => closed
  const isAskedMeanwhile = (): boolean => isAsked

  return {
    work,
    state: () => ({
      requests: underWay.size,
      queued: queues.count(),
      unstored: results.count(),
      nextMilliseconds: results.nextMilliseconds(clock.now()),
    }),
    counts: () => ({ ...counts }),
    drain: async (deadline) => {
      closed = true
      results.giveBack(queues.takeAll())
      const ended = underWay.size === 0 ? Promise.resolve() : new Promise<void>((resolve) => (endedAll = resolve))
      await webhookClient.close(deadline)
      await Promise.race([ended, deadline])
      await results.stored(1)
    },
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
