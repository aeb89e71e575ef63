import { createProcessing, processingDefaults, type ProcessingSettings, type Ports } from '@gateway/core'
import {
  createDispatcher,
  createRouteTurns,
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
  holdable,
  type CarrierMeter,
  type CarrierReport,
  type HistogramCounts,
  type HoldableCarrier,
  type PduObserver,
} from '@gateway/core/fleet'
import { outageOf, repeat, type Log, type Outage, type Repeated } from '@gateway/server'
import { chore, startChores } from './chores.ts'
import { countAnswers, countInboundMessages, type InboundCounts } from './counts.ts'
import { reportStall } from './health.ts'
import { createIdling, pollDefaults, type Idling, type PollSettings } from './idling.ts'

export interface DispatchSettings {
  readonly ports: Pick<
    Ports,
    | 'claimedBatches'
    | 'promotions'
    | 'routes'
    | 'deliveryReceipts'
    | 'unreadReceipts'
    | 'unknownMessages'
    | 'inbox'
    | 'history'
    | 'dailySums'
    | 'wakeups'
    | 'carrierFigures'
    | 'clock'
  >
  readonly carriers: readonly Carrier[]
  readonly log: Log
  /** Those that are not to run; later, `setModes` tells. */
  readonly modes?: ReadonlyMap<CarrierId, CarrierMode>
  readonly settings?: Partial<DispatcherSettings>
  readonly processing?: ProcessingSettings
  /** The pauses between looks at an empty queue. A look costs the database 0.1 ms. */
  readonly poll?: Partial<PollSettings>
  /** Something may have become due: called whenever the pauses end early. */
  readonly woken?: () => void
}

export interface Dispatching {
  /** Something was accepted in this process: do not wait for the next look. */
  wake(): void
  /** Milliseconds between two looks for due work; they grow while there is none. */
  pause(): number
  /**
   * Claims no more, waits for the carriers' answers, stores them, gives the rest back, and closes the links. Waits at
   * most
   * `seconds`; what then has no answer is SENT 106.
   */
  stop(seconds: number): Promise<void>
  /** From now on these carriers are paused or drained, and no others. */
  setModes(modes: ReadonlyMap<CarrierId, CarrierMode>): void
  /** From now on these are told of the PDUs of carriers, and no others. */
  observe(observers: ReadonlyMap<CarrierId, readonly PduObserver[]>): void
  /** Works for one more carrier from now on. */
  add(carrier: Carrier): void
  /** Ends the work for one carrier, as `stop` ends that for all; the others do not notice. */
  remove(carrier: CarrierId, seconds: number): Promise<void>
  /** What is held at this moment, by carrier. */
  state(): Readonly<Record<string, ReturnType<Dispatcher['state']>>>
  /** What was answered since the start, by carrier and outcome. */
  answers(): Readonly<Record<string, Readonly<Record<SubmissionAnswer['outcome'], number>>>>
  /**
   * How many outcomes became unknown (106) since the start: told by a carrier, or decided by this process when it took
   * over from a dead dispatcher.
   */
  unknown(): { readonly answer: number; readonly recovery: number }
  /** How each carrier is, for operators. */
  reports(): readonly CarrierReport[]
  /** What carriers over a network tell of themselves, by carrier. */
  carriers(): Readonly<Record<string, CarrierStatus>>
  /** Since the start, by carrier; `responseTime`: of those that measure it. */
  histograms(): Readonly<Record<string, CarrierHistograms>>
  /** What people wrote since the start, by carrier and what came of it. */
  inboundMessages(): Readonly<Record<string, InboundCounts>>
}

export interface CarrierHistograms {
  readonly responseTime: HistogramCounts | undefined
  readonly waits: HistogramCounts
  readonly receiptDelay: HistogramCounts
  readonly parts: HistogramCounts
}

/** A carrier and what works for it. */
interface Link {
  readonly carrier: Carrier
  readonly held: HoldableCarrier
  readonly meter: CarrierMeter
  readonly answers: ReturnType<typeof countAnswers>['answers']
  readonly inboundMessages: InboundCounts
  readonly dispatcher: Dispatcher
  readonly working: readonly Repeated[]
  readonly beating: readonly Repeated[]
  ending: Ending | undefined
}

interface Ending {
  readonly done: Promise<void>
  /** Waits for nothing any more. */
  readonly hurry: () => void
}

/** Between two looks at the schedule, unless the process sleeps. */
const promoteMilliseconds = 200

/** What was counted is stored so often: a kill loses as much. */
const figuresMilliseconds = 60_000

const lanes: readonly Lane[] = ['single', 'bulk']

/** Hands waiting messages to the carriers, and does what falls due by the clock, until it is stopped. */
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
    wakeups: ports.wakeups,
    settings: { ...pollDefaults, ...poll },
    log,
    wake: () => {
      for (const loop of [...working(), promoting]) loop.wake()
      woken?.()
    },
  })

  function startLink(given: Carrier): Link {
    const { carrier: counted, answers, meter } = countAnswers(given, ports.clock)
    const held = holdable(counted)
    const { carrier } = held
    held.setMode(modes.get(carrier.id) ?? 'running')
    carrier.observe?.(observers.get(carrier.id) ?? [])
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
    const beating = keepAlive(dispatcher, { carrier, log, outage, idling, leaseSeconds: all.leaseSeconds })
    turns.onWake(carrier.id, () => {
      for (const loop of working) loop.wake()
    })
    return { carrier, held, meter, answers, inboundMessages, dispatcher, working, beating, ending: undefined }
  }

  let modes = firstModes
  let observers: ReadonlyMap<CarrierId, readonly PduObserver[]> = new Map()
  const turns = createRouteTurns(ports.routes, ports.clock)
  let links: readonly Link[] = []
  for (const carrier of carriers) links = [...links, startLink(carrier)]
  const working = (): readonly Repeated[] => links.flatMap((link) => link.working)
  const processing = createProcessing(ports, processingSettings)
  const promoting = repeat({
    what: 'promote',
    pauseMilliseconds: () => idling.pauseUntilDue(promoteMilliseconds),
    log,
    work: () => processing.promote(),
  })
  let recovered = 0
  /** Of carriers that were removed. */
  let unknownBefore = 0
  const figures = chore('figures of carriers', figuresMilliseconds, log, async () => {
    for (const link of links) await addFigures(link)
  })

  async function addFigures({ carrier, meter }: Link): Promise<void> {
    const counts = meter.take()
    try {
      if (counts.length > 0) await ports.carrierFigures.add(carrier.id, counts)
    } catch (problem) {
      meter.putBack(counts)
      throw problem
    }
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
    stop: async (seconds) => {
      const deadline = after(seconds)
      try {
        await Promise.all(links.map((link) => endOf(link, deadline.passed, log)))
        const stopped = Promise.all([promoting, ...chores, figures, idling].map((one) => one.stop()))
        await Promise.race([stopped, deadline.passed])
        const told = Promise.allSettled(links.map(addFigures))
        await Promise.race([told, deadline.passed])
      } finally {
        deadline.cancel()
      }
    },
    setModes: (next) => {
      modes = next
      for (const { carrier, held } of links) held.setMode(next.get(carrier.id) ?? 'running')
    },
    observe: (next) => {
      observers = next
      for (const { carrier } of links) carrier.observe?.(next.get(carrier.id) ?? [])
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
        await Promise.race([Promise.allSettled([addFigures(link)]), deadline.passed])
      } finally {
        deadline.cancel()
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
    histograms: () =>
      Object.fromEntries(
        links.map(({ carrier, meter, dispatcher }) => [
          carrier.id,
          {
            responseTime: carrier.responseTime?.(),
            waits: dispatcher.waits(),
            receiptDelay: meter.receiptDelay(),
            parts: meter.parts(),
          },
        ]),
      ),
    carriers: () =>
      Object.fromEntries(
        links.flatMap(({ carrier }) => {
          const status = carrier.status?.()
          return status === undefined ? [] : [[carrier.id, status]]
        }),
      ),
    inboundMessages: () =>
      Object.fromEntries(links.map(({ carrier, inboundMessages }) => [carrier.id, inboundMessages])),
  }
}

/** What waits in the carrier is not unanswered: it has not left. */
function reportOf({ carrier, held, dispatcher }: Link): CarrierReport {
  const status = carrier.status?.()
  const { single, bulk } = dispatcher.overflowed()
  const told = {
    ...{ carrier: carrier.id, mode: held.mode(), status },
    ...(single + bulk > 0 && { overflowed: single + bulk }),
  }
  if (status === undefined) return { ...told, window: carrier.window, unanswered: dispatcher.state().unanswered }
  const unanswered = status.links.reduce((sum, { inUse }) => sum + inUse, 0)
  return { ...told, window: status.window, unanswered }
}

/**
 * Gives back what was not submitted, then closes the carrier; asked for again, it is the same end by the earlier
 * deadline.
 */
function endOf(link: Link, deadline: Promise<void>, log: Log): Promise<void> {
  link.ending ??= startEnding(link, log)
  void deadline.then(link.ending.hurry)
  return link.ending.done
}

function startEnding({ carrier, dispatcher, working, beating }: Link, log: Log): Ending {
  let hurry = (): void => undefined
  const late = new Promise<void>((resolve) => (hurry = resolve))
  const end = async (): Promise<void> => {
    const drained = [dispatcher.drain(late)]
    await told(log, 'the dispatcher could not give its messages back; others take them over', drained)
    await Promise.race([Promise.all([...working, ...beating].map((one) => one.stop())), late])
    await told(log, 'a carrier could not be closed', [carrier.close(late)])
  }
  return { done: end(), hurry }
}

const workOn = (
  dispatcher: Dispatcher,
  lane: Lane,
  { carrier, log, idling }: { carrier: Carrier; log: Log; idling: Idling },
): Repeated =>
  repeat({
    what: `claim ${lane} for ${carrier.id}`,
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

/** The lease, and what failed and is to be tried again. While the lease can be renewed the store is there. */
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

async function told(log: Log, failure: string, all: readonly Promise<void>[]): Promise<void> {
  for (const result of await Promise.allSettled(all)) {
    if (result.status === 'rejected') log.error({ err: result.reason as unknown }, failure)
  }
}

function after(seconds: number): { readonly passed: Promise<void>; cancel(): void } {
  let timer: NodeJS.Timeout | undefined
  const passed = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, seconds * 1000)
  })
  return { passed, cancel: () => clearTimeout(timer) }
}
