import type { MessageId } from '../message/message-id.ts'
import type { Ports } from '../ports.ts'
import { land, type Aloft, type Sky } from './aloft.ts'
import type { DispatcherId, Recorded, Settled } from './claimed-batches.ts'
import type { Riding } from './riding.ts'

export interface Recorder {
  /** The ends of all grounded messages of a claimed batch. */
  settle(aloft: Aloft, settled: readonly Settled[]): void
  postpone(aloft: Aloft, id: MessageId, seconds: number): void
  record(aloft: Aloft, recorded: Recorded): void
  /** Commits all that waits, and what comes meanwhile, a batch at a time; but for outcomes when more of them come soon. What failed waits for the next call. */
  run(): void
  /** The same, whether more come soon or not. To be called now and then. */
  flush(): void
  /** A message to which the carrier gave this reference is not committed yet. */
  isWaiting(reference: string): boolean
  /** The end of this message is not committed yet. */
  isRecording(id: MessageId): boolean
  /** The messages to these numbers whose end is not committed yet. */
  recordingTo(numbers: ReadonlySet<string>): readonly MessageId[]
  /** How much waits to be committed. */
  size(): number
}

interface Postponed {
  readonly id: MessageId
  readonly seconds: number
}

interface Ending<What> {
  readonly aloft: Aloft
  readonly what: What
}

/**
 * Commits how messages end. While one batch is being committed the next gathers, so that batches grow with the load and no
 * timer is needed.
 */
export function createRecorder(
  { claimedBatches }: Pick<Ports, 'claimedBatches'>,
  sky: Sky,
  riding: Pick<Riding, 'board'>,
  on: {
    /** What may be marked with a record that ends the doubt of so many. */
    room(dispatcher: DispatcherId, freed: number): readonly Aloft[]
    /** Whether another call of run comes in a moment, for more outcomes than the `count` that wait. */
    moreSoon(count: number): boolean
    /** A record of this dispatcher was committed, with the marks that rode with it. */
    recorded(dispatcher: DispatcherId): void
    /** One commit has succeeded. */
    stored(): void
    committed(): void
    fenced(dispatcher: DispatcherId): void
    problem(problem: unknown): void
  },
): Recorder {
  let settling: Ending<readonly Settled[]>[] = []
  let postponing: Ending<Postponed>[] = []
  let recording: Ending<Recorded>[] = []
  /** Claimed batches of which every end is committed but not that they are finished. */
  const emptied = new Set<Aloft>()
  const waiting = new Set<string>()
  let committing = false

  const size = (): number => settling.length + postponing.length + recording.length + emptied.size

  function ended(aloft: Aloft, count: number, inDoubt: number): void {
    aloft.open -= count
    aloft.inDoubt -= inDoubt
    if (aloft.open === 0) emptied.add(aloft)
  }

  async function commitSettled(ending: Ending<readonly Settled[]>): Promise<void> {
    const { aloft, what: settled } = ending
    const answer = await claimedBatches.settle(aloft.dispatcher, aloft.batch, settled)
    settling = settling.filter((other) => other !== ending)
    const marked = aloft.messages.slice(0, aloft.marked).filter(({ id }) => aloft.grounded.has(id)).length
    aloft.settled = true
    ended(aloft, settled.length, marked)
    if (answer === 'fenced') on.fenced(aloft.dispatcher)
  }

  /** One call for all of a claimed batch that wait equally long. */
  async function commitPostponed({ aloft, what: { seconds } }: Ending<Postponed>): Promise<void> {
    const together = new Set(postponing.filter((other) => other.aloft === aloft && other.what.seconds === seconds))
    if (together.size === 0) return
    const ids = [...together].map(({ what }) => what.id)
    const answer = await claimedBatches.postpone(aloft.dispatcher, aloft.batch, ids, seconds)
    postponing = postponing.filter((other) => !together.has(other))
    ended(aloft, ids.length, ids.length)
    if (answer === 'fenced') on.fenced(aloft.dispatcher)
  }

  /** What an epoch that was fenced still learns is recorded under its own name. */
  async function commitRecorded(dispatcher: DispatcherId): Promise<void> {
    const endings = recording.filter(({ aloft }) => aloft.dispatcher === dispatcher)
    const before = recording.length
    const counts = new Map<Aloft, number>()
    for (const aloft of emptied) if (aloft.dispatcher === dispatcher) counts.set(aloft, 0)
    for (const { aloft } of endings) counts.set(aloft, (counts.get(aloft) ?? 0) + 1)
    const finished = [...counts].filter(([aloft, count]) => aloft.open === count).map(([aloft]) => aloft)
    const marks = riding.board(dispatcher, endings.length, () => on.room(dispatcher, endings.length))
    const answer = await claimedBatches.record(
      dispatcher,
      finished.map(({ batch }) => batch),
      endings.map(({ what }) => what),
      marks,
    )
    // What came meanwhile is behind them.
    const others =
      endings.length === before ? [] : recording.slice(0, before).filter(({ aloft }) => aloft.dispatcher !== dispatcher)
    recording = [...others, ...recording.slice(before)]
    on.recorded(dispatcher)
    for (const [aloft, count] of counts) ended(aloft, count, count)
    for (const aloft of finished) {
      emptied.delete(aloft)
      land(sky, aloft)
    }
    for (const { what } of endings) if (what.handover.outcome === 'accepted') waiting.delete(what.handover.reference)
    if (answer === 'fenced') on.fenced(dispatcher)
  }

  /** What fails keeps nothing else from being committed. False: something failed. */
  async function commitOnce(): Promise<boolean> {
    let isWhole = true
    const attempt = async (commit: () => Promise<void>): Promise<void> => {
      try {
        await commit()
        on.stored()
      } catch (problem) {
        isWhole = false
        on.problem(problem)
      }
    }
    for (const ending of [...settling]) await attempt(() => commitSettled(ending))
    for (const ending of [...postponing]) await attempt(() => commitPostponed(ending))
    const recorded = [...recording.map(({ aloft }) => aloft), ...emptied]
    for (const dispatcher of new Set(recorded.map((aloft) => aloft.dispatcher))) {
      await attempt(() => commitRecorded(dispatcher))
    }
    return isWhole
  }

  /** The flag falls in the same turn in which the loop finds nothing more: what is added later finds nobody at work. */
  async function commitAll(flushes: boolean): Promise<void> {
    if (committing) return
    committing = true
    let isWhole = true
    const isWorthIt = (): boolean => size() > recording.length || !on.moreSoon(recording.length)
    while (isWhole && size() > 0 && (flushes || isWorthIt())) {
      isWhole = await commitOnce()
      flushes = false
      on.committed()
    }
    committing = false
  }

  return {
    settle(aloft, settled) {
      settling.push({ aloft, what: settled })
    },
    postpone(aloft, id, seconds) {
      postponing.push({ aloft, what: { id, seconds } })
    },
    record(aloft, recorded) {
      recording.push({ aloft, what: recorded })
      if (recorded.handover.outcome === 'accepted') waiting.add(recorded.handover.reference)
    },
    run: () => void commitAll(false),
    flush: () => void commitAll(true),
    isWaiting: (reference) => waiting.has(reference),
    isRecording: (id) => recording.some(({ what }) => what.message.id === id),
    recordingTo: (numbers) =>
      recording.flatMap(({ what: { message } }) => (numbers.has(message.to) ? [message.id] : [])),
    size,
  }
}
