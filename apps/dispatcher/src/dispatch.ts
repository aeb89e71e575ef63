import { createProcessing, processingDefaults, type ProcessingPorts, type ProcessingSettings } from '@gateway/core'
import {
  createDispatcher,
  repeatUnknown,
  RouteTurns,
  dispatcherDefaults,
  type Carrier,
  type CarrierId,
  type CarrierMode,
  type CarrierStatus,
  type Dispatcher,
  type DispatcherSettings,
  type Lane,
  type SubmissionAnswer,
} from '@gateway/core/dispatch'
import {
  createCarrierMeter,
  holdable,
  type CarrierCounts,
  type CarrierMeter,
  type CarrierReport,
  type HistogramCounts,
  type TrafficObserver,
} from '@gateway/core/fleet'
import { outageOf, repeat, type Log, type Outage, type Repeated } from '@gateway/server'
import { chore, startChores } from './chores.ts'
import { countAnswers, countInboundMessages, type InboundCounts } from './counts.ts'
import { reportStall } from './health.ts'
import { createIdling, pollDefaults, type Idling, type PollSettings } from './idling.ts'

export interface DispatchSettings {
  readonly ports: ProcessingPorts
  readonly carriers: readonly Carrier[]
  readonly log: Log
  /** Carriers that are paused or drained at first; `setModes` changes them later. */
  readonly modes?: ReadonlyMap<CarrierId, CarrierMode>
  readonly settings?: Partial<DispatcherSettings>
  readonly processing?: ProcessingSettings
  /** Pauses between polls of an empty queue. A poll costs the database 0.1 ms. */
  readonly poll?: Partial<PollSettings>
  /** Called whenever a pause between polls ends early, because work may have become due. */
  readonly woken?: () => void
}

export interface Dispatching {
  /** Reports that a message was accepted in this process, so that the queue is polled at once. */
  wake(): void
  /** Returns the pause between two polls for due work, in milliseconds. The pause grows while no work is due. */
  pause(): number
  /** Returns true if the process has slept so long that its pauses no longer grow. */
  isSoundAsleep(): boolean
  /**
   * Stops claiming, waits for the carriers' answers, stores them, gives all other messages back, and closes the
   * connections. Waits at most `seconds`. Submissions that are still outstanding then become SENT 106.
   */
  stop(seconds: number): Promise<void>
  /** Pauses or drains these carriers and resumes all others. */
  setModes(modes: ReadonlyMap<CarrierId, CarrierMode>): void
  /** Replaces the observers of the traffic of all carriers. */
  observe(observers: ReadonlyMap<CarrierId, readonly TrafficObserver[]>): void
  /** Starts to dispatch over another carrier. */
  add(carrier: Carrier): void
  /** Stops dispatching over one carrier, as `stop` does for all, without effect on the others. */
  remove(carrier: CarrierId, seconds: number): Promise<void>
  /** Returns the messages in the dispatchers now, by carrier. */
  state(): Readonly<Record<string, ReturnType<Dispatcher['state']>>>
  /** Returns the answers since the start, by carrier and outcome. */
  answers(): Readonly<Record<string, Readonly<Record<SubmissionAnswer['outcome'], number>>>>
  /**
   * Returns the number of messages whose outcome became unknown (106) since the start. `answer` counts outcomes that a
   * carrier reported as unknown, `recovery` those that this process decided when it took over from a dead dispatcher.
   */
  unknown(): { readonly answer: number; readonly recovery: number }
  /** Returns the report of each carrier for operators. */
  reports(): readonly CarrierReport[]
  /** Returns the outcomes counted since the previous call, also those of removed carriers. */
  takeCounts(): readonly CarrierCounts[]
  /** Adds counts back that could not be stored. */
  putCountsBack(counts: readonly CarrierCounts[]): void
  /** Returns the status of each network carrier. */
  carriers(): Readonly<Record<string, CarrierStatus>>
  /** Returns histograms since the start by carrier; `responseTime` only of carriers that measure it. */
  histograms(): Readonly<Record<string, CarrierHistograms>>
  /** Returns the inbound messages since the start, by carrier and result. */
  inboundMessages(): Readonly<Record<string, InboundCounts>>
}

export interface CarrierHistograms {
  readonly responseTime: HistogramCounts | undefined
  readonly waits: HistogramCounts
  readonly receiptDelay: HistogramCounts
  readonly parts: HistogramCounts
}

/** A carrier and the loops that work for it. */
interface Link {
  readonly carrier: Carrier
  readonly meter: CarrierMeter
  readonly answers: ReturnType<typeof countAnswers>['answers']
  readonly inboundMessages: InboundCounts
  readonly dispatcher: Dispatcher
  readonly working: readonly Repeated[]
  readonly beating: readonly Repeated[]
  readonly repeating: readonly Repeated[]
  ending: Ending | undefined
}

interface Ending {
  readonly done: Promise<void>
  /** Stops the wait for outstanding answers. */
  readonly hurry: () => void
}

/** Milliseconds between two polls of the schedule, unless the process sleeps. */
const promoteMilliseconds = 200

/** Milliseconds between two searches for messages of unknown outcome that may be submitted again. */
const repeatMilliseconds = 15_000

const lanes: readonly Lane[] = ['single', 'bulk']

/** Dispatches waiting messages to the carriers and does all periodic work until stopped. */
export function startDispatching({
  ports,
  carriers,
  log,
  modes: firstModes = new Map(),
  settings,
  processing: processingSettings = processingDefaults,
  poll,
  woken,
}: DispatchSettings): Dispatching {
  const all = { ...dispatcherDefaults, ...settings }
  const idling = createIdling({
    claimedBatches: ports.claimedBatches,
    settings: { ...pollDefaults, ...poll },
    log,
    wake: () => {
      for (const loop of [...working(), promoting]) loop.wake()
      woken?.()
    },
  })

  function startLink(uncounted: Carrier): Link {
    const { carrier: counted, answers, meter } = countAnswers(uncounted, ports.clock)
    const carrier = holdable(counted)
    carrier.setMode(modes.get(carrier.id) ?? 'running')
    carrier.observe(observers.get(carrier.id) ?? [])
    const outage = outageOf(`record of ${carrier.id}`, log)
    const { inbox, inboundMessages } = countInboundMessages(ports.inbox, carrier.id, log)
    const report = (problem: unknown): void => outage.failed(problem)
    const dispatcher = createDispatcher(
      { ...ports, inbox, later: (milliseconds, call) => void setTimeout(call, milliseconds).unref() },
      carrier,
      report,
      all,
      processingSettings.confirmation,
      turns,
    )
    const working = lanes.map((lane) => workOn(dispatcher, lane, { carrier, log, idling }))
    const repeating = repeatFor(carrier, log)
    const beating = keepAlive(dispatcher, { carrier, log, outage, idling, leaseSeconds: all.leaseSeconds })
    turns.onWake(carrier.id, () => {
      for (const loop of working) loop.wake()
    })
    return { carrier, meter, answers, inboundMessages, dispatcher, working, beating, repeating, ending: undefined }
  }

  /** Returns the loop that repeats messages of unknown outcome, if the carrier recognizes repetitions. */
  function repeatFor(carrier: Carrier, log: Log): readonly Repeated[] {
    if (carrier.repeatableSeconds === undefined) return []
    const repeatOnce = repeatUnknown(ports, carrier)
    return [
      chore(`repeat unknown messages of ${carrier.id}`, repeatMilliseconds, log, async () => {
        const resolved = await repeatOnce(all.validitySeconds)
        if (resolved > 0) log.info({ carrier: carrier.id, resolved }, 'messages of unknown outcome were resolved')
      }),
    ]
  }

  let modes = firstModes
  let observers: ReadonlyMap<CarrierId, readonly TrafficObserver[]> = new Map()
  const turns = new RouteTurns(ports.routes, ports.clock)
  let links: readonly Link[] = []
  for (const carrier of carriers) links = [...links, startLink(carrier)]
  const working = (): readonly Repeated[] => links.flatMap((link) => link.working)
  const processing = createProcessing(ports, processingSettings)
  const promoting = repeat({
    name: 'promote',
    pauseMilliseconds: () => idling.pauseUntilDue(promoteMilliseconds),
    log,
    work: () => processing.promote(),
  })
  let recovered = 0
  /** Counts of removed carriers. */
  let unknownBefore = 0
  /** Counts that are not stored yet, of removed carriers too. */
  const pending = new Map<CarrierId, CarrierMeter>()

  function addPending(carrier: CarrierId, counts: CarrierCounts['counts']): void {
    const meter = pending.get(carrier) ?? createCarrierMeter()
    pending.set(carrier, meter)
    meter.putBack(counts)
  }

  const chores = startChores(processing, idling, log, all, (unknown) => void (recovered += unknown))

  function wake(): void {
    idling.stir()
    for (const loop of working()) loop.wake()
  }

  turns.onWake(undefined, wake)

  return {
    wake,
    pause: () => idling.pause(),
    isSoundAsleep: () => idling.isSoundAsleep(),
    stop: async (seconds) => {
      const deadline = after(seconds)
      try {
        await Promise.all(links.map((link) => endOf(link, deadline.passed, log)))
        const stopped = Promise.all([promoting, ...chores, idling].map((one) => one.stop()))
        await Promise.race([stopped, deadline.passed])
      } finally {
        deadline.cancel()
      }
    },
    setModes: (next) => {
      modes = next
      for (const { carrier } of links) carrier.setMode(next.get(carrier.id) ?? 'running')
    },
    observe: (next) => {
      observers = next
      for (const { carrier } of links) carrier.observe(next.get(carrier.id) ?? [])
    },
    add: (carrier) => {
      links = [...links, startLink(carrier)]
      wake()
    },
    remove: async (id, seconds) => {
      const link = links.find(({ carrier }) => carrier.id === id)
      if (link === undefined) return
      const deadline = after(seconds)
      try {
        await endOf(link, deadline.passed, log)
      } finally {
        deadline.cancel()
        addPending(id, link.meter.take())
        links = links.filter((other) => other !== link)
        unknownBefore += link.answers.unknown
      }
    },
    state: () => Object.fromEntries(links.map(({ carrier, dispatcher }) => [carrier.id, dispatcher.state()])),
    answers: () => Object.fromEntries(links.map(({ carrier, answers }) => [carrier.id, answers])),
    unknown: () => ({
      answer: links.reduce((sum, { answers }) => sum + answers.unknown, unknownBefore),
      recovery: recovered,
    }),
    reports: () => links.map(reportOf),
    takeCounts: () => {
      for (const { carrier, meter } of links) addPending(carrier.id, meter.take())
      return [...pending].flatMap(([carrier, meter]) => {
        const counts = meter.take()
        return counts.length > 0 ? { carrier, counts } : []
      })
    },
    putCountsBack: (some) => {
      for (const { carrier, counts } of some) addPending(carrier, counts)
    },
    histograms: () =>
      Object.fromEntries(
        links.map(({ carrier, meter, dispatcher }) => [
          carrier.id,
          {
            responseTime: carrier.responseTime(),
            waits: dispatcher.waits(),
            receiptDelay: meter.receiptDelay(),
            parts: meter.parts(),
          },
        ]),
      ),
    carriers: () =>
      Object.fromEntries(
        links.flatMap(({ carrier }) => {
          const status = carrier.status()
          return status === undefined ? [] : [[carrier.id, status]]
        }),
      ),
    inboundMessages: () =>
      Object.fromEntries(links.map(({ carrier, inboundMessages }) => [carrier.id, inboundMessages])),
  }
}

function reportOf({ carrier, dispatcher }: Link): CarrierReport {
  const status = carrier.status()
  const { single, bulk } = dispatcher.overflowed()
  return {
    ...{ carrier: carrier.id, mode: carrier.mode(), status },
    window: status?.window ?? carrier.window,
    unanswered: requestsOf(status, dispatcher.state().unanswered),
    ...(single + bulk > 0 && { overflowed: single + bulk }),
  }
}

/**
 * Returns the number of requests without a response. Submissions that wait in the carrier do not count, because they
 * have not been sent.
 */
const requestsOf = (status: CarrierStatus | undefined, submitted: number): number =>
  status?.links?.reduce((sum, { inUse }) => sum + inUse, 0) ?? Math.max(0, submitted - (status?.waiting ?? 0))

/**
 * Gives unsubmitted messages back, then closes the carrier. A second call returns the promise of the first one, and the
 * earlier of both deadlines applies.
 */
function endOf(link: Link, deadline: Promise<void>, log: Log): Promise<void> {
  link.ending ??= startEnding(link, log)
  void deadline.then(link.ending.hurry)
  return link.ending.done
}

function startEnding({ carrier, dispatcher, working, beating, repeating }: Link, log: Log): Ending {
  let hurry = (): void => undefined
  const late = new Promise<void>((resolve) => (hurry = resolve))
  const end = async (): Promise<void> => {
    // Not awaited: a repetition may wait for its answer until the carrier is closed.
    for (const one of repeating) void one.stop()
    const drained = [dispatcher.drain(late)]
    await logFailures(log, 'the dispatcher could not release its messages; another dispatcher takes them over', drained)
    await Promise.race([Promise.all([...working, ...beating].map((one) => one.stop())), late])
    await logFailures(log, 'a carrier could not be closed', [carrier.close(late)])
  }
  return { done: end(), hurry }
}

const workOn = (
  dispatcher: Dispatcher,
  lane: Lane,
  { carrier, log, idling }: { carrier: Carrier; log: Log; idling: Idling },
): Repeated =>
  repeat({
    name: `claim ${lane} for ${carrier.id}`,
    pauseMilliseconds: () => idling.pause(),
    log,
    work: async () => {
      const worked = await dispatcher.work(lane)
      if (worked === 'closed') return 'end'
      if (worked === 'nothing') return 'all'
      idling.stir()
      return 'more'
    },
  })

interface Kept {
  readonly carrier: Carrier
  readonly log: Log
  readonly outage: Outage
  readonly idling: Idling
  readonly leaseSeconds: number
}

function holdsNothing(dispatcher: Dispatcher): boolean {
  const { ahead, unanswered, inDoubt, uncommitted, stalled } = dispatcher.state()
  return ahead + unanswered + inDoubt + uncommitted + stalled.length === 0
}

/** Renews the lease and repeats failed calls. A lease that can be renewed shows that the store is reachable. */
function keepAlive(dispatcher: Dispatcher, { carrier, log, outage, idling, leaseSeconds }: Kept): readonly Repeated[] {
  const tell = reportStall(dispatcher, carrier, log)
  return [
    chore(`lease of ${carrier.id}`, leaseSeconds * 250, log, async () => {
      await dispatcher.beat()
      outage.worked()
    }),
    chore(
      `retries of ${carrier.id}`,
      () => (holdsNothing(dispatcher) ? Math.max(250, idling.pause()) : 250),
      log,
      () => {
        dispatcher.retry()
        tell()
        return Promise.resolve()
      },
    ),
  ]
}

async function logFailures(log: Log, text: string, promises: readonly Promise<void>[]): Promise<void> {
  for (const result of await Promise.allSettled(promises)) {
    if (result.status === 'rejected') log.error({ err: result.reason as unknown }, text)
  }
}

function after(seconds: number): { readonly passed: Promise<void>; cancel(): void } {
  let timer: NodeJS.Timeout | undefined
  const passed = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, seconds * 1000)
  })
  return { passed, cancel: () => clearTimeout(timer) }
}
