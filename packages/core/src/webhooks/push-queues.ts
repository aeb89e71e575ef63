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
export interface PushQueues {
  /** Returns the number of lists that were not started. */
  count(): number
  put(lists: readonly ClaimedList[], now: Instant): void
  /** Removes the list whose turn it is and counts a request to its queue. */
  next(now: Instant): { readonly queue: PushQueue; readonly list: ClaimedList } | undefined
  /** Removes and returns lists that were claimed too long ago. */
  takeOld(now: Instant): readonly ClaimedList[]
  /** Removes and returns the lists that were not started, of one endpoint or of all. */
  takeAll(queue?: PushQueue): readonly ClaimedList[]
  /** Returns true if more lists may wait for an endpoint whose queue is less than half full. */
  wantMore(): boolean
  /** Returns the number of lists to claim for each endpoint that has a queue. */
  rooms(now: Instant): ReadonlyMap<WebhookId, number>
}

export function createPushQueues({ perWebhookMax, aheadMax, beginSeconds }: QueueSettings): PushQueues {
  let queues: PushQueue[] = []
  let turn = 0

  function queueOf(webhook: Webhook, since: Instant): PushQueue {
    const found = queues.find((queue) => queue.webhook.id === webhook.id)
    if (found !== undefined) return found
    const [ahead, room] = [perWebhookMax, perWebhookMax]
    const added = { webhook, waiting: [], requests: 0, delivered: 0, since, ahead, room, hasMore: false }
    queues.push(added)
    return added
  }

  /** Returns true for a list that is too old to start, also if the clock was set back. */
  const isOld = ({ claimedAt }: PushQueue['waiting'][number], now: Instant): boolean =>
    now < claimedAt || now - claimedAt > beginSeconds * 1000

  function aheadOf({ delivered, since, ahead }: PushQueue, now: Instant): number {
    const milliseconds = now - since
    if (delivered === 0) return milliseconds < rateMilliseconds ? ahead : perWebhookMax
    const needed = Math.ceil((delivered / milliseconds) * 1000 * aheadSeconds)
    return Math.max(2 * perWebhookMax, Math.min(needed, growth * ahead, aheadMax))
  }

  function roomOf({ ahead, waiting, requests, webhook }: PushQueue): number {
    const most = Math.max(2 * perWebhookMax, Math.ceil(claimEventsMax / webhook.listSize))
    return Math.max(0, Math.min(ahead - waiting.length - requests, most))
  }

  return {
    count: () => queues.reduce((sum, { waiting }) => sum + waiting.length, 0),
    put: (lists, now) => {
      for (const queue of queues) if (queue.room > 0) queue.hasMore = false
      for (const list of lists) {
        const queue = queueOf(list.webhook, now)
        queue.webhook = list.webhook
        queue.waiting.push({ list, claimedAt: now })
        // A new list that is not full contains all waiting events, so no more lists wait. A list for another attempt
        // does not show whether more lists wait, because such lists are claimed before new ones.
        queue.hasMore = list.tries > 1 || eventCount(list) >= list.webhook.listSize
      }
      queues = queues.filter(({ waiting, requests }) => waiting.length + requests > 0)
    },
    next: (now) => {
      for (let looked = 0; looked < queues.length; looked++) {
        const queue = queues[turn++ % queues.length]
        const first = queue?.waiting[0]
        if (queue === undefined || first === undefined || queue.requests >= perWebhookMax || isOld(first, now)) continue
        queue.waiting.shift()
        queue.requests++
        return { queue, list: first.list }
      }
      return undefined
    },
    takeOld: (now) =>
      queues.flatMap(({ waiting }) => {
        const young = waiting.findIndex((each) => !isOld(each, now))
        return waiting.splice(0, young === -1 ? waiting.length : young).map(({ list }) => list)
      }),
    takeAll: (one) =>
      (one === undefined ? queues : [one]).flatMap(({ waiting }) => waiting.splice(0).map(({ list }) => list)),
    wantMore: () => queues.some(({ hasMore, waiting, ahead }) => hasMore && waiting.length <= ahead / 2),
    rooms: (now) => {
      for (const queue of queues) {
        queue.ahead = aheadOf(queue, now)
        queue.room = roomOf(queue)
        if (now - queue.since >= rateMilliseconds) Object.assign(queue, { since: now, delivered: 0 })
      }
      return new Map(queues.map(({ webhook, room }) => [webhook.id, room]))
    },
  }
}
