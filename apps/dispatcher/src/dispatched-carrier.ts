import type { ProcessingPorts, ProcessingSettings } from '@gateway/core'
import {
  createDispatcher,
  repeatUnknown,
  type Carrier,
  type CarrierMode,
  type CarrierStatus,
  type Dispatcher,
  type DispatcherSettings,
  type Lane,
  type RouteTurns,
} from '@gateway/core/dispatch'
import {
  holdable,
  type CarrierMeter,
  type CarrierReport,
  type HistogramCounts,
  type TrafficObserver,
} from '@gateway/core/fleet'
import { outageOf, repeat, type Log, type Repeated } from '@gateway/server'
import { chore } from './chores.ts'
import { countAnswers, countInboundMessages, type InboundCounts } from './counts.ts'
import { reportStall } from './health.ts'
import type { Idling } from './idling.ts'

export interface CarrierHistograms {
  readonly responseTime: HistogramCounts | undefined
  readonly waits: HistogramCounts
  readonly receiptDelay: HistogramCounts
  readonly parts: HistogramCounts
}

interface Surroundings {
  readonly ports: ProcessingPorts
  readonly log: Log
  readonly settings: DispatcherSettings
  /** Body of the message that confirms an opt-out. */
  readonly confirmation: ProcessingSettings['confirmation']
  readonly idling: Idling
  readonly turns: RouteTurns
  readonly mode: CarrierMode
  readonly observers: readonly TrafficObserver[]
}

interface Ending {
  readonly done: Promise<void>
  /** Stops the wait for outstanding answers. */
  readonly hurry: () => void
}

/** Milliseconds between two searches for messages of unknown outcome that may be submitted again. */
const repeatMilliseconds = 15_000

const lanes: readonly Lane[] = ['single', 'bulk']

/**
 * A carrier with its dispatcher and the loops that work for it.
 *
 *   dispatching --end--> draining --messages are given back, or the deadline passes--> closed
 */
export class DispatchedCarrier {
  readonly carrier: Carrier
  readonly meter: CarrierMeter
  /** Answers since the start, by outcome. */
  readonly answers: ReturnType<typeof countAnswers>['answers']
  readonly inboundMessages: InboundCounts
  readonly dispatcher: Dispatcher
  readonly #log: Log
  readonly #idling: Idling
  /** Loops that claim messages, one for each lane. */
  readonly #claiming: readonly Repeated[]
  /** Loops that renew the lease and repeat failed calls. */
  readonly #beating: readonly Repeated[]
  /** Loop that repeats messages of unknown outcome, if the carrier recognizes repetitions. */
  readonly #repeating: Repeated | undefined
  #ending: Ending | undefined

  constructor(uncounted: Carrier, surroundings: Surroundings) {
    const { ports, log, settings, confirmation, idling, turns, mode, observers } = surroundings
    this.#log = log
    this.#idling = idling
    const { carrier: counted, answers, meter } = countAnswers(uncounted, ports.clock)
    this.carrier = holdable(counted)
    this.meter = meter
    this.answers = answers
    this.carrier.setMode(mode)
    this.carrier.observe(observers)
    const { id } = this.carrier
    const outage = outageOf(`record of ${id}`, log)
    const { inbox, inboundMessages } = countInboundMessages(ports.inbox, id, log)
    this.inboundMessages = inboundMessages
    this.dispatcher = createDispatcher(
      { ...ports, inbox, later: (milliseconds, call) => void setTimeout(call, milliseconds).unref() },
      this.carrier,
      (problem: unknown) => outage.failed(problem),
      settings,
      confirmation,
      turns,
    )
    this.#claiming = lanes.map((lane) => this.#claim(lane))
    this.#repeating = this.#repeatUnknown(ports, settings)
    this.#beating = this.#keepAlive(settings.leaseSeconds, () => outage.worked())
    turns.onWake(id, () => this.wake())
  }

  /** Ends the pauses between claims. */
  wake(): void {
    for (const loop of this.#claiming) loop.wake()
  }

  /**
   * Gives unsubmitted messages back, then closes the carrier. A second call returns the promise of the first one, and
   * the earlier of both deadlines applies.
   */
  end(deadline: Promise<void>): Promise<void> {
    this.#ending ??= this.#startEnding()
    void deadline.then(this.#ending.hurry)
    return this.#ending.done
  }

  /** Returns the report for operators. */
  report(): CarrierReport {
    const { carrier, dispatcher } = this
    const status = carrier.status()
    const { single, bulk } = dispatcher.overflowed()
    return {
      ...{ carrier: carrier.id, mode: carrier.mode(), status },
      window: status?.window ?? carrier.window,
      unanswered: requestsOf(status, dispatcher.state().unanswered),
      ...(single + bulk > 0 && { overflowed: single + bulk }),
    }
  }

  histograms(): CarrierHistograms {
    return {
      responseTime: this.carrier.responseTime(),
      waits: this.dispatcher.waits(),
      receiptDelay: this.meter.receiptDelay(),
      parts: this.meter.parts(),
    }
  }

  #startEnding(): Ending {
    let hurry = (): void => undefined
    const late = new Promise<void>((resolve) => (hurry = resolve))
    const end = async (): Promise<void> => {
      // Not awaited: a repetition may wait for its answer until the carrier is closed.
      void this.#repeating?.stop()
      await this.#logFailure(
        'the dispatcher could not release its messages; another dispatcher takes them over',
        this.dispatcher.drain(late),
      )
      const loops = [...this.#claiming, ...this.#beating].map((one) => one.stop())
      await Promise.race([Promise.all(loops), late])
      await this.#logFailure('a carrier could not be closed', this.carrier.close(late))
    }
    return { done: end(), hurry }
  }

  #claim(lane: Lane): Repeated {
    return repeat({
      name: `claim ${lane} for ${this.carrier.id}`,
      pauseMilliseconds: () => this.#idling.pause(),
      log: this.#log,
      work: async () => {
        const worked = await this.dispatcher.work(lane)
        if (worked === 'closed') return 'end'
        if (worked === 'nothing') return 'all'
        this.#idling.stir()
        return 'more'
      },
    })
  }

  #repeatUnknown(ports: ProcessingPorts, { validitySeconds }: DispatcherSettings): Repeated | undefined {
    const { id, repeatableSeconds } = this.carrier
    if (repeatableSeconds === undefined) return undefined
    const repeatOnce = repeatUnknown(ports, this.carrier)
    return chore(`repeat unknown messages of ${id}`, repeatMilliseconds, this.#log, async () => {
      const resolved = await repeatOnce(validitySeconds)
      if (resolved > 0) this.#log.info({ carrier: id, resolved }, 'messages of unknown outcome were resolved')
    })
  }

  /**
   * Starts the loops that renew the lease and repeat failed calls. Calls `renewed` after each renewal, which shows that
   * the store is reachable.
   */
  #keepAlive(leaseSeconds: number, renewed: () => void): readonly Repeated[] {
    const { id } = this.carrier
    const reportStalls = reportStall(this.dispatcher, this.carrier, this.#log)
    return [
      chore(`lease of ${id}`, leaseSeconds * 250, this.#log, async () => {
        await this.dispatcher.beat()
        renewed()
      }),
      chore(
        `retries of ${id}`,
        () => (holdsNothing(this.dispatcher) ? Math.max(250, this.#idling.pause()) : 250),
        this.#log,
        () => {
          this.dispatcher.retry()
          reportStalls()
          return Promise.resolve()
        },
      ),
    ]
  }

  async #logFailure(text: string, promise: Promise<void>): Promise<void> {
    try {
      await promise
    } catch (problem) {
      this.#log.error({ err: problem }, text)
    }
  }
}

/**
 * Returns the number of requests without a response. Submissions that wait in the carrier do not count, because they
 * have not been sent.
 */
const requestsOf = (status: CarrierStatus | undefined, submitted: number): number =>
  status?.links?.reduce((sum, { inUse }) => sum + inUse, 0) ?? Math.max(0, submitted - (status?.waiting ?? 0))

function holdsNothing(dispatcher: Dispatcher): boolean {
  const { ahead, unanswered, inDoubt, uncommitted, stalled } = dispatcher.state()
  return ahead + unanswered + inDoubt + uncommitted + stalled.length === 0
}
