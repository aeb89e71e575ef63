import type { Body } from '../messages/body.ts'
import type { Ports } from '../ports.ts'
import { processingDefaults } from '../processing.ts'
import type { Carrier, SubmissionAnswer } from './carrier.ts'
import type { DispatcherId, Lane } from './claimed-batches.ts'
import { Claims } from './claims.ts'
import { Commits } from './commits.ts'
import { maySubmit, nextModes, type DispatcherState, type Mode } from './dispatcher-mode.ts'
import { dispatcherDefaults, type DispatcherSettings } from './dispatcher-settings.ts'
import { FlowControl } from './flow-control.ts'
import type { Later } from './gathering.ts'
import type { HistogramCounts } from '../fleet/histogram.ts'
import { Incoming } from './incoming.ts'
import { InFlight } from './in-flight.ts'
import { BrokenInvariant, type OpenBatch } from './open-batch.ts'
import { OutcomeWriter, type Written } from './outcome-writer.ts'
import { RouteTurns } from './route-turns.ts'
import { createStallDetector, type StallDetector, type Work } from './stall.ts'
import { Submissions } from './submissions.ts'

export interface DispatcherPorts extends Pick<Ports, 'claimedBatches' | 'deliveryReceipts' | 'inbox' | 'clock'> {
  /** If undefined, answers are stored at once, however few there are. */
  readonly later?: Later
}

/** Result of one call of `work`; 'closed': the dispatcher claims no more. */
export type Worked = 'claimed' | 'nothing' | 'closed'

/**
 * Submits waiting messages to one carrier and stores their outcomes. Has no timers: the owner calls `work` for each
 * lane, `beat` and `retry`, and finally `drain` once. Everything else happens when the carrier or the store answers.
 *
 * States of a message of a claimed batch:
 *
 * claimed --startMark, attach--> marking --commit--> marked --submit--> unanswered --answer--> outcome waits
 * |                              |                                                               |
 * +--screened out, expired--> settled                                          commit: recorded (or postponed)
 *
 * A message is in doubt from marking until its outcome is committed. States of a claimed batch:
 *
 * claim under way --answer--> open --all outcomes committed--> closed
 * |                          +--declared dead--> fenced: submits nothing more
 * |                                                 +--outcomes of what was submitted--> closed
 * +--failure--> lost: counts as in doubt, stops further claims --disown--> gone
 *
 * States of the mark of a claimed batch:
 *
 * - none --startMark--> committing --commit--> none
 * - committing --failure--> failed --startMark, the same mark again--> committing
 * - none --attach--> attached --commit of the record--> none
 */
export class Dispatcher {
  #mode: Mode = 'working'
  readonly #ports: DispatcherPorts
  readonly #report: (problem: unknown) => void
  readonly #turns: RouteTurns
  readonly #leaveTurns: () => void
  readonly #inFlight: InFlight
  readonly #outcomes: OutcomeWriter
  readonly #flow: FlowControl
  readonly #claims: Claims
  readonly #submissions: Submissions
  readonly #commits: Commits
  readonly #stalls: StallDetector
  readonly #incoming: Incoming
  readonly #changes = createChanges()
  /** Lanes in which a claim waits for room. */
  readonly #waiting = new Set<Lane>()

  /**
   * `confirmation` is the text that confirms an opt-out. `turns` is shared by the dispatchers of one process; by
   * default the carrier claims from every queue.
   */
  constructor(
    ports: DispatcherPorts,
    carrier: Carrier,
    report: (problem: unknown) => void,
    settings: DispatcherSettings = dispatcherDefaults,
    confirmation: Body = processingDefaults.confirmation,
    turns = new RouteTurns({ list: () => Promise.resolve([]) }, ports.clock),
  ) {
    this.#ports = ports
    this.#report = report
    this.#turns = turns
    const inFlight = (this.#inFlight = new InFlight(settings.inDoubtMax))
    const outcomes = (this.#outcomes = new OutcomeWriter(ports, inFlight, this.#markSize))
    const flow = (this.#flow = new FlowControl(ports.clock, carrier, inFlight, settings))
    const callbacks = { answered: this.#answered, ended: () => void this.#commits.write() }
    const parts = { inFlight, outcomes, flow, turns, mode: () => this.#mode, ...callbacks }
    this.#claims = new Claims(ports, carrier.id, parts, settings)
    this.#submissions = new Submissions(ports, carrier, parts, settings)
    const [markSize, committed] = [this.#markSize, this.#committed]
    this.#commits = new Commits(ports, { inFlight, outcomes, markSize, committed })
    this.#stalls = createStallDetector(ports.clock, settings.stallSeconds)
    this.#incoming = new Incoming(ports, carrier.id, { inFlight, outcomes }, confirmation)
    this.#leaveTurns = turns.join({
      carrier: carrier.id,
      availability: () => (this.#mode === 'working' ? flow.availability() : 'down'),
      hasRoom: (lane) => inFlight.isClaiming(lane) || flow.claimSize(lane) > 0,
      changed: () => this.#changes.notify(),
    })
    carrier.listen(this.#incoming.handlers)
    carrier.onAvailability(() => {
      this.#safely(() => this.#giveBack())
      turns.changed()
    })
  }

  /**
   * Waits until the lane has room, then claims once and submits the messages that may be submitted. 'nothing': the lane
   * is empty, call again later. 'closed': the dispatcher claims no more. The two lanes are worked concurrently, each by
   * one caller at a time. Rejects if the store fails; call again.
   */
  async work(lane: Lane): Promise<Worked> {
    for (;;) {
      if (this.#mode !== 'working') return 'closed'
      if (this.#flow.availability() === 'down') return 'nothing'
      const size = this.#flow.claimSize(lane)
      const worked = size > 0 ? await this.#claim(lane, size) : 'turn-of-another'
      if (worked !== 'turn-of-another') return worked
      this.#waiting.add(lane)
      await this.#changes.next()
      this.#waiting.delete(lane)
    }
  }

  /** Renews the lease. To be called at least three times within `leaseSeconds`. */
  beat(): Promise<void> {
    if (this.#mode === 'broken') return Promise.resolve()
    return this.#stalls.renewing(async () => {
      const answer = await this.#claims.extend()
      if (typeof answer === 'object') this.#fence(answer.fenced)
      return answer !== 'none'
    })
  }

  /**
   * Repeats failed calls to the store (marks, records) and checks for progress. To be called several times a second.
   */
  retry(): void {
    this.#flow.look()
    this.#safely(() => {
      this.#giveBack()
      void this.#commits.write(true)
      void this.#disown()
      this.#incoming.run()
      this.#proceed()
      if (this.#mode === 'broken') void this.#claims.retire().catch((problem: unknown) => this.#failed(problem))
      if (this.#mode === 'working' && this.#stalls.look((work) => this.#observe(work))) void this.#probe()
    })
  }

  /**
   * Stops claiming, submits the marked messages, waits for their answers, stores them, and gives all other messages
   * back to the queue. Stops waiting once `deadline` has resolved; submissions that are still outstanding then end as
   * SENT 106.
   */
  async drain(deadline: Promise<unknown>): Promise<void> {
    if (this.#mode === 'working') this.#setMode('draining')
    let late = false
    const isLate = (): boolean => late
    const passed = deadline.then(() => void (late = true))
    this.#turns.changed()
    this.#safely(() => {
      this.#giveBack()
      this.#proceed()
    })
    while (!isLate() && this.#mode === 'draining' && this.#isBusy()) await Promise.race([this.#changes.next(), passed])
    this.#setMode('ended')
    this.#inFlight.abandon()
    for (;;) {
      try {
        await this.#claims.end()
        this.#leaveTurns()
        return
      } catch (problem) {
        if (isLate()) throw problem
        this.#report(problem)
        await Promise.race([this.#changes.next(), passed])
      }
    }
  }

  state(): DispatcherState {
    const [inFlight, outcomes] = [this.#inFlight, this.#outcomes]
    return {
      mode: this.#mode,
      ahead: inFlight.ahead('single') + inFlight.ahead('bulk'),
      unanswered: inFlight.unanswered.size,
      inDoubt: inFlight.inDoubt(),
      uncommitted: outcomes.size,
      stalled: this.#stalls.stalled(),
    }
  }

  /**
   * Returns the histogram of seconds from the due time of a message (its acceptance, if it was not scheduled) to its
   * first submission, since the start.
   */
  waits(): HistogramCounts {
    return this.#submissions.waits()
  }

  /**
   * Returns the messages that this carrier claimed because carriers of a better priority were full, by lane, since the
   * start.
   */
  overflowed(): Readonly<Record<Lane, number>> {
    return { ...this.#claims.overflowed }
  }

  #setMode(next: Mode): void {
    if (!nextModes[this.#mode].includes(next))
      throw new BrokenInvariant(`a dispatcher in mode ${this.#mode} cannot change to ${next}`)
    this.#mode = next
  }

  // Claimed batches

  async #claim(lane: Lane, messagesMax: number): Promise<Worked | 'turn-of-another'> {
    try {
      const isProbe = this.#flow.availability() === 'probing'
      return await this.#claims.claim(lane, messagesMax, this.#flow.markRoom(lane), isProbe)
    } catch (problem) {
      return this.#unlessBroken(problem)
    } finally {
      this.#safely(() => this.#proceed())
    }
  }

  /** After each change, submits and marks as many messages as allowed, and wakes the claims that wait for room. */
  #proceed(): void {
    if (maySubmit(this.#mode)) {
      for (const batch of this.#inFlight.batches()) this.#submissions.submit(batch)
      for (const batch of this.#inFlight.batches()) void this.#mark(batch)
    }
    this.#changes.notify()
  }

  async #mark(batch: OpenBatch): Promise<void> {
    const inFlight = this.#inFlight
    try {
      const upTo = inFlight.startMark(batch, this.#markSize)
      if (upTo === undefined) return
      const answer = await this.#ports.claimedBatches.mark(batch.dispatcher, batch.id, upTo)
      if (answer === 'fenced') this.#fence(batch.dispatcher)
      else inFlight.confirmMark(batch)
      this.#proceed()
    } catch (problem) {
      inFlight.failMark(batch)
      this.#failed(problem)
    }
  }

  // Answers of the carrier

  #answered = (answers: readonly SubmissionAnswer[]): void =>
    this.#safely(() => {
      this.#submissions.keep(answers)
      this.#commits.answered(answers.length)
      // Submit and mark further messages before the commit starts, because this does not depend on the commit.
      this.#proceed()
      void this.#commits.write()
    })

  #giveBack(): void {
    if (!maySubmit(this.#mode)) return
    this.#submissions.giveBack()
    if (this.#outcomes.size > 0) void this.#commits.write(true)
  }

  #committed = ({ fenced, problems }: Written): void => {
    for (const problem of problems) this.#failed(problem)
    // Submit before reading receipts, so that the carrier works meanwhile.
    this.#safely(() => {
      for (const dispatcher of fenced) this.#claims.fence(dispatcher)
      this.#proceed()
    })
    this.#incoming.run()
  }

  // Failures

  /** Drops the messages of a dispatcher that was declared dead. */
  #fence(dispatcher: DispatcherId): void {
    this.#safely(() => {
      this.#claims.fence(dispatcher)
      this.#proceed()
    })
  }

  /** Gives back the messages of failed claims, after which claims continue. Does not depend on the carrier. */
  async #disown(): Promise<void> {
    try {
      if (await this.#claims.disownLost()) this.#proceed()
    } catch (problem) {
      this.#failed(problem)
    }
  }

  /** Checks whether the store answers, registering a new epoch if there is none. */
  async #probe(): Promise<void> {
    try {
      await this.#claims.epoch()
      await this.beat()
    } catch (problem) {
      this.#failed(problem)
    }
  }

  #safely(work: () => void): void {
    try {
      work()
    } catch (problem) {
      this.#failed(problem)
    }
  }

  /**
   * Reports a failure. Failed calls to the store are repeated by `retry`; after a violated invariant the dispatcher
   * submits nothing more.
   */
  #failed(problem: unknown): void {
    this.#report(problem)
    if (!(problem instanceof BrokenInvariant) || !maySubmit(this.#mode)) return
    this.#setMode('broken')
    try {
      this.#inFlight.abandon()
    } catch (further) {
      this.#report(further)
    }
    this.#turns.changed()
    this.#changes.notify()
  }

  /** Stops the dispatcher if an invariant was violated, and rethrows every other failure. */
  #unlessBroken(problem: unknown): 'closed' {
    if (!(problem instanceof BrokenInvariant)) throw problem
    this.#failed(problem)
    return 'closed'
  }

  // Current state

  #isBusy(): boolean {
    const [inFlight, outcomes] = [this.#inFlight, this.#outcomes]
    return inFlight.isClaiming() || inFlight.unanswered.size + outcomes.size > 0 || inFlight.leaving() > 0
  }

  #markSize = (batch: OpenBatch, freed = 0): number =>
    this.#mode === 'working' ? this.#flow.markSize(batch, freed) : 0

  /**
   * Returns whether work of this kind is waiting although it could proceed, and a count that grows whenever it
   * proceeds.
   */
  #observe(work: Work) {
    const [inFlight, outcomes] = [this.#inFlight, this.#outcomes]
    if (work === 'outcomes') return { isWaiting: outcomes.size > 0, moved: outcomes.commits }
    const waits = inFlight.ahead(work) > 0 || this.#waiting.has(work) || inFlight.isClaiming(work)
    return { isWaiting: waits && this.#flow.couldMove(work), moved: inFlight.moves[work] }
  }
}

export const createDispatcher = (...parts: ConstructorParameters<typeof Dispatcher>): Dispatcher =>
  new Dispatcher(...parts)

/** Lets callers wait for the next change, and wakes all of them. */
function createChanges() {
  let waiters: (() => void)[] = []
  return {
    next: (): Promise<void> => new Promise((resolve) => waiters.push(resolve)),
    notify(): void {
      const woken = waiters
      waiters = []
      for (const wake of woken) wake()
    },
  }
}
