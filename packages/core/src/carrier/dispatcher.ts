import { processingDefaults } from '../processing-settings.ts'
import { receive } from '../inbox/receive.ts'
import { OUTCOME } from '../message/status-code.ts'
import type { Body } from '../message/body.ts'
import type { Ports } from '../ports.ts'
import { secondsAfter } from '../time/instant.ts'
import {
  ahead,
  alofts,
  confirmMark,
  depart,
  emptySky,
  fence,
  inDoubt,
  land,
  passGrounded,
  takeOff,
  type Aloft,
} from './aloft.ts'
import type { Carrier, Submission, SubmissionAnswer } from './carrier.ts'
import { dispatcherDefaults, retryDelay, type DispatcherSettings } from './dispatcher-settings.ts'
import type { DispatcherId, ClaimedBatch, ClaimedBatchId, Lane, Settled } from './claimed-batches.ts'
import { createEpochs } from './epochs.ts'
import { createHeldQueue } from './held-queue.ts'
import { overtaking } from './overtaking.ts'
import type { DeliveryReceipt } from './delivery-receipt.ts'
import { createRecorder } from './recorder.ts'
import { createRiding } from './riding.ts'
import { screenAgain } from './screen-again.ts'
import type { Work } from './standstill.ts'
import { measureThroughput } from './throughput.ts'
import { watchProgress } from './watch-progress.ts'

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

interface Claim {
  readonly lane: Lane
  /** So many messages it may mark. */
  readonly markedMax: number
}

/** A part of the window and of what may be in doubt is kept for the single lane, so that bulk never holds it up. */
const bulkShare = 0.75

/** With a carrier that is slower than we are, bulk that waits for its answers is at most what it answers in so many seconds. */
const bulkSeconds = 0.6

/**
 * A carrier that answers all that it has within so many seconds is waited for before its answers are stored. With one that answers at once
 * that makes batches of 113 messages instead of 75: together with marks that ride 29 µs of PostgreSQL a message instead of 36.
 */
const gatherSeconds = 0.003

/** Receipts and arrivals of one commit at the most; a larger backlog is taken in several. */
const receiptsMax = 2000
const arrivalsMax = 500

/** Small marks and small claims cost a commit each: at least this part of the bound at a time, unless less is left. */
const leastShare = 0.125

export function createDispatcher(
  ports: Pick<Ports, 'claimedBatches' | 'deliveryReceipts' | 'inbox' | 'clock'>,
  carrier: Carrier,
  report: (problem: unknown) => void,
  settings: DispatcherSettings = dispatcherDefaults,
  confirmation: Body = processingDefaults.confirmation,
): Dispatcher {
  const { claimedBatches, clock } = ports
  const sky = emptySky()
  const epochs = createEpochs(ports, settings, fenced)
  let closing = false
  /** Everything was given back: nothing may leave any more. */
  let ended = false
  /** What failed claims took is being given back. */
  let settling = false
  /** Claims under way. */
  const claims = new Set<Claim>()
  /** Claimed batches of which a mark is being committed. */
  const marks = new Set<Aloft>()
  const throughput = measureThroughput(clock)
  let waiters: (() => void)[] = []
  /** Lanes in which a claim waits for room. */
  const waitingForRoom = new Set<Lane>()
  const progress = watchProgress(clock, settings.stallSeconds)

  const riding = createRiding()
  const recorder = createRecorder(ports, sky, riding, {
    room: markedWith,
    moreSoon,
    recorded: (dispatcher) => {
      for (const aloft of riding.alight(dispatcher)) {
        confirmMark(aloft)
        progress.moved(aloft.lane)
      }
    },
    stored: () => progress.moved('outcomes'),
    committed: () => {
      receipts.run()
      arrivals.run()
      proceed()
    },
    fenced,
    problem: report,
  })
  const receipts = createHeldQueue<DeliveryReceipt>(
    (some) => ports.deliveryReceipts.apply(some),
    (some) => () => some.some(({ reference }) => recorder.isWaiting(reference)),
    receiptsMax,
  )
  const arrivals = createHeldQueue(receive(ports, confirmation), overtaking(sky, recorder), arrivalsMax)
  carrier.listen({ receipts: (some) => receipts.add(some), arrivals: (some) => arrivals.add(some) })

  const changed = (): Promise<void> => new Promise((resolve) => waiters.push(resolve))

  /** Something moved: send what may leave, mark what may be marked, wake who waits for room. */
  function proceed(): void {
    for (const aloft of alofts(sky)) passGrounded(aloft)
    for (const aloft of alofts(sky)) submit(aloft)
    for (const aloft of alofts(sky)) void mark(aloft)
    const woken = waiters
    waiters = []
    for (const wake of woken) wake()
  }

  const share = (lane: Lane, of: number): number => (lane === 'single' ? of : Math.max(1, Math.floor(of * bulkShare)))
  const least = (of: number): number => Math.max(1, Math.floor(of * leastShare))
  /** Of bulk never so much that a single message behind it would wait long; at least as much as a mark is worth. */
  const windowOf = (lane: Lane): number =>
    lane === 'single'
      ? carrier.window
      : Math.min(
          share(lane, carrier.window),
          Math.max(least(settings.inDoubtMax), Math.ceil(throughput.perSecond() * bulkSeconds)),
        )
  const windowRoom = (lane: Lane): number => windowOf(lane) - sky.unanswered.size

  /** Whether at least as many answers as wait to be stored will come within a moment: then one commit stores them all. */
  function moreSoon(count: number): boolean {
    const { size } = sky.unanswered
    return size > 0 && count <= size && size <= throughput.perSecond() * gatherSeconds
  }

  const doubtful = (): number => inDoubt(sky) - riding.covered() + epochs.inDoubt()

  /**
   * How many more messages of the lane may be marked: within the bound, and not more than the window has room for. `freed`: so many
   * will no longer be in doubt.
   */
  function markRoom(lane: Lane, freed = 0): number {
    const claiming = [...claims].reduce((sum, { markedMax }) => sum + markedMax, 0)
    const doubtRoom = share(lane, settings.inDoubtMax) - doubtful() + freed - claiming
    const marked = alofts(sky).reduce((sum, aloft) => sum + (aloft.fenced ? 0 : aloft.marking - aloft.next), 0)
    return Math.max(0, Math.min(doubtRoom, windowRoom(lane) - marked - claiming))
  }

  /** How many messages may be claimed in the lane now. Bulk is claimed at most a slice ahead of what may be marked. */
  function claimRoom(lane: Lane): number {
    if (epochs.isDoubtful()) return 0
    if (lane === 'bulk') return ahead(sky, lane) < settings.sliceMax / 2 ? settings.sliceMax : 0
    const room = markRoom(lane)
    const enough = Math.min(least(settings.inDoubtMax), least(carrier.window))
    return ahead(sky, lane) === 0 && room >= enough ? Math.min(room, settings.sliceMax) : 0
  }

  function fenced(dispatcher: DispatcherId): void {
    epochs.lose(dispatcher)
    riding.alight(dispatcher)
    for (const aloft of alofts(sky)) {
      if (aloft.dispatcher !== dispatcher) continue
      fence(aloft)
      if (aloft.open === 0) land(sky, aloft)
    }
    proceed()
  }

  async function claim(lane: Lane, messagesMax: number): Promise<'claimed' | 'nothing'> {
    const underWay: Claim = { lane, markedMax: Math.min(markRoom(lane), messagesMax) }
    claims.add(underWay)
    try {
      const dispatcher = await epochs.current()
      if (closing) return 'nothing'
      const batch = await claimAs(dispatcher, lane, messagesMax, underWay.markedMax)
      // An empty queue is no progress for what was claimed before.
      if (typeof batch === 'object' || ahead(sky, lane) === 0) progress.moved(lane)
      if (batch === 'fenced') fenced(dispatcher)
      // What was claimed before an end that came meanwhile has been given back or taken over.
      if (typeof batch === 'string' || ended || !epochs.isOurs(dispatcher)) return 'nothing'
      admit(lane, dispatcher, batch)
      return 'claimed'
    } finally {
      claims.delete(underWay)
      proceed()
    }
  }

  async function claimAs(dispatcher: DispatcherId, lane: Lane, messagesMax: number, markedMax: number) {
    try {
      const { leaseSeconds } = settings
      return await claimedBatches.claim(dispatcher, { carrier: carrier.id, lane, messagesMax, markedMax, leaseSeconds })
    } catch (problem) {
      epochs.doubt(dispatcher, markedMax)
      throw problem
    }
  }

  function admit(lane: Lane, dispatcher: DispatcherId, batch: ClaimedBatch): void {
    const expired = secondsAfter(clock.now(), -settings.validitySeconds)
    const settled = batch.messages.flatMap((message): Settled[] => {
      const code = message.due < expired ? OUTCOME.expired : screenAgain(message)
      return code === undefined ? [] : [{ id: message.id, code }]
    })
    const aloft = takeOff(sky, lane, dispatcher, batch, new Set(settled.map(({ id }) => id)))
    if (settled.length === 0) return
    recorder.settle(aloft, settled)
    recorder.run()
  }

  /** Where the mark of a claimed batch should go now: an earlier try that failed first, since it may have been committed. */
  function markTarget({ lane, messages, marked, marking }: Aloft, freed = 0): number | undefined {
    if (marking > marked) return marking
    const left = messages.length - marked
    const room = markRoom(lane, freed)
    const enough = Math.min(left, least(settings.inDoubtMax), least(carrier.window))
    return closing || left === 0 || room < enough ? undefined : marked + Math.min(left, room)
  }

  const mayMark = (aloft: Aloft): boolean =>
    !aloft.fenced && aloft.settled && !marks.has(aloft) && !riding.has(aloft) && aloft.marking === aloft.marked

  /** What may be marked in the commit that ends the doubt of `freed` messages. */
  function markedWith(dispatcher: DispatcherId, freed: number): readonly Aloft[] {
    return alofts(sky).filter((aloft) => {
      passGrounded(aloft)
      const upTo = aloft.dispatcher === dispatcher && mayMark(aloft) ? markTarget(aloft, freed) : undefined
      if (upTo !== undefined) aloft.marking = upTo
      return upTo !== undefined
    })
  }

  async function mark(aloft: Aloft): Promise<void> {
    if (aloft.fenced || !aloft.settled || marks.has(aloft) || riding.has(aloft)) return
    const upTo = markTarget(aloft)
    if (upTo === undefined) return
    aloft.marking = upTo
    marks.add(aloft)
    try {
      const answer = await claimedBatches.mark(aloft.dispatcher, aloft.batch, upTo)
      if (answer === 'fenced') fenced(aloft.dispatcher)
      else confirmMark(aloft)
      progress.moved(aloft.lane)
    } catch (problem) {
      report(problem)
      return
    } finally {
      marks.delete(aloft)
    }
    proceed()
  }

  function submit(aloft: Aloft): void {
    const leaving = depart(aloft, windowRoom(aloft.lane))
    if (leaving.length === 0) return
    progress.moved(aloft.lane)
    for (const message of leaving) sky.unanswered.set(message.id, { aloft, message })
    const submissions = leaving.map(({ id, from, to, body }): Submission => ({ id, from, to, body }))
    carrier.submit(submissions, answered)
  }

  function answered(answers: readonly SubmissionAnswer[]): void {
    for (const answer of answers) {
      const pending = sky.unanswered.get(answer.id)
      if (pending === undefined || !sky.unanswered.delete(answer.id)) continue
      const { aloft, message } = pending
      if (answer.outcome === 'refused-for-now') {
        recorder.postpone(aloft, message.id, retryDelay(settings, message.attempt))
      } else {
        const handover =
          answer.outcome === 'accepted'
            ? ({ outcome: 'accepted', reference: answer.reference } as const)
            : { outcome: answer.outcome }
        recorder.record(aloft, { batch: aloft.batch, message, handover })
      }
    }
    throughput.answered(answers.length, sky.unanswered.size)
    recorder.run()
    proceed()
  }

  async function work(lane: Lane): Promise<'claimed' | 'nothing' | 'closed'> {
    for (;;) {
      if (closing) return 'closed'
      const room = claimRoom(lane)
      if (room > 0) return claim(lane, room)
      waitingForRoom.add(lane)
      await changed()
      waitingForRoom.delete(lane)
    }
  }

  const known = (): readonly ClaimedBatchId[] => alofts(sky).map(({ batch }) => batch)

  /** Gives back what failed claims may hold of which nobody knows; then claims go on. */
  async function settleClaims(): Promise<void> {
    if (settling || claims.size > 0 || !epochs.isDoubtful()) return
    settling = true
    try {
      await epochs.settle(known())
    } catch (problem) {
      report(problem)
    }
    settling = false
    proceed()
  }

  /** Something of it waits, and the carrier has room: if only what it has not answered counted, it could move. */
  function couldMove(work: Work): boolean {
    if (work === 'outcomes') return recorder.size() > 0
    const waits = ahead(sky, work) > 0 || waitingForRoom.has(work) || [...claims].some(({ lane }) => lane === work)
    const room = Math.min(share(work, settings.inDoubtMax), windowOf(work)) - sky.unanswered.size
    return waits && room >= Math.min(least(settings.inDoubtMax), least(carrier.window))
  }

  const renew = (): Promise<void> => progress.renewing(() => epochs.beat())

  /** Finds out whether the store answers, under a new epoch if there is none. */
  async function probe(): Promise<void> {
    try {
      await epochs.current()
      await renew()
    } catch (problem) {
      report(problem)
    }
  }

  const isBusy = (): boolean =>
    claims.size + sky.unanswered.size + recorder.size() > 0 || alofts(sky).some(({ next, marking }) => next < marking)

  async function drain(deadline: Promise<unknown>): Promise<void> {
    closing = true
    let late = false
    const isLate = (): boolean => late
    const passed = deadline.then(() => void (late = true))
    proceed()
    while (!isLate() && isBusy()) await Promise.race([changed(), passed])
    ended = true
    for (const aloft of alofts(sky)) fence(aloft)
    for (;;) {
      try {
        await epochs.retire(known())
        return
      } catch (problem) {
        if (isLate()) throw problem
        report(problem)
        await Promise.race([changed(), passed])
      }
    }
  }

  return {
    work,
    beat: renew,
    retry() {
      recorder.flush()
      void settleClaims()
      receipts.run()
      arrivals.run()
      proceed()
      if (!closing && progress.look(couldMove)) void probe()
    },
    drain,
    state: () => ({
      ahead: ahead(sky, 'single') + ahead(sky, 'bulk'),
      unanswered: sky.unanswered.size,
      inDoubt: doubtful(),
      uncommitted: recorder.size(),
      stalled: progress.stalled(),
    }),
  }
}
