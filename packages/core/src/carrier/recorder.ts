import type { MessageId } from '../message/message-id.ts'
import type { Ports } from '../ports.ts'
import { land, type Aloft, type Sky } from './aloft.ts'
import type { DispatcherId, Recorded, Settled } from './flights.ts'

export interface Recorder {
  /** The ends of all grounded messages of a flight. */
  settle(aloft: Aloft, settled: readonly Settled[]): void
  postpone(aloft: Aloft, id: MessageId, seconds: number): void
  record(aloft: Aloft, recorded: Recorded): void
  /** Commits all that waits, and what comes meanwhile, a batch at a time. Never rejects: what failed waits for the next call. */
  run(): Promise<void>
  /** A message to which the carrier gave this reference is not committed yet. */
  isWaiting(reference: string): boolean
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
  { flights }: Pick<Ports, 'flights'>,
  sky: Sky,
  on: { committed(): void; fenced(dispatcher: DispatcherId): void; problem(problem: unknown): void },
): Recorder {
  const settling: Ending<readonly Settled[]>[] = []
  const postponing: Ending<Postponed>[] = []
  let recording: Ending<Recorded>[] = []
  /** Flights whose last message was not recorded but settled or postponed. */
  const emptied = new Set<Aloft>()
  const waiting = new Set<string>()
  let committing = false

  const size = (): number => settling.length + postponing.length + recording.length + emptied.size

  function ended(aloft: Aloft, count: number, inDoubt: number): void {
    aloft.open -= count
    aloft.inDoubt -= inDoubt
  }

  async function settleNext({ aloft, what: settled }: Ending<readonly Settled[]>): Promise<void> {
    const answer = await flights.settle(aloft.dispatcher, aloft.flight, settled)
    settling.shift()
    const marked = aloft.messages.slice(0, aloft.marked).filter(({ id }) => aloft.grounded.has(id)).length
    aloft.settled = true
    ended(aloft, settled.length, marked)
    if (answer === 'fenced') on.fenced(aloft.dispatcher)
    if (aloft.open === 0) emptied.add(aloft)
  }

  async function postponeNext({ aloft, what }: Ending<Postponed>): Promise<void> {
    const same = postponing.filter((other) => other.aloft === aloft && other.what.seconds === what.seconds)
    const ids = same.map((other) => other.what.id)
    const answer = await flights.postpone(aloft.dispatcher, aloft.flight, ids, what.seconds)
    for (const one of same) postponing.splice(postponing.indexOf(one), 1)
    ended(aloft, ids.length, ids.length)
    if (answer === 'fenced') on.fenced(aloft.dispatcher)
    if (aloft.open === 0) emptied.add(aloft)
  }

  async function recordOf(dispatcher: DispatcherId, endings: readonly Ending<Recorded>[]): Promise<void> {
    const counts = new Map<Aloft, number>()
    for (const aloft of emptied) if (aloft.dispatcher === dispatcher) counts.set(aloft, 0)
    for (const { aloft } of endings) counts.set(aloft, (counts.get(aloft) ?? 0) + 1)
    const finished = [...counts].filter(([aloft, count]) => aloft.open === count).map(([aloft]) => aloft)
    await flights.record(
      dispatcher,
      finished.map(({ flight }) => flight),
      endings.map(({ what }) => what),
    )
    for (const [aloft, count] of counts) ended(aloft, count, count)
    for (const aloft of finished) {
      emptied.delete(aloft)
      land(sky, aloft)
    }
    for (const { what } of endings) if (what.handover.outcome === 'accepted') waiting.delete(what.handover.reference)
  }

  /** Usually all of one dispatcher; what an epoch that was fenced still learns is recorded under its own name. */
  async function recordAll(): Promise<void> {
    const batch = recording
    recording = []
    const unrecorded = new Set(batch)
    const dispatchers = new Set([
      ...batch.map(({ aloft }) => aloft.dispatcher),
      ...[...emptied].map((a) => a.dispatcher),
    ])
    try {
      for (const dispatcher of dispatchers) {
        const endings = batch.filter(({ aloft }) => aloft.dispatcher === dispatcher)
        await recordOf(dispatcher, endings)
        for (const ending of endings) unrecorded.delete(ending)
      }
    } finally {
      recording = [...unrecorded, ...recording]
    }
  }

  /** The flag falls in the same turn in which the loop finds nothing more: what is added later finds nobody at work. */
  async function commitAll(): Promise<void> {
    if (committing) return
    committing = true
    try {
      while (size() > 0) {
        for (let next = settling[0]; next !== undefined; next = settling[0]) await settleNext(next)
        for (let next = postponing[0]; next !== undefined; next = postponing[0]) await postponeNext(next)
        await recordAll()
        on.committed()
      }
    } catch (problem) {
      on.problem(problem)
    } finally {
      committing = false
    }
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
    run: commitAll,
    isWaiting: (reference) => waiting.has(reference),
    size,
  }
}
