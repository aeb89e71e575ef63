import type { Body } from '../message/body.ts'
import { OUTCOME } from '../message/status-code.ts'
import type { Ports } from '../ports.ts'
import { processingDefaults } from '../processing.ts'
import type { Availability, Carrier, Submission, SubmissionAnswer } from './carrier.ts'
import type { ClaimedBatch, ClaimedMessage, DispatcherId, Lane, Settled, SettledCode } from './claimed-batches.ts'
import { screenAgain } from './outcomes.ts'
import { nextModes, type DispatcherState, type Mode } from './dispatcher-mode.ts'
import { dispatcherDefaults, retryDelay, type DispatcherSettings } from './dispatcher-settings.ts'
import { createEpochs, type Epochs } from './epochs.ts'
import {
  claimSize,
  couldMove,
  loadOf,
  markRoom,
  markSize,
  measureThroughput,
  overdueSeconds,
  submitRoom,
  type Throughput,
} from './flow-control.ts'
import { createHistogram, type HistogramCounts } from './histogram.ts'
import { createIncoming, type Incoming } from './hold-back-queue.ts'
import { BrokenInvariant, createInFlight, type InFlight, type OpenBatch } from './in-flight.ts'
import {
  createGathering,
  createOutcomeWriter,
  type Gathering,
  type Later,
  type OutcomeWriter,
  type Postponed,
} from './outcome-writer.ts'
import { noRoute, type QueueNumber } from './published-routes.ts'
import { chooseQueue, createRouteTurns, type HandOver, type RouteTurns } from './route-turns.ts'
import { createStallDetector, type StallDetector, type Work } from './stall.ts'

export interface DispatcherPorts extends Pick<
  Ports,
  'claimedBatches' | 'deliveryReceipts' | 'unreadReceipts' | 'unknownMessages' | 'inbox' | 'clock'
> {
  /** Undefined: answers are stored at once, however few there are. */
  readonly later?: Later
}

/** Seconds that messages wait. */
const waitBounds = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600, 21_600]

export type Worked = 'claimed' | 'nothing' | 'closed'

/**
 * Hands waiting messages to one carrier and stores what becomes of them. It has no timers: its owner calls `work` for
 * each lane, `beat` and `retry`, and once `drain`. Everything else happens when the carrier or the store answers.
 *
 * A message of a claimed batch:
 *
 *   claimed --startMark, attach--> marking --commit--> marked --submit--> unanswered --answer--> outcome waits
 *      |                              |                                                               |
 *      +--screened out, expired--> settled                                          commit: recorded (or postponed)
 *
 * In doubt are those that are marking, and all from marked to outcome waits. A claimed batch:
 *
 *   claim under way --answer--> open --all outcomes committed--> closed
 *      |                          +--declared dead--> fenced: submits nothing more
 *      |                                                 +--outcomes of what was submitted--> closed
 *      +--failure--> lost: counts as in doubt, and nothing is claimed --disown--> gone
 *
 * Its mark: none --startMark--> committing --commit--> none none --attach--> attached --commit of the record--> none
 *                                   +--failure--> failed --startMark, the same again--> committing
 */
export class Dispatcher {
  #mode: Mode = 'working'
  readonly #ports: DispatcherPorts
  readonly #carrier: Carrier
  readonly #settings: DispatcherSettings
  readonly #report: (problem: unknown) => void
  readonly #turns: RouteTurns
  readonly #leaveTurns: () => void
  readonly #inFlight: InFlight
  readonly #outcomes: OutcomeWriter
  readonly #epochs: Epochs
  readonly #throughput: Throughput
  readonly #gathering: Gathering
  readonly #stalls: StallDetector
  readonly #incoming: Incoming
  readonly #changes = createChanges()
  readonly #waits = createHistogram(waitBounds)
  /** Lanes in which a claim waits for room. */
  readonly #waiting = new Set<Lane>()
  /** The queue that was claimed from last. */
  readonly #lastQueue: Record<Lane, QueueNumber> = { single: noRoute, bulk: noRoute }
  /** As `retry` has found it. */
  #overdue = 0
  #isWriting = false
  #isDisowning = false

  /**
   * `confirmation`: the text that confirms an opt-out. `turns`: of its process; by default the carrier takes
   * everything.
   */
  constructor(
    ports: DispatcherPorts,
    carrier: Carrier,
    report: (problem: unknown) => void,
    settings: DispatcherSettings = dispatcherDefaults,
    confirmation: Body = processingDefaults.confirmation,
    turns: RouteTurns = createRouteTurns({ list: () => Promise.resolve([]) }, ports.clock),
  ) {
    this.#ports = ports
    this.#carrier = carrier
    this.#settings = settings
    this.#report = report
    this.#turns = turns
    const inFlight = (this.#inFlight = createInFlight(settings.inDoubtMax))
    const outcomes = (this.#outcomes = createOutcomeWriter(ports, inFlight, (batch, freed) =>
      this.#markSize(batch, freed),
    ))
    this.#epochs = createEpochs(ports, settings)
    this.#throughput = measureThroughput(ports.clock)
    this.#gathering = createGathering(ports.clock, ports.later)
    this.#stalls = createStallDetector(ports.clock, settings.stallSeconds)
    this.#incoming = createIncoming(ports, carrier.id, { inFlight, outcomes }, confirmation)
    this.#leaveTurns = turns.join({
      carrier: carrier.id,
      availability: () => (this.#mode === 'working' ? this.#availability() : 'down'),
      hasRoom: (lane) => inFlight.isClaiming(lane) || this.#claimSize(lane) > 0,
      changed: () => this.#changes.notify(),
    })
    carrier.listen(this.#incoming.handlers)
    carrier.onAvailability?.(() => {
      this.#safely(() => this.#giveBack())
      turns.changed()
    })
  }

  /**
   * Waits until there is room in the lane, then claims once and sends what may leave. 'nothing': the lane is empty,
   * ask again later. 'closed': it claims no more. The two lanes are worked side by side, each by one caller at a
   * time. Rejects if the store fails; call again.
   */
  async work(lane: Lane): Promise<Worked> {
    for (;;) {
      if (this.#mode !== 'working') return 'closed'
      if (this.#availability() === 'down') return 'nothing'
      const size = this.#claimSize(lane)
      const worked = size > 0 ? await this.#claim(lane, size).catch(this.#unlessBroken) : 'turn-of-another'
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
      const answer = await this.#epochs.extend()
      if (typeof answer === 'object') this.#fence(answer.fenced)
      return answer !== 'none'
    })
  }

  /**
   * Tries again what failed (a mark, a record), and looks whether there is progress. To be called several times a
   * second.
   */
  retry(): void {
    this.#overdue = this.#inFlight.unansweredSince(this.#ports.clock.now() - overdueSeconds * 1000)
    this.#safely(() => {
      this.#giveBack()
      void this.#write(true)
      void this.#disown()
      this.#incoming.run()
      this.#proceed()
      if (this.#mode === 'broken') void this.#epochs.retire().catch((problem: unknown) => this.#failed(problem))
      if (this.#mode === 'working' && this.#stalls.look((work) => this.#observe(work))) void this.#probe()
    })
  }

  /**
   * Claims no more, submits what is marked, waits for its answers and stores them, and gives the rest back to the
   * queue. Once `deadline` has resolved it waits no longer: what is then unanswered is SENT 106.
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
        if (this.#inFlight.hasLostClaims() && (await this.#epochs.disown(this.#known())))
          this.#inFlight.forgetLostClaims()
        await this.#epochs.retire()
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
      uncommitted: outcomes.size(),
      stalled: this.#stalls.stalled(),
    }
  }

  /** Seconds from when a message was due (at once: accepted) to its first submission, since the start. */
  waits(): HistogramCounts {
    return this.#waits.read()
  }

  #setMode(next: Mode): void {
    if (!nextModes[this.#mode].includes(next))
      throw new BrokenInvariant(`a dispatcher that is ${this.#mode} becomes ${next}`)
    this.#mode = next
  }

  // What happens to claimed batches

  async #claim(lane: Lane, messagesMax: number): Promise<Worked | 'turn-of-another'> {
    const [inFlight, epochs, { claimedBatches }] = [this.#inFlight, this.#epochs, this.#ports]
    const claiming = inFlight.startClaim(lane, Math.min(markRoom(lane, this.#load()), messagesMax))
    try {
      const dispatcher = await epochs.current()
      if (this.#mode !== 'working') return 'nothing'
      const asking = { carrier: this.#carrier.id, lane, messagesMax, after: this.#lastQueue[lane] }
      const chosen = await chooseQueue(this.#turns, claimedBatches, asking)
      if (chosen === 'nothing') inFlight.foundNothing(lane)
      if (typeof chosen === 'string') return chosen
      const { queue, turn } = chosen
      this.#lastQueue[lane] = queue
      const wanted = {
        ...{ carrier: this.#carrier.id, lane, queue, leaseSeconds: this.#settings.leaseSeconds },
        messagesMax: turn.messagesMax,
        markedMax: Math.min(claiming.markedMax, turn.messagesMax),
      }
      const batch = await claimedBatches.claim(dispatcher, wanted).catch((problem: unknown) => {
        // It may have been declared dead meanwhile: then there is nothing left to give back.
        if (epochs.isOurs(dispatcher)) inFlight.loseClaim(claiming)
        turn.done(0)
        throw problem
      })
      turn.done(typeof batch === 'string' ? 0 : batch.messages.length)
      if (batch === 'fenced') this.#fence(dispatcher)
      if (typeof batch === 'string') inFlight.foundNothing(lane)
      // What was claimed before an end that came meanwhile has been given back or taken over.
      if (typeof batch === 'string' || !this.#maySubmit() || !epochs.isOurs(dispatcher)) return 'nothing'
      // Its marks count as those of the batch from now on, and not twice.
      inFlight.endClaim(claiming)
      this.#admit(lane, dispatcher, batch, queue)
      return 'claimed'
    } finally {
      this.#safely(() => {
        inFlight.endClaim(claiming)
        this.#proceed()
      })
    }
  }

  /**
   * Screens once more: what has expired or may not be sent any more ends without the carrier (ruling 1.13). What only
   * others may be given the sender of goes to one of them; where the route has none it is refused.
   */
  #admit(lane: Lane, dispatcher: DispatcherId, batch: ClaimedBatch, queue: QueueNumber): void {
    const settled: Settled[] = []
    const moved: Postponed[] = []
    for (const message of batch.messages) {
      // By the store's clock: that of a process that is wrong would end what waits (P-18).
      const code = screenAgain(message, batch.at, this.#settings.validitySeconds)
      const other = code ?? this.#otherOver(message, queue)
      if (typeof other === 'number') settled.push({ id: message.id, code: other })
      else if (other !== undefined) moved.push(other)
    }
    const skipped = new Set([...settled.map(({ id }) => id), ...moved.map(({ message }) => message.id)])
    const open = this.#inFlight.open(lane, dispatcher, batch, skipped, queue, this.#ports.clock.now() - batch.at)
    if (skipped.size === 0) return
    this.#outcomes.settle(open, settled, moved)
    void this.#write()
  }

  /** Where a message goes that this carrier may not be given the sender of; undefined: it may. */
  #otherOver(message: ClaimedMessage, from: QueueNumber): Postponed | SettledCode | undefined {
    if (message.onlyOver === undefined) return undefined
    const other = this.#turns.toOneOf(from, message.onlyOver)
    return other === undefined ? OUTCOME.refused : { message, ...this.#wait(message, other) }
  }

  /** Something moved: send what may leave, mark what may be marked, wake who waits for room. */
  #proceed(): void {
    if (this.#maySubmit()) {
      for (const batch of this.#inFlight.batches()) this.#submit(batch)
      for (const batch of this.#inFlight.batches()) void this.#mark(batch)
    }
    this.#changes.notify()
  }

  async #mark(batch: OpenBatch): Promise<void> {
    const inFlight = this.#inFlight
    try {
      const upTo = inFlight.startMark(batch, (one) => this.#markSize(one))
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

  #submit(batch: OpenBatch, max?: number): void {
    if (batch.next === batch.marked) return
    const wasIdle = this.#inFlight.unanswered.size === 0
    const room = max ?? submitRoom(batch.lane, this.#load())
    const submissions = this.#submissions(batch, this.#inFlight.submit(batch, room, this.#ports.clock.now()))
    if (submissions.length === 0) return
    if (wasIdle) this.#throughput.began()
    if (!this.#maySubmit()) throw new BrokenInvariant(`a dispatcher that is ${this.#mode} would submit`)
    this.#carrier.submit(submissions, (answers) => this.#safely(() => this.#answered(answers)))
  }

  /**
   * What has expired since the claim ends without the carrier; it is told how long the others may take (ruling 1.29).
   */
  #submissions(batch: OpenBatch, leaving: readonly ClaimedMessage[]): readonly Submission[] {
    const expired: ClaimedMessage[] = []
    const now = leaving.length === 0 ? 0 : this.#ports.clock.now() - batch.clockAhead
    const submissions = leaving.flatMap((message): Submission | [] => {
      const { expires, due, attempt } = message
      if (attempt === 0) this.#waits.observe(Math.max(0, now - due) / 1000)
      if (expires === undefined) return submissionOf(message)
      if (expires > now) return { ...submissionOf(message), validSeconds: (expires - now) / 1000 }
      expired.push(message)
      return []
    })
    for (const { id } of expired) this.#inFlight.answer(id)
    if (expired.length > 0) {
      this.#outcomes.expire(batch, expired)
      void this.#write()
    }
    return submissions
  }

  // What becomes of submissions

  #answered(answers: readonly SubmissionAnswer[]): void {
    const inFlight = this.#inFlight
    for (const answer of answers) {
      const pending = inFlight.answer(answer.id)
      if (pending === undefined) continue
      const { id: _, ...handover } = answer
      if (handover.outcome === 'refused-for-now') this.#postpone(pending.batch, pending.message)
      else this.#outcomes.record(pending.batch, pending.message, handover)
    }
    this.#throughput.answered(answers.length, inFlight.unanswered.size)
    this.#gathering.answered(answers.length)
    void this.#write()
    this.#proceed()
  }

  /** At the first time another carrier of the route has it at once, if there is one; else it waits. */
  #postpone(batch: OpenBatch, message: ClaimedMessage): void {
    const { seconds, queue } = this.#wait(message, this.#turns.afterRefusal(batch.queue, this.#carrier.id))
    this.#outcomes.postpone(batch, message, seconds, queue)
  }

  #wait({ attempt }: ClaimedMessage, { queue, isTakenOver }: HandOver): Pick<Postponed, 'seconds' | 'queue'> {
    return { seconds: isTakenOver && attempt === 0 ? 0 : retryDelay(this.#settings, attempt), queue }
  }

  /**
   * Others have what is not marked: at a stop, while the carrier is down, and while it takes only some and another
   * has room (P-17).
   */
  #giveBack(): void {
    if (!this.#maySubmit()) return
    const availability = this.#availability()
    const isDown = availability === 'down'
    for (const batch of this.#inFlight.batches()) {
      const isLimited = availability !== 'available'
      const isForOthers = isLimited && this.#turns.hasOther(batch.queue, this.#carrier.id, batch.lane)
      if (!isForOthers && this.#mode === 'working' && !isDown) continue
      const ids = this.#inFlight.cut(batch)
      if (ids.length > 0) this.#outcomes.giveBack(batch, ids)
      // What is marked cannot leave over a carrier that is down at a stop, or held: it waits, and is not unknown.
      const isStopped = this.#mode === 'draining' || this.#carrier.isHeld?.() === true
      const isHandedBack = isForOthers || (isDown && isStopped)
      if (!isHandedBack || this.#carrier.handBack === undefined) continue
      this.#submit(batch, batch.marked - batch.next)
      this.#carrier.handBack()
    }
    if (this.#outcomes.size() > 0) void this.#write(true)
  }

  /**
   * Commits the outcomes that wait, and those that come meanwhile, unless more of them come soon; `flush`: in any
   * case.
   */
  async #write(flush = false): Promise<void> {
    const [outcomes, gathering] = [this.#outcomes, this.#gathering]
    if (this.#isWriting) return
    this.#isWriting = true
    const isWorthIt = (): boolean =>
      outcomes.gathering() === 0 || !gathering.isWorthIt(this.#coming, () => void this.#write(true))
    for (let goesOn = true; goesOn && outcomes.size() > 0 && (flush || isWorthIt()); flush = false) {
      gathering.ended()
      const { fenced, problems } = await outcomes.write()
      goesOn = problems.length === 0
      for (const dispatcher of fenced) if (this.#epochs.lose(dispatcher)) this.#inFlight.forgetLostClaims()
      for (const problem of problems) this.#failed(problem)
      // What may leave now leaves first: the carrier works on it meanwhile.
      this.#safely(() => this.#proceed())
      this.#incoming.run()
    }
    this.#isWriting = false
  }

  /** What the carrier owes, and what may be marked for it now: a small window is answered several times in a commit. */
  #coming = (): number => {
    const inFlight = this.#inFlight
    const marked = Math.max(0, ...inFlight.batches().map((batch) => this.#markSize(batch)))
    return inFlight.unanswered.size + inFlight.leaving() + marked
  }

  // The epoch, and what went wrong

  /** The dispatcher was declared dead. */
  #fence(dispatcher: DispatcherId): void {
    if (this.#epochs.lose(dispatcher)) this.#inFlight.forgetLostClaims()
    this.#safely(() => {
      this.#inFlight.fence(dispatcher)
      this.#proceed()
    })
  }

  /**
   * Gives back what failed claims may hold of which nobody knows; then claims go on. It needs no answer of a carrier.
   */
  async #disown(): Promise<void> {
    const inFlight = this.#inFlight
    if (this.#isDisowning || inFlight.isClaiming() || !inFlight.hasLostClaims()) return
    this.#isDisowning = true
    try {
      if (await this.#epochs.disown(this.#known())) inFlight.forgetLostClaims()
      this.#proceed()
    } catch (problem) {
      this.#failed(problem)
    }
    this.#isDisowning = false
  }

  #known = () => this.#inFlight.batches().map(({ id }) => id)

  /** Finds out whether the store answers, under a new epoch if there is none. */
  async #probe(): Promise<void> {
    try {
      await this.#epochs.current()
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

  /** What the store failed to do is tried again by `retry`; after a broken invariant nothing more leaves. */
  #failed(problem: unknown): void {
    this.#report(problem)
    if (!(problem instanceof BrokenInvariant) || !this.#maySubmit()) return
    this.#setMode('broken')
    try {
      this.#inFlight.abandon()
    } catch (further) {
      this.#report(further)
    }
    this.#turns.changed()
    this.#changes.notify()
  }

  #unlessBroken = (problem: unknown): 'closed' => {
    if (!(problem instanceof BrokenInvariant)) throw problem
    this.#failed(problem)
    return 'closed'
  }

  // What is known at this moment

  #maySubmit = (): boolean => this.#mode === 'working' || this.#mode === 'draining'

  #availability = (): Availability => this.#carrier.availability?.() ?? 'available'

  #isBusy(): boolean {
    const [inFlight, outcomes] = [this.#inFlight, this.#outcomes]
    return inFlight.isClaiming() || inFlight.unanswered.size + outcomes.size() > 0 || inFlight.leaving() > 0
  }

  #load() {
    const { window: whole, room } = this.#carrier
    // Answers that are read and not told yet make room already: it is no wider for that.
    const window = room === undefined ? whole : Math.min(whole, this.#inFlight.unanswered.size + room())
    const isProbing = this.#availability() === 'probing'
    return loadOf(this.#inFlight, this.#settings, {
      ...{ window, isProbing, overdue: this.#overdue },
      answersPerSecond: this.#throughput.perSecond(),
    })
  }

  /** Of a carrier that takes only some nothing is claimed that cannot leave at once: others may have it. */
  #claimSize(lane: Lane): number {
    if (this.#inFlight.hasLostClaims()) return 0
    const load = this.#load()
    const size = claimSize(lane, load)
    return this.#availability() === 'available' ? size : Math.min(size, markRoom(lane, load))
  }

  #markSize({ lane, end, marked }: OpenBatch, freed = 0): number {
    if (end === marked || this.#mode !== 'working' || this.#availability() === 'down') return 0
    return markSize(lane, end - marked, this.#load(), freed)
  }

  /** Whether something of the work waits that could move, and how often it has moved. */
  #observe(work: Work) {
    const [inFlight, outcomes] = [this.#inFlight, this.#outcomes]
    if (work === 'outcomes') return { isWaiting: outcomes.size() > 0, moved: outcomes.commits() }
    const waits = inFlight.ahead(work) > 0 || this.#waiting.has(work) || inFlight.isClaiming(work)
    const isWaiting = waits && this.#availability() !== 'down' && couldMove(work, this.#load())
    return { isWaiting, moved: inFlight.moves[work] }
  }
}

export const createDispatcher = (...parts: ConstructorParameters<typeof Dispatcher>): Dispatcher =>
  new Dispatcher(...parts)

const submissionOf = ({ id, from, to, body, priority, flash }: ClaimedMessage): Submission => ({
  ...{ id, from, to, body },
  ...(priority > 0 && { priority }),
  ...(flash && { flash }),
})

/** Wakes all who wait for the next change. */
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
