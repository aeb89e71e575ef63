import type { Instant } from '../time/instant.ts'
import { eventCount } from './event-group.ts'
import type { Webhook, WebhookId } from './webhook.ts'
import type { ClaimedList } from './webhooks.ts'

export interface LaneSettings {
  /** Requests of one endpoint at a time. */
  readonly perWebhookMax: number
  /** Lists of one endpoint that are claimed, under way or not. */
  readonly aheadMax: number
  /** A list that was claimed longer ago is not begun. */
  readonly beginSeconds: number
}

/** The lists of one endpoint that this process has claimed. */
export interface PushLane {
  /** As the last claim saw it. */
  webhook: Webhook
  /** Not begun, oldest first. */
  readonly queue: Queued[]
  requests: number
  /** Delivered since `since`. */
  delivered: number
  since: Instant
  /** How many it may have claimed. */
  ahead: number
  /** How many more it may have had when lists were claimed last. */
  room: number
  /** More may wait than was claimed then. */
  hasMore: boolean
  /** That more is wanted has been told. */
  isTold: boolean
}

interface Queued {
  readonly list: ClaimedList
  readonly claimedAt: Instant
}

/** So many seconds' work of an endpoint is claimed ahead. */
const aheadSeconds = 0.5
/** How many times more an endpoint may have after each claim: the first claims of a backlog take longer than their requests. */
const growth = 4
/** A rate is told by no less. */
const rateMilliseconds = 100
/** Of one endpoint in one claim: while these are pushed the next are claimed. */
const claimEventsMax = 10_000

/**
 * Claimed lists by endpoint: each endpoint has its turn, and has at most `perWebhookMax` requests. What is claimed ahead of the requests follows from
 * how fast the endpoint takes lists, so that the queue of a slow one is short.
 */
export interface PushLanes {
  /** Not begun. */
  queued(): number
  put(lists: readonly ClaimedList[], now: Instant): void
  /** The next list whose turn it is, with its lane, which has a request more. `tooOld` are not to be begun. */
  next(now: Instant): { readonly lane: PushLane; readonly list: ClaimedList } | undefined
  /** Lists that were claimed too long ago, which are taken out. */
  takeOld(now: Instant): readonly ClaimedList[]
  /** All that are not begun, of one lane or of all; they are taken out. */
  takeAll(lane?: PushLane): readonly ClaimedList[]
  /** A request ended. */
  ended(lane: PushLane, wasDelivered: boolean): void
  /** Whether more may wait for an endpoint that has less than half of what it may have. */
  wantMore(): boolean
  /** The same, after each claim told once. */
  runLow(): boolean
  /** Of endpoints that are fast, how many lists they may have claimed; of so many it is not stored yet what came of them. */
  ahead(now: Instant, unstored: number): ReadonlyMap<WebhookId, number>
}

export function createPushLanes({ perWebhookMax, aheadMax, beginSeconds }: LaneSettings): PushLanes {
  let lanes: PushLane[] = []
  let turn = 0

  const laneOf = (webhook: Webhook, now: Instant): PushLane => {
    const found = lanes.find((lane) => lane.webhook.id === webhook.id)
    if (found !== undefined) return found
    const lane = {
      webhook,
      queue: [],
      requests: 0,
      delivered: 0,
      since: now,
      ahead: perWebhookMax,
      room: perWebhookMax,
      hasMore: false,
      isTold: true,
    }
    lanes.push(lane)
    return lane
  }

  /** A clock that was set back makes a list old. */
  const isOld = ({ claimedAt }: Queued, now: Instant): boolean =>
    now < claimedAt || now - claimedAt > beginSeconds * 1000

  function aheadOf(lane: PushLane, now: Instant): number {
    const milliseconds = now - lane.since
    if (lane.delivered === 0) return milliseconds < rateMilliseconds ? lane.ahead : perWebhookMax
    const wanted = Math.ceil((lane.delivered / milliseconds) * 1000 * aheadSeconds)
    return Math.max(2 * perWebhookMax, Math.min(wanted, growth * lane.ahead, aheadMax))
  }

  const isLow = ({ hasMore, queue, ahead }: PushLane): boolean => hasMore && queue.length <= ahead / 2

  /** How many lists it may have after the next claim. */
  function limitOf(lane: PushLane, unstored: number): number {
    const claimed = lane.queue.length + lane.requests + unstored
    const most = Math.max(2 * perWebhookMax, Math.ceil(claimEventsMax / lane.webhook.listSize))
    const limit = Math.min(lane.ahead, claimed + most)
    lane.room = limit - claimed
    return limit
  }

  return {
    queued: () => lanes.reduce((sum, { queue }) => sum + queue.length, 0),
    put: (lists, now) => {
      for (const lane of lanes) if (lane.room > 0) lane.hasMore = false
      for (const list of lists) {
        const lane = laneOf(list.webhook, now)
        lane.webhook = list.webhook
        lane.queue.push({ list, claimedAt: now })
        lane.isTold = false
      }
      for (const lane of new Set(lists.map(({ webhook }) => laneOf(webhook, now)))) lane.hasMore = mayHaveMore(lane)
      lanes = lanes.filter((lane) => lane.queue.length + lane.requests > 0)
    },
    next: (now) => {
      for (let looked = 0; looked < lanes.length; looked++) {
        const lane = lanes[turn++ % lanes.length]
        const [first] = lane?.queue ?? []
        if (lane === undefined || first === undefined || lane.requests >= perWebhookMax || isOld(first, now)) continue
        lane.queue.shift()
        lane.requests++
        return { lane, list: first.list }
      }
      return undefined
    },
    takeOld: (now) =>
      lanes.flatMap(({ queue }) => {
        const old = queue.findIndex((queued) => !isOld(queued, now))
        return queue.splice(0, old === -1 ? queue.length : old).map(({ list }) => list)
      }),
    takeAll: (one) =>
      (one === undefined ? lanes : [one]).flatMap(({ queue }) => queue.splice(0).map(({ list }) => list)),
    ended: (lane, wasDelivered) => {
      lane.requests--
      if (wasDelivered) lane.delivered++
    },
    wantMore: () => lanes.some(isLow),
    runLow: () => {
      const low = lanes.filter((lane) => !lane.isTold && isLow(lane))
      for (const lane of low) lane.isTold = true
      return low.length > 0
    },
    ahead: (now, unstored) => {
      for (const lane of lanes) {
        lane.ahead = aheadOf(lane, now)
        if (now - lane.since >= rateMilliseconds) Object.assign(lane, { since: now, delivered: 0 })
      }
      const limits = lanes.map((lane) => [lane.webhook.id, limitOf(lane, unstored)] as const)
      return new Map(limits.filter(([, limit]) => limit > perWebhookMax))
    },
  }
}

/** A new list that is not full has all that waited; one that is tried again comes before those. */
function mayHaveMore({ queue, webhook }: PushLane): boolean {
  const last = queue.at(-1)?.list
  return last !== undefined && (last.tries > 1 || eventCount(last) >= webhook.listSize)
}
