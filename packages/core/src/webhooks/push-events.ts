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
  /**
   * At most so many requests that began within a second are under way: those that take long take no place of others.
   */
  readonly requestsMax: number
  /** And of one endpoint. */
  readonly perWebhookMax: number
  /** At most so many lists of an endpoint are claimed, so that a claim is one statement for many. */
  readonly aheadMax: number
  /** And of all endpoints: no more requests are under way either. */
  readonly claimedMax: number
  /** A list that was claimed longer ago is not begun, but given back. */
  readonly beginSeconds: number
  /** After so long any process pushes a list again: more than its beginning, a request and storing its result take. */
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

/** So many results are stored at once; fewer when nothing is under way, and by each look (docs/decisions/0068). */
const storedAtOnce = 500

/** A request that takes longer is slow. */
const quickMilliseconds = 1000

export interface PushOptions {
  /** The body of a request at this time. */
  readonly bodyOf: (groups: readonly EventGroup[], now: Instant) => PushRequest['body']
  /** From 0 to 1, by chance. */
  readonly chance: () => number
  /** There may be room for more, or lists run out soon: `work` is to be called. */
  readonly roomAgain: () => void
  /** What failed and is tried again. */
  readonly report: (problem: unknown) => void
  /** A list whose events this version cannot read was not pushed; it is tried again. */
  readonly unreadable: (list: Pick<ClaimedList, 'id' | 'webhook' | 'unreadable'>) => void
  readonly settings?: Partial<PushSettings>
}

export interface PushCounts {
  readonly delivered: number
  readonly failed: number
  /** Events in lists that were delivered. */
  readonly events: number
  /** Events that could not be read, each try. */
  readonly unreadable: number
  /** Secrets that could not be opened, each claim. */
  readonly unopened: number
}

/** Pushes events to endpoints (P-11). Has no timers: its caller looks for work, and stops it. */
export interface EventPusher {
  /**
   * Stores results, claims as many lists as there is room for, and begins to push them; 'more': look again at once.
   * Rejects if the store does.
   */
  work(): Promise<'more' | 'all'>
  /** Requests under way, lists that wait for their turn, and results that are not stored. */
  state(): {
    readonly requests: number
    readonly queued: number
    readonly unstored: number
    /** Until a list that failed here is tried again, if that is soon; else infinity. */
    readonly nextMilliseconds: number
  }
  /** Since the start. */
  counts(): PushCounts
  /**
   * Claims no more; lets requests end until `deadline` has resolved, stores what came of them, and gives the others
   * back.
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
  /** Something ran low while a claim was under way. */
  let isAsked = false
  /** There was no room for what other endpoints may have. */
  let isFull = false
  let closed = false

  /** Starts what has its turn. */
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
    // What is claimed of an endpoint that is gone is not pushed to it.
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
   * Undefined if its events cannot be read: neither those of another version, nor what is spoiled, ends this process.
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
    // What was under way may have become slow.
    begin()
    const old = queues.takeOld(clock.now())
    results.giveBack(old)
    // They are due again only then.
    if (old.length > 0) await results.stored(1)
    const storing = results.count() > 0 ? results.stored(1) : undefined
    // Their leases may be over, and they must not be pushed again.
    if (results.hasFailed()) await storing
    const claiming = claim()
    // Both end before either fails: what was claimed is begun.
    await Promise.allSettled([storing, claiming])
    await storing
    const found = await claiming
    // What was asked for meanwhile may have been claimed already.
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

/** Whether another claim at once would find other endpoints. */
const hasMore = (lists: readonly ClaimedList[], listsMax: number): boolean =>
  lists.length >= listsMax || new Set(lists.map(({ webhook }) => webhook.id)).size >= endpointsMax

/** A test is tried once: who asked for it looks at what came of it. */
function verdictFor({ tries, groups }: ClaimedList, answer: PushAnswer): PushResult['verdict'] {
  const [first] = groups
  const verdict = verdictOf(answer, tries)
  const isTest = first !== undefined && 'data' in first && first.data.type === 'test'
  return isTest && (verdict === 'retry' || verdict === 'dead') ? 'failed' : verdict
}

/**
 * The current one first, then those before it that are valid. Opened once for all lists of a claim; who cannot be is
 * left out.
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
