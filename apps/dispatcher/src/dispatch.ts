import { createProcessing, processingDefaults, type ProcessingPorts, type ProcessingSettings } from '@gateway/core'
import {
  RouteTurns,
  dispatcherDefaults,
  type Carrier,
  type CarrierId,
  type CarrierMode,
  type CarrierStatus,
  type Dispatcher,
  type DispatcherSettings,
  type SubmissionAnswer,
} from '@gateway/core/dispatch'
import {
  createCarrierMeter,
  type CarrierCounts,
  type CarrierMeter,
  type CarrierReport,
  type TrafficObserver,
} from '@gateway/core/fleet'
import { repeat, type Log, type Repeated } from '@gateway/server'
import { startChores } from './chores.ts'
import type { InboundCounts } from './counts.ts'
import { DispatchedCarrier, type CarrierHistograms } from './dispatched-carrier.ts'
import { Idling, pollDefaults, type PollSettings } from './idling.ts'

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
   * carrier reported as unknown, `recovery` counts outcomes that this process decided when it took over from a dead
   * dispatcher.
   */
  unknown(): { readonly answer: number; readonly recovery: number }
  /** Returns the report of each carrier for operators. */
  reports(): readonly CarrierReport[]
  /** Returns the outcomes counted since the previous call, including outcomes of removed carriers. */
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

/** Milliseconds between two polls of the schedule, unless the process sleeps. */
const promoteMilliseconds = 200

/** Dispatches waiting messages to the carriers and does all periodic work until stopped. */
export const startDispatching = (settings: DispatchSettings): Dispatching => new CarriersDispatching(settings)

class CarriersDispatching implements Dispatching {
  readonly #ports: ProcessingPorts
  readonly #log: Log
  readonly #settings: DispatcherSettings
  readonly #confirmation: ProcessingSettings['confirmation']
  readonly #idling: Idling
  readonly #turns: RouteTurns
  readonly #promoting: Repeated
  readonly #chores: readonly Repeated[]
  #carriers: readonly DispatchedCarrier[] = []
  /** Modes that differ from 'running', also of carriers that are not dispatched over. */
  #modes: ReadonlyMap<CarrierId, CarrierMode>
  #observers: ReadonlyMap<CarrierId, readonly TrafficObserver[]> = new Map()
  /** Messages of unknown outcome that this process decided when it took over from dead dispatchers. */
  #recovered = 0
  /** Messages of unknown outcome of removed carriers. */
  #unknownBefore = 0
  /** Counts that are not stored yet, of removed carriers too. */
  readonly #pending = new Map<CarrierId, CarrierMeter>()

  constructor({
    ports,
    carriers,
    log,
    modes = new Map(),
    settings,
    processing: processingSettings = processingDefaults,
    poll,
    woken,
  }: DispatchSettings) {
    this.#ports = ports
    this.#log = log
    this.#settings = { ...dispatcherDefaults, ...settings }
    this.#confirmation = processingSettings.confirmation
    this.#modes = modes
    this.#idling = new Idling({
      claimedBatches: ports.claimedBatches,
      settings: { ...pollDefaults, ...poll },
      log,
      wake: () => {
        this.#wakeLoops()
        this.#promoting.wake()
        woken?.()
      },
    })
    this.#turns = new RouteTurns(ports.routes, ports.clock)
    for (const carrier of carriers) this.#start(carrier)
    const processing = createProcessing(ports, processingSettings)
    this.#promoting = repeat({
      name: 'promote',
      pauseMilliseconds: () => this.#idling.pauseUntilDue(promoteMilliseconds),
      log,
      work: () => processing.promote(),
    })
    const recovered = (unknown: number): void => void (this.#recovered += unknown)
    this.#chores = startChores(processing, this.#idling, log, this.#settings, recovered)
    this.#turns.onWake(undefined, () => this.wake())
  }

  wake(): void {
    this.#idling.stir()
    this.#wakeLoops()
  }

  pause(): number {
    return this.#idling.pause()
  }

  isSoundAsleep(): boolean {
    return this.#idling.isSoundAsleep()
  }

  async stop(seconds: number): Promise<void> {
    const deadline = after(seconds)
    try {
      await Promise.all(this.#carriers.map((one) => one.end(deadline.passed)))
      const stopped = Promise.all([this.#promoting, ...this.#chores, this.#idling].map((one) => one.stop()))
      await Promise.race([stopped, deadline.passed])
    } finally {
      deadline.cancel()
    }
  }

  setModes(modes: ReadonlyMap<CarrierId, CarrierMode>): void {
    this.#modes = modes
    for (const { carrier } of this.#carriers) carrier.setMode(modes.get(carrier.id) ?? 'running')
  }

  observe(observers: ReadonlyMap<CarrierId, readonly TrafficObserver[]>): void {
    this.#observers = observers
    for (const { carrier } of this.#carriers) carrier.observe(observers.get(carrier.id) ?? [])
  }

  add(carrier: Carrier): void {
    this.#start(carrier)
    this.wake()
  }

  async remove(id: CarrierId, seconds: number): Promise<void> {
    const removed = this.#carriers.find(({ carrier }) => carrier.id === id)
    if (removed === undefined) return
    const deadline = after(seconds)
    try {
      await removed.end(deadline.passed)
    } finally {
      deadline.cancel()
      this.#addPending(id, removed.meter.take())
      this.#carriers = this.#carriers.filter((other) => other !== removed)
      this.#unknownBefore += removed.answers.unknown
    }
  }

  state(): ReturnType<Dispatching['state']> {
    return this.#byCarrier(({ dispatcher }) => dispatcher.state())
  }

  answers(): ReturnType<Dispatching['answers']> {
    return this.#byCarrier(({ answers }) => answers)
  }

  unknown(): ReturnType<Dispatching['unknown']> {
    return {
      answer: this.#carriers.reduce((sum, { answers }) => sum + answers.unknown, this.#unknownBefore),
      recovery: this.#recovered,
    }
  }

  reports(): readonly CarrierReport[] {
    return this.#carriers.map((one) => one.report())
  }

  takeCounts(): readonly CarrierCounts[] {
    for (const { carrier, meter } of this.#carriers) this.#addPending(carrier.id, meter.take())
    return [...this.#pending].flatMap(([carrier, meter]) => {
      const counts = meter.take()
      return counts.length > 0 ? { carrier, counts } : []
    })
  }

  putCountsBack(some: readonly CarrierCounts[]): void {
    for (const { carrier, counts } of some) this.#addPending(carrier, counts)
  }

  carriers(): ReturnType<Dispatching['carriers']> {
    return this.#byCarrier(({ carrier }) => carrier.status())
  }

  histograms(): ReturnType<Dispatching['histograms']> {
    return this.#byCarrier((one) => one.histograms())
  }

  inboundMessages(): ReturnType<Dispatching['inboundMessages']> {
    return this.#byCarrier(({ inboundMessages }) => inboundMessages)
  }

  #start(carrier: Carrier): void {
    const started = new DispatchedCarrier(carrier, {
      ports: this.#ports,
      log: this.#log,
      settings: this.#settings,
      confirmation: this.#confirmation,
      idling: this.#idling,
      turns: this.#turns,
      mode: this.#modes.get(carrier.id) ?? 'running',
      observers: this.#observers.get(carrier.id) ?? [],
    })
    this.#carriers = [...this.#carriers, started]
  }

  #wakeLoops(): void {
    for (const one of this.#carriers) one.wake()
  }

  #addPending(carrier: CarrierId, counts: CarrierCounts['counts']): void {
    const meter = this.#pending.get(carrier) ?? createCarrierMeter()
    this.#pending.set(carrier, meter)
    meter.putBack(counts)
  }

  /** Returns a value of each carrier by its name, without the carriers whose value is undefined. */
  #byCarrier<Value>(valueOf: (one: DispatchedCarrier) => Value | undefined): Readonly<Record<string, Value>> {
    const values: Record<string, Value> = {}
    for (const one of this.#carriers) {
      const value = valueOf(one)
      if (value !== undefined) values[one.carrier.id] = value
    }
    return values
  }
}

function after(seconds: number): { readonly passed: Promise<void>; cancel(): void } {
  let timer: NodeJS.Timeout | undefined
  const passed = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, seconds * 1000)
  })
  return { passed, cancel: () => clearTimeout(timer) }
}
