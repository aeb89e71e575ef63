import type { Ports } from '@gateway/core'
import { createEventPusher, type PushCounts } from '@gateway/core/webhooks'
import { outageOf, repeat, type Log } from '@gateway/server'
import { webhookBody } from '@gateway/wire'

type StoringPorts = Pick<Ports, 'claimedBatches' | 'deliveryReceipts' | 'inbox'>

export interface PushingSettings {
  readonly ports: Pick<Ports, 'webhooks' | 'webhookClient' | 'secretBox' | 'clock'>
  readonly log: Log
  /** The pause between looks while nothing is stored here; `wake` ends it. By default a second. */
  readonly quietMilliseconds?: () => number
}

export interface Pushing {
  /** Something may have been stored elsewhere. */
  wake(): void
  /** The same ports: what this process stores is pushed without waiting for the next look. */
  waking<P extends StoringPorts>(ports: P): P
  counts(): PushCounts
  /** Requests under way. */
  requests(): number
  /** Lets requests end, for at most `seconds`. */
  stop(seconds: number): Promise<void>
}

/** Between two looks for events; a look that finds nothing costs the database 0.1 ms. */
const pauseMilliseconds = 50
/** While nothing is stored here, at least: nobody wakes a process that is awake. */
const quietMillisecondsMin = 250
/** After something was stored the pauses stay short for so long. */
const stirredMilliseconds = 1000
const purgeMilliseconds = 600_000
const purgedMax = 1000

/** Pushes events to the endpoints of accounts, in a loop of its own, until it is stopped (P-11). */
export function startPushing({ ports, log, quietMilliseconds = () => 1000 }: PushingSettings): Pushing {
  const outage = outageOf('push events', log)
  const seldom = atMostEvery(60_000)
  let stirredAt = -Infinity
  let stopping = false
  /** While a look was under way. */
  let isWoken = false
  const stir = (): void => void (stirredAt = performance.now())
  const isStirred = (): boolean => performance.now() - stirredAt < stirredMilliseconds

  const pusher = createEventPusher(ports, {
    bodyOf: webhookBody,
    chance: Math.random,
    roomAgain: () => {
      outage.worked()
      looking.wake()
    },
    report: (problem) => outage.failed(problem),
    unreadable: ({ id, webhook, unreadable }) =>
      seldom(() => log.error({ list: id, webhook: webhook.id, events: unreadable }, 'a stored event cannot be read')),
  })
  /** Until the next look; a list that failed here is tried again in time. */
  function pause(): number {
    const { requests, unstored, nextMilliseconds } = pusher.state()
    // What comes of requests is stored soon.
    if (isStirred() || requests + unstored > 0) return pauseMilliseconds
    const longest = Math.max(quietMillisecondsMin, quietMilliseconds())
    return Math.max(pauseMilliseconds, Math.min(longest, nextMilliseconds))
  }

  const looking = repeat({
    what: 'claim events',
    pauseMilliseconds: pause,
    log,
    work: async () => {
      if (stopping) return 'end'
      isWoken = false
      const found = await pusher.work()
      if (found === 'more') stir()
      return wasWoken() ? 'more' : found
    },
  })
  const purging = repeat({
    what: 'drop events',
    pauseMilliseconds: purgeMilliseconds,
    log,
    work: async () => ((await ports.webhooks.purge(purgedMax)) < purgedMax ? 'all' : 'more'),
  })

  let isReplaying = false
  const replaying = repeat({
    what: 'replay events',
    // Between two steps others have their turn.
    pauseMilliseconds: () => (isReplaying ? pauseMilliseconds : Math.max(quietMillisecondsMin, quietMilliseconds())),
    log,
    work: async () => {
      if (stopping) return 'end'
      isReplaying = (await ports.webhooks.advanceReplay()) !== 'none'
      if (isReplaying) wake()
      return 'all'
    },
  })

  const wasWoken = (): boolean => isWoken

  function wake(): void {
    isWoken = true
    looking.wake()
  }

  function wakeAll(): void {
    wake()
    if (!isReplaying) replaying.wake()
  }

  /** Ends the long pause of a loop that has nothing to do, not the short ones: they bound how often it looks. */
  function stored<R>(result: R): R {
    if (isNothing(result)) return result
    const wasQuiet = !isStirred()
    stir()
    if (wasQuiet) looking.wake()
    return result
  }

  return {
    wake: wakeAll,
    waking: (given) => ({
      ...given,
      claimedBatches: wakingAfter(given.claimedBatches, ['record', 'settle', 'recover', 'expire'], stored),
      deliveryReceipts: wakingAfter(given.deliveryReceipts, ['apply', 'match'], stored),
      inbox: wakingAfter(given.inbox, ['receive', 'releaseParts'], stored),
    }),
    counts: () => pusher.counts(),
    requests: () => pusher.state().requests,
    stop: async (seconds) => {
      stopping = true
      const passed = new Promise<void>((resolve) => setTimeout(resolve, seconds * 1000).unref())
      await Promise.all([looking.stop(), purging.stop(), replaying.stop()])
      await pusher.drain(passed)
    },
  }
}

/** Calls what it is given, unless it has done so this many milliseconds ago: there may be thousands. */
function atMostEvery(milliseconds: number): (call: () => void) => void {
  let last = -Infinity
  return (call) => {
    if (performance.now() - last < milliseconds) return
    last = performance.now()
    call()
  }
}

/**
 * A call that says by its counts that it changed nothing. When each counted as a change, an idle process took 1.8 % of
 * a core.
 */
function isNothing(result: unknown): boolean {
  if (typeof result === 'object' && result !== null && !Array.isArray(result))
    return Object.values(result).every((count) => count === 0)
  return result === 0
}

/** The same port, with `after` called on what these methods resolve to. */
function wakingAfter<P extends object>(port: P, methods: readonly (keyof P)[], after: <R>(result: R) => R): P {
  const waking = methods.map((name) => {
    const method = port[name] as unknown as (...args: readonly unknown[]) => Promise<unknown>
    return [name, (...args: readonly unknown[]) => method(...args).then(after)] as const
  })
  return { ...port, ...Object.fromEntries(waking) }
}
