import type { InboundMessage } from '../inbox/inbound-message.ts'
import { receive } from '../inbox/receive.ts'
import type { Body } from '../message/body.ts'
import type { Ports } from '../ports.ts'
import { processingDefaults } from '../processing-settings.ts'
import type { Clock } from '../time/clock.ts'
import type { Availability } from './claimable-queues.ts'
import { noRoute, type QueueNumber } from './published-routes.ts'
import { createRouteTurns, type RouteTurns } from './route-turns.ts'
import type { Carrier, Submission, SubmissionAnswer } from './carrier.ts'
import type { ClaimedBatch, ClaimedMessage, DispatcherId, Lane, Settled } from './claimed-batches.ts'
import type { DeliveryReceipt } from './delivery-receipt.ts'
import { dispatcherDefaults, retryDelay, type DispatcherSettings } from './dispatcher-settings.ts'
import { createEpochs } from './epochs.ts'
import { claimSize, couldMove, isMoreSoon, loadOf, markRoom, markSize, submitRoom } from './flow-control.ts'
import { createHoldBackQueue } from './hold-back-queue.ts'
import { holdUntilRecorded } from './hold-until-recorded.ts'
import { createInFlight, type OpenBatch } from './in-flight.ts'
import { createOutcomeWriter } from './outcome-writer.ts'
import { screenAgain } from './outcomes.ts'
import { createStallDetector } from './stall-detector.ts'
import type { Work } from './stall.ts'
import { measureThroughput } from './throughput.ts'

/*
 * A message of a claimed batch:
 *
 *   claimed --startMark, attach--> marking --commit--> marked --submit--> unanswered --answer--> outcome waits --commit--> recorded
 *      |                              |                                                                      (or postponed)
 *      +--screened out, expired--> settled           marking, and all from marked to outcome waits: in doubt
 *
 * A claimed batch:
 *
 *   claim under way --answer--> open --all outcomes committed--> closed
 *      |                          +--declared dead--> fenced: submits nothing more --outcomes of what was submitted--> closed
 *      +--failure--> lost: counts as in doubt, and nothing is claimed --disown--> gone
 *
 * Its mark: none --startMark--> committing --commit--> none           none --attach--> attached --commit of the record--> none
 *                                   +--failure--> failed --startMark, the same again--> committing
 */

/** Hands waiting messages to one carrier and stores what becomes of them. It has no timers: its owner calls. */
export interface Dispatcher {
  /**
   * Waits until there is room in the lane, then claims once and sends what may leave. 'nothing': the lane is empty, ask
   * again later. 'closed': it is draining. The two lanes are worked side by side, each by one caller at a time. Rejects if
   * the store fails; call again.
   */
  work(lane: Lane): Promise<'claimed' | 'nothing' | 'closed'>
  /** Renews the lease. To be called at least three times within `leaseSeconds`. */
  beat(): Promise<void>
  /** Tries again what failed (a mark, a record), and looks whether there is progress. To be called several times a second. */
  retry(): void
  /**
   * Claims no more, submits what is marked, waits for its answers and stores them, and gives the rest back to the queue.
   * Once `deadline` has resolved it waits no longer: what is then unanswered is SENT 106.
   */
  drain(deadline: Promise<unknown>): Promise<void>
  /** What it holds at this moment: `inDoubt` never exceeds the setting. */
  state(): {
    readonly ahead: number
    readonly unanswered: number
    readonly inDoubt: number
    readonly uncommitted: number
    /** What makes no progress while the store answers (P-17), as of the last call of `retry`. */
    readonly stalled: readonly Work[]
  }
}

/** Delivery receipts and inbound messages of one commit at the most; a larger backlog is taken in several. */
const receiptsMax = 2000
const inboundMax = 500

type DispatcherPorts = Pick<Ports, 'claimedBatches' | 'deliveryReceipts' | 'inbox' | 'clock'>

export function createDispatcher(
  ports: DispatcherPorts,
  carrier: Carrier,
  report: (problem: unknown) => void,
  settings: DispatcherSettings = dispatcherDefaults,
  confirmation: Body = processingDefaults.confirmation,
  turns: RouteTurns = withoutRoutes(ports.clock),
): Dispatcher {
  const parts = createParts(ports, carrier, report, settings, confirmation, turns)
  const { inFlight, outcomes, stalls } = parts
  return {
    work: (lane) => work(parts, lane),
    beat: () => renew(parts),
    retry: () => retry(parts),
    drain: (deadline) => drain(parts, deadline),
    state: () => ({
      ahead: inFlight.ahead('single') + inFlight.ahead('bulk'),
      unanswered: inFlight.unanswered.size,
      inDoubt: inFlight.inDoubt(),
      uncommitted: outcomes.size(),
      stalled: stalls.stalled(),
    }),
  }
}

/** For one carrier that takes everything. */
const withoutRoutes = (clock: Clock): RouteTurns => createRouteTurns({ list: () => Promise.resolve([]) }, clock)

type Parts = ReturnType<typeof createParts>

/** What a dispatcher consists of. Each part keeps its own state; the functions below make them work together. */
function createParts(
  ports: DispatcherPorts,
  carrier: Carrier,
  report: (problem: unknown) => void,
  settings: DispatcherSettings,
  confirmation: Body,
  turns: RouteTurns,
) {
  const inFlight = createInFlight(settings.inDoubtMax)
  const throughput = measureThroughput(ports.clock)
  const phase = { closing: false, ended: false, writing: false, disowning: false }
  const availability = (): Availability => carrier.availability?.() ?? 'available'
  const load = () => loadOf(inFlight, settings, carrier.takenMax ?? carrier.window, throughput.perSecond())
  const marks = ({ lane, end, marked }: OpenBatch, freed = 0): number =>
    phase.closing || availability() === 'down' ? 0 : markSize(lane, end - marked, load(), freed)
  const outcomes = createOutcomeWriter(ports, inFlight, marks)
  const receipts = createHoldBackQueue<DeliveryReceipt>(
    (some) => ports.deliveryReceipts.apply(some),
    (some) => () => some.some(({ reference }) => outcomes.hasReference(reference)),
    receiptsMax,
  )
  const store = receive(ports, confirmation)
  const inbound = createHoldBackQueue(
    (some: readonly InboundMessage[]) => store(some).then(() => []),
    holdUntilRecorded(inFlight, outcomes),
    inboundMax,
  )
  carrier.listen({
    receipts: (some) => receipts.add(some),
    inboundMessages: (some) => inbound.add(some),
    offersEnded: (offers) => ports.inbox.endOffers(carrier.id, offers),
    receiptForm: {
      learned: () => ports.deliveryReceipts.learnedForm(carrier.id),
      keep: (form) => ports.deliveryReceipts.keepLearnedForm(carrier.id, form),
    },
  })
  const changes = createChanges()
  const leave = turns.join({
    carrier: carrier.id,
    availability: () => (phase.closing ? 'down' : availability()),
    hasRoom: (lane) => inFlight.isClaiming(lane) || (!inFlight.hasLostClaims() && claimSize(lane, load()) > 0),
    changed: () => changes.notify(),
  })
  const parts = {
    ...{ turns, leave, availability },
    ...{ ports, carrier, report, settings, phase, inFlight, load, marks, outcomes, receipts, inbound, throughput },
    epochs: createEpochs(ports, settings),
    stalls: createStallDetector(ports.clock, settings.stallSeconds),
    changes,
    /** Lanes in which a claim waits for room. */
    waiting: new Set<Lane>(),
    /** The queue that was claimed from last. */
    lastQueue: { single: noRoute, bulk: noRoute } as Record<Lane, QueueNumber>,
  }
  carrier.onAvailability?.(() => {
    giveBack(parts)
    turns.changed()
  })
  return parts
}

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

/** Something moved: send what may leave, mark what may be marked, wake who waits for room. */
function proceed(parts: Parts): void {
  const { inFlight, changes } = parts
  for (const batch of inFlight.batches()) submit(parts, batch)
  for (const batch of inFlight.batches()) void mark(parts, batch)
  changes.notify()
}

async function work(parts: Parts, lane: Lane): Promise<'claimed' | 'nothing' | 'closed'> {
  const { phase, inFlight, waiting, changes } = parts
  for (;;) {
    if (phase.closing) return 'closed'
    const size = inFlight.hasLostClaims() ? 0 : claimSize(lane, parts.load())
    if (parts.availability() === 'down') return 'nothing'
    const worked = size > 0 ? await claim(parts, lane, size) : 'turn-of-another'
    if (worked !== 'turn-of-another') return worked
    waiting.add(lane)
    await changes.next()
    waiting.delete(lane)
  }
}

async function claim(
  parts: Parts,
  lane: Lane,
  messagesMax: number,
): Promise<'claimed' | 'nothing' | 'turn-of-another'> {
  const { ports, carrier, settings, phase, inFlight, epochs } = parts
  const claiming = inFlight.startClaim(lane, Math.min(markRoom(lane, parts.load()), messagesMax))
  try {
    const dispatcher = await epochs.current()
    if (phase.closing) return 'nothing'
    const chosen = await chooseQueue(parts, lane, messagesMax)
    if (chosen === 'nothing') inFlight.foundNothing(lane)
    if (typeof chosen === 'string') return chosen
    const { queue, turn } = chosen
    const { leaseSeconds } = settings
    const wanted = {
      ...{ carrier: carrier.id, lane, queue, leaseSeconds },
      messagesMax: turn.messagesMax,
      markedMax: Math.min(claiming.markedMax, turn.messagesMax),
    }
    const batch = await ports.claimedBatches.claim(dispatcher, wanted).catch((problem: unknown) => {
      // It may have been declared dead meanwhile: then there is nothing left to give back.
      if (epochs.isOurs(dispatcher)) inFlight.loseClaim(claiming)
      turn.done(0)
      throw problem
    })
    turn.done(typeof batch === 'string' ? 0 : batch.messages.length)
    if (batch === 'fenced') fence(parts, dispatcher)
    if (typeof batch === 'string') inFlight.foundNothing(lane)
    // What was claimed before an end that came meanwhile has been given back or taken over.
    if (typeof batch === 'string' || phase.ended || !epochs.isOurs(dispatcher)) return 'nothing'
    admit(parts, lane, dispatcher, batch, queue)
    return 'claimed'
  } finally {
    inFlight.endClaim(claiming)
    proceed(parts)
  }
}

/** The next queue after the last one in which something waits and it is this carrier's turn. Where there is only one nobody looks first. */
async function chooseQueue(parts: Parts, lane: Lane, messagesMax: number) {
  const { ports, carrier, turns, lastQueue } = parts
  const claimable = await turns.claimable(carrier.id)
  const [only] = claimable
  const isAlone = claimable.length === 1 && only?.equals.length === 0
  const numbers = claimable.map(({ queue }) => queue)
  const found = isAlone || only === undefined ? numbers : await ports.claimedBatches.queuesWithWork(lane, numbers)
  if (found.length === 0) return 'nothing'
  const from = found.findIndex((queue) => numbers.indexOf(queue) > numbers.indexOf(lastQueue[lane]))
  for (const queue of [...found.slice(Math.max(0, from)), ...found.slice(0, Math.max(0, from))]) {
    const at = claimable.find((one) => one.queue === queue)
    const turn = at && turns.take(at, carrier.id, lane, messagesMax)
    if (turn === undefined) continue
    lastQueue[lane] = queue
    return { queue, turn }
  }
  return 'turn-of-another'
}

/** Screens once more: what has expired or may not be sent any more ends without the carrier (ruling 1.13). */
function admit(parts: Parts, lane: Lane, dispatcher: DispatcherId, batch: ClaimedBatch, queue: QueueNumber): void {
  const { ports, settings, inFlight, outcomes } = parts
  const now = ports.clock.now()
  const settled = batch.messages.flatMap((message): Settled[] => {
    const code = screenAgain(message, now, settings.validitySeconds)
    return code === undefined ? [] : [{ id: message.id, code }]
  })
  const open = inFlight.open(lane, dispatcher, batch, new Set(settled.map(({ id }) => id)), queue)
  if (settled.length === 0) return
  outcomes.settle(open, settled)
  void write(parts)
}

async function mark(parts: Parts, batch: OpenBatch): Promise<void> {
  const { ports, inFlight, report } = parts
  const upTo = inFlight.startMark(batch, parts.marks)
  if (upTo === undefined) return
  try {
    const answer = await ports.claimedBatches.mark(batch.dispatcher, batch.id, upTo)
    if (answer === 'fenced') fence(parts, batch.dispatcher)
    else inFlight.confirmMark(batch)
  } catch (problem) {
    inFlight.failMark(batch)
    report(problem)
    return
  }
  proceed(parts)
}

function submit(parts: Parts, batch: OpenBatch): void {
  if (batch.next === batch.marked) return
  const leaving = parts.inFlight.submit(batch, submitRoom(batch.lane, parts.load()))
  if (leaving.length === 0) return
  const submissions = leaving.map(({ id, from, to, body }): Submission => ({ id, from, to, body }))
  parts.carrier.submit(submissions, (answers) => answered(parts, answers))
}

function answered(parts: Parts, answers: readonly SubmissionAnswer[]): void {
  const { inFlight, throughput } = parts
  for (const answer of answers) {
    const pending = inFlight.answer(answer.id)
    if (pending !== undefined) keep(parts, pending.batch, pending.message, answer)
  }
  throughput.answered(answers.length, inFlight.unanswered.size)
  void write(parts)
  proceed(parts)
}

function keep(parts: Parts, batch: OpenBatch, message: ClaimedMessage, answer: SubmissionAnswer): void {
  const { outcomes } = parts
  if (answer.outcome === 'refused-for-now') postpone(parts, batch, message)
  else {
    const { id: _, ...handover } = answer
    outcomes.record(batch, message, handover)
  }
}

/** At the first time another carrier of the route has it at once, if there is one; else it waits. */
function postpone({ outcomes, settings, turns, carrier }: Parts, batch: OpenBatch, message: ClaimedMessage): void {
  const { queue, isTakenOver } = turns.afterRefusal(batch.queue, carrier.id)
  const seconds = isTakenOver && message.attempt === 0 ? 0 : retryDelay(settings, message.attempt)
  outcomes.postpone(batch, message, seconds, queue)
}

/** While the carrier is down others have what is not marked. */
function giveBack(parts: Parts): void {
  const { inFlight, outcomes, phase, availability } = parts
  if (phase.ended || availability() !== 'down') return
  for (const batch of inFlight.batches()) {
    const ids = inFlight.cut(batch)
    if (ids.length > 0) outcomes.giveBack(batch, ids)
  }
  if (outcomes.size() > 0) void write(parts, true)
}

/** Commits the outcomes that wait, and those that come meanwhile, unless more of them come soon; `flush`: in any case. */
async function write(parts: Parts, flush = false): Promise<void> {
  const { phase, outcomes, epochs, inFlight, report } = parts
  if (phase.writing) return
  phase.writing = true
  const isWorthIt = (): boolean => outcomes.gathering() === 0 || !isMoreSoon(outcomes.gathering(), parts.load())
  for (let goesOn = true; goesOn && outcomes.size() > 0 && (flush || isWorthIt()); flush = false) {
    const { fenced, problems } = await outcomes.write()
    goesOn = problems.length === 0
    for (const dispatcher of fenced) if (epochs.lose(dispatcher)) inFlight.forgetLostClaims()
    for (const problem of problems) report(problem)
    releaseHeldBack(parts)
    proceed(parts)
  }
  phase.writing = false
}

function releaseHeldBack({ receipts, inbound }: Parts): void {
  receipts.run()
  inbound.run()
}

/** The dispatcher was declared dead. */
function fence(parts: Parts, dispatcher: DispatcherId): void {
  if (parts.epochs.lose(dispatcher)) parts.inFlight.forgetLostClaims()
  parts.inFlight.fence(dispatcher)
  proceed(parts)
}

function retry(parts: Parts): void {
  giveBack(parts)
  void write(parts, true)
  void disown(parts)
  releaseHeldBack(parts)
  proceed(parts)
  if (!parts.phase.closing && parts.stalls.look((work) => observe(parts, work))) void probe(parts)
}

const known = ({ inFlight }: Parts) => inFlight.batches().map(({ id }) => id)

/** Gives back what failed claims may hold of which nobody knows; then claims go on. It needs no answer of a carrier. */
async function disown(parts: Parts): Promise<void> {
  const { phase, inFlight, epochs, report } = parts
  if (phase.disowning || inFlight.isClaiming() || !inFlight.hasLostClaims()) return
  phase.disowning = true
  try {
    if (await epochs.disown(known(parts))) inFlight.forgetLostClaims()
  } catch (problem) {
    report(problem)
  }
  phase.disowning = false
  proceed(parts)
}

/** Whether something of the work waits that could move, and how often it has moved. */
function observe({ inFlight, outcomes, waiting, load, availability }: Parts, work: Work) {
  if (work === 'outcomes') return { isWaiting: outcomes.size() > 0, moved: outcomes.commits() }
  const waits = inFlight.ahead(work) > 0 || waiting.has(work) || inFlight.isClaiming(work)
  return { isWaiting: waits && availability() !== 'down' && couldMove(work, load()), moved: inFlight.moves[work] }
}

const renew = (parts: Parts): Promise<void> =>
  parts.stalls.renewing(async () => {
    const answer = await parts.epochs.extend()
    if (typeof answer === 'object') fence(parts, answer.fenced)
    return answer !== 'none'
  })

/** Finds out whether the store answers, under a new epoch if there is none. */
async function probe(parts: Parts): Promise<void> {
  try {
    await parts.epochs.current()
    await renew(parts)
  } catch (problem) {
    parts.report(problem)
  }
}

const isBusy = ({ inFlight, outcomes }: Parts): boolean =>
  inFlight.isClaiming() || inFlight.unanswered.size + outcomes.size() > 0 || inFlight.leaving() > 0

async function drain(parts: Parts, deadline: Promise<unknown>): Promise<void> {
  const { phase, inFlight, changes, report } = parts
  phase.closing = true
  parts.turns.changed()
  let late = false
  const isLate = (): boolean => late
  const passed = deadline.then(() => void (late = true))
  proceed(parts)
  while (!isLate() && isBusy(parts)) await Promise.race([changes.next(), passed])
  phase.ended = true
  inFlight.abandon()
  for (;;) {
    try {
      if (inFlight.hasLostClaims() && (await parts.epochs.disown(known(parts)))) inFlight.forgetLostClaims()
      await parts.epochs.retire()
      parts.leave()
      return
    } catch (problem) {
      if (isLate()) throw problem
      report(problem)
      await Promise.race([changes.next(), passed])
    }
  }
}
