import type { Instant } from '../time/instant.ts'
import { eventCount } from './webhook-event.ts'
import type { Webhook, WebhookId } from './webhook.ts'
import type { ClaimedList } from './webhooks.ts'

export interface QueueSettings {
  /** Requests of one endpoint at a time. */
  readonly perWebhookMax: number
  /** Lists of one endpoint that are claimed, under way or not. */
  readonly aheadMax: number
  /** A list that was claimed longer ago is not begun. */
  readonly beginSeconds: number
}

/** The lists of one endpoint that this process has claimed. */
export interface PushQueue {
  /** As the last claim saw it. */
  webhook: Webhook
  /** Not begun, oldest first. */
  readonly waiting: { readonly list: ClaimedList; readonly claimedAt: Instant }[]
  requests: number
  /** Delivered since `since`. */
  delivered: number
  since: Instant
  /** How many lists it may have claimed. */
  ahead: number
  /** How many more it might have when lists were claimed last. */
  room: number
  /** More may wait than was claimed last. */
  hasMore: boolean
}

/** So many seconds' work of an endpoint is claimed ahead. */
const aheadSeconds = 0.5
/**
 * How many times more an endpoint may have after each claim: a large claim takes longer than the requests before it.
 */
const growth = 4
/** A rate is told by no less. */
const rateMilliseconds = 100
/** Of one endpoint in one claim: while these are pushed the next are claimed. */
const claimEventsMax = 10_000

/**
 * Claimed lists by endpoint: each has its turn, and at most `perWebhookMax` requests. How many are claimed ahead of the
 * requests follows from how fast the endpoint takes lists: the queue of a slow one is short.
 */
export interface PushQueues {
  /** Lists that are not begun. */
  count(): number
  put(lists: readonly ClaimedList[], now: Instant): void
  /** The next list whose turn it is, with its queue, which has a request more. */
  next(now: Instant): { readonly queue: PushQueue; readonly list: ClaimedList } | undefined
  /** Takes out lists that were claimed too long ago. */
  takeOld(now: Instant): readonly ClaimedList[]
  /** Takes out all that are not begun, of one endpoint or of all. */
  takeAll(queue?: PushQueue): readonly ClaimedList[]
  /** Whether more may wait for an endpoint that has less than half of what it may have. */
  wantMore(): boolean
  /** How many lists may be claimed of each endpoint that has a queue. */
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

  /** A clock that was set back makes a list old. */
  const isOld = ({ claimedAt }: PushQueue['waiting'][number], now: Instant): boolean =>
    now < claimedAt || now - claimedAt > beginSeconds * 1000

  function aheadOf({ delivered, since, ahead }: PushQueue, now: Instant): number {
    const milliseconds = now - since
    if (delivered === 0) return milliseconds < rateMilliseconds ? ahead : perWebhookMax
    const wanted = Math.ceil((delivered / milliseconds) * 1000 * aheadSeconds)
    return Math.max(2 * perWebhookMax, Math.min(wanted, growth * ahead, aheadMax))
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
        // A new list that is not full has all that waited; one that is tried again comes before those.
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
