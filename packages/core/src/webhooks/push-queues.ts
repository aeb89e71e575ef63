import type { Instant } from '../time/instant.ts'
import { eventCount } from './webhook-event.ts'
import type { Webhook, WebhookId } from './webhook.ts'
import type { ClaimedList } from './webhooks.ts'

export interface QueueSettings {
  /** Maximum concurrent requests to one endpoint. */
  readonly perWebhookMax: number
  /** Maximum number of claimed lists of one endpoint, including those under way. */
  readonly aheadMax: number
  /** Seconds after its claim within which a list may be started. */
  readonly beginSeconds: number
}

/** Lists of one endpoint that this process has claimed. */
export interface PushQueue {
  /** Endpoint as of the last claim. */
  webhook: Webhook
  /** Lists that were not started, oldest first. */
  readonly waiting: { readonly list: ClaimedList; readonly claimedAt: Instant }[]
  requests: number
  /** Number of lists delivered since `since`. */
  delivered: number
  since: Instant
  /** Maximum number of claimed lists at present. */
  ahead: number
  /** Free places at the last claim. */
  room: number
  /** True if more lists may wait in the store. */
  hasMore: boolean
}

/** Seconds of work to claim ahead for one endpoint. */
const aheadSeconds = 0.5
/**
 * Maximum factor by which `ahead` grows at one claim. It is limited because a large claim takes longer than the
 * requests that were claimed before it.
 */
const growth = 4
/** Minimum time over which a rate is measured. */
const rateMilliseconds = 100
/** Maximum number of events of one endpoint in one claim. The next ones are claimed while these are pushed. */
const claimEventsMax = 10_000

/**
 * Claimed lists by endpoint. Endpoints take turns, each with at most `perWebhookMax` concurrent requests. The number of
 * lists claimed ahead depends on the rate at which the endpoint accepts lists, so that a slow one has a short queue.
 */
export class PushQueues {
  readonly #settings: QueueSettings
  #queues: PushQueue[] = []
  #turn = 0

  constructor(settings: QueueSettings) {
    this.#settings = settings
  }

  /** Number of lists that were not started. */
  get count(): number {
    return this.#queues.reduce((sum, { waiting }) => sum + waiting.length, 0)
  }

  /** Adds the lists of a claim. */
  put(lists: readonly ClaimedList[], now: Instant): void {
    for (const queue of this.#queues) if (queue.room > 0) queue.hasMore = false
    for (const list of lists) {
      const queue = this.#queueOf(list.webhook, now)
      queue.webhook = list.webhook
      queue.waiting.push({ list, claimedAt: now })
      // A new list that is not full contains all waiting events, so no more lists wait. A list for another attempt
      // does not show whether more lists wait, because such lists are claimed before new ones.
      queue.hasMore = list.tries > 1 || eventCount(list) >= list.webhook.listSize
    }
    this.#queues = this.#queues.filter(({ waiting, requests }) => waiting.length + requests > 0)
  }

  /** Removes the list whose turn it is and counts a request to its queue. */
  next(now: Instant): { readonly queue: PushQueue; readonly list: ClaimedList } | undefined {
    const { perWebhookMax } = this.#settings
    for (let looked = 0; looked < this.#queues.length; looked++) {
      const queue = this.#queues[this.#turn++ % this.#queues.length]
      const first = queue?.waiting[0]
      if (queue === undefined || first === undefined) continue
      if (queue.requests >= perWebhookMax || this.#isOld(first, now)) continue
      queue.waiting.shift()
      queue.requests++
      return { queue, list: first.list }
    }
    return undefined
  }

  /** Removes and returns lists that were claimed too long ago. */
  takeOld(now: Instant): readonly ClaimedList[] {
    return this.#queues.flatMap(({ waiting }) => {
      const young = waiting.findIndex((each) => !this.#isOld(each, now))
      return waiting.splice(0, young === -1 ? waiting.length : young).map(({ list }) => list)
    })
  }

  /** Removes and returns the lists that were not started, of one endpoint or of all. */
  takeAll(one?: PushQueue): readonly ClaimedList[] {
    const queues = one === undefined ? this.#queues : [one]
    return queues.flatMap(({ waiting }) => waiting.splice(0).map(({ list }) => list))
  }

  /** Returns true if more lists may wait for an endpoint whose queue is less than half full. */
  wantMore(): boolean {
    return this.#queues.some(({ hasMore, waiting, ahead }) => hasMore && waiting.length <= ahead / 2)
  }

  /** Returns the number of lists to claim for each endpoint that has a queue, and begins to measure its rate anew. */
  rooms(now: Instant): ReadonlyMap<WebhookId, number> {
    for (const queue of this.#queues) {
      queue.ahead = this.#aheadOf(queue, now)
      queue.room = this.#roomOf(queue)
      if (now - queue.since >= rateMilliseconds) Object.assign(queue, { since: now, delivered: 0 })
    }
    return new Map(this.#queues.map(({ webhook, room }) => [webhook.id, room]))
  }

  #queueOf(webhook: Webhook, since: Instant): PushQueue {
    const found = this.#queues.find((queue) => queue.webhook.id === webhook.id)
    if (found !== undefined) return found
    const { perWebhookMax } = this.#settings
    const [ahead, room] = [perWebhookMax, perWebhookMax]
    const added = { webhook, waiting: [], requests: 0, delivered: 0, since, ahead, room, hasMore: false }
    this.#queues.push(added)
    return added
  }

  /** Returns true for a list that is too old to start, also if the clock was set back. */
  #isOld({ claimedAt }: PushQueue['waiting'][number], now: Instant): boolean {
    return now < claimedAt || now - claimedAt > this.#settings.beginSeconds * 1000
  }

  #aheadOf({ delivered, since, ahead }: PushQueue, now: Instant): number {
    const { perWebhookMax, aheadMax } = this.#settings
    const milliseconds = now - since
    if (delivered === 0) return milliseconds < rateMilliseconds ? ahead : perWebhookMax
    const needed = Math.ceil((delivered / milliseconds) * 1000 * aheadSeconds)
    return Math.max(2 * perWebhookMax, Math.min(needed, growth * ahead, aheadMax))
  }

  #roomOf({ ahead, waiting, requests, webhook }: PushQueue): number {
    const most = Math.max(2 * this.#settings.perWebhookMax, Math.ceil(claimEventsMax / webhook.listSize))
    return Math.max(0, Math.min(ahead - waiting.length - requests, most))
  }
}
