import type { MessageId } from '../messages/messages.ts'
import { OUTCOME } from '../messages/status-code.ts'
import type { Ports } from '../ports.ts'
import type { Clock } from '../time/instant.ts'
import type { ClaimedMessage, DispatcherId, Handover, Recorded, Settled } from './claimed-batches.ts'
import type { InFlight, OpenBatch } from './in-flight.ts'
import type { QueueNumber } from '../routes/published-routes.ts'

/** What one call of `write` has met. */
export interface Written {
  /** Dispatchers of which it was told that they were declared dead. */
  readonly fenced: ReadonlySet<DispatcherId>
  /** What failed; it is tried again by the next call. */
  readonly problems: readonly unknown[]
}

interface Outcome<What> {
  readonly batch: OpenBatch
  readonly what: What
}

interface Ended {
  readonly settled: readonly Settled[]
  /** What goes to another carrier without having been submitted. */
  readonly moved: readonly Postponed[]
  /** Those that were marked; none: the skipped ones of the batch. */
  readonly marked: readonly ClaimedMessage[]
}

export interface Postponed {
  readonly message: ClaimedMessage
  readonly seconds: number
  /** Where it waits then; undefined: where it came from. */
  readonly queue: QueueNumber | undefined
}

/**
 * Keeps the outcomes of messages until they are committed. While one call commits, the next batch gathers: it grows
 * with the load.
 */
export type OutcomeWriter = ReturnType<typeof createOutcomeWriter>

/** `markSize`: how many messages of a batch are to be marked by a commit that takes `freed` messages out of doubt. */
export function createOutcomeWriter(
  { claimedBatches }: Pick<Ports, 'claimedBatches'>,
  inFlight: InFlight,
  markSize: (batch: OpenBatch, freed: number) => number,
) {
  let settling: Outcome<Ended>[] = []
  let postponing: Outcome<Postponed>[] = []
  let recording: Outcome<Recorded>[] = []
  let returning: Outcome<readonly MessageId[]>[] = []
  const references = new Set<string>()
  let commits = 0

  const size = (): number => settling.length + postponing.length + recording.length + returning.length

  /** What was marked and is settled too late is unknown by now, and is known not to have been taken. */
  async function commitSettled(one: Outcome<Ended>) {
    const { batch, what } = one
    const { dispatcher, id } = batch
    let answer = what.settled.length > 0 ? await claimedBatches.settle(dispatcher, id, what.settled) : 'settled'
    for (const { seconds, queue, ids } of alike(what.moved)) {
      if ((await claimedBatches.postpone(dispatcher, id, ids, seconds, queue)) === 'fenced') answer = 'fenced'
    }
    settling = settling.filter((other) => other !== one)
    if (what.marked.length === 0) inFlight.skippedSettled(batch)
    else if (answer === 'settled') inFlight.recorded(batch, what.marked.length)
    else for (const message of what.marked) record(batch, message, { outcome: 'refused' })
    return answer
  }

  /**
   * One call for all of a batch that wait equally long. What comes too late to be given back is known not to have been
   * taken.
   */
  async function commitPostponed({ batch, what: { seconds, queue } }: Outcome<Postponed>) {
    const isAlike = ({ what }: Outcome<Postponed>) => what.seconds === seconds && what.queue === queue
    const together = new Set(postponing.filter((other) => other.batch === batch && isAlike(other)))
    if (together.size === 0) return 'postponed'
    const messages = [...together].map(({ what }) => what.message)
    const ids = messages.map(({ id }) => id)
    const answer = await claimedBatches.postpone(batch.dispatcher, batch.id, ids, seconds, queue)
    postponing = postponing.filter((other) => !together.has(other))
    if (answer === 'postponed') inFlight.recorded(batch, ids.length)
    else for (const message of messages) record(batch, message, { outcome: 'refused' })
    return answer
  }

  async function commitReturned(one: Outcome<readonly MessageId[]>) {
    const { batch, what } = one
    const answer = await claimedBatches.giveBack(batch.dispatcher, batch.id, what)
    returning = returning.filter((other) => other !== one)
    inFlight.givenBack(batch, what.length)
    return answer
  }

  /** What an epoch that was fenced still learns is recorded under its own name. */
  async function commitRecorded(dispatcher: DispatcherId) {
    const before = recording.length
    const outcomes = recording.filter(({ batch }) => batch.dispatcher === dispatcher)
    const marks = inFlight.attach(dispatcher, outcomes.length, markSize)
    const whats = outcomes.map(({ what }) => what)
    const answer = await claimedBatches.record(dispatcher, whats, marks)
    // What came meanwhile is behind them.
    const others = recording.slice(0, before).filter(({ batch }) => batch.dispatcher !== dispatcher)
    recording = [...others, ...recording.slice(before)]
    for (const { handover } of whats) forget(handover)
    if (answer === 'recorded') inFlight.confirmAttached(dispatcher)
    const counts = new Map<OpenBatch, number>()
    for (const { batch } of outcomes) counts.set(batch, (counts.get(batch) ?? 0) + 1)
    for (const [batch, count] of counts) inFlight.recorded(batch, count)
    return answer
  }

  function record(batch: OpenBatch, message: ClaimedMessage, handover: Handover): void {
    recording.push({ batch, what: { batch: batch.id, message, handover } })
    if (!('reference' in handover)) return
    references.add(handover.reference)
    for (const further of handover.furtherReferences ?? []) references.add(further)
  }

  function forget(handover: Handover): void {
    if (!('reference' in handover)) return
    references.delete(handover.reference)
    for (const further of handover.furtherReferences ?? []) references.delete(further)
  }

  return {
    /** What becomes of all skipped messages of a batch. */
    settle: (batch: OpenBatch, settled: readonly Settled[], moved: readonly Postponed[] = []): void =>
      void settling.push({ batch, what: { settled, moved, marked: [] } }),
    /** Messages whose validity was over before they were submitted. */
    expire(batch: OpenBatch, messages: readonly ClaimedMessage[]): void {
      const settled = messages.map(({ id }) => ({ id, code: OUTCOME.expired }))
      settling.push({ batch, what: { settled, moved: [], marked: messages } })
    },
    postpone: (batch: OpenBatch, message: ClaimedMessage, seconds: number, queue?: QueueNumber): void =>
      void postponing.push({ batch, what: { message, seconds, queue } }),
    /** Messages that were never marked. */
    giveBack: (batch: OpenBatch, ids: readonly MessageId[]): void => void returning.push({ batch, what: ids }),
    record,
    /** Commits all that waits, once. What fails keeps nothing else from being committed. Never rejects. */
    async write(): Promise<Written> {
      const fenced = new Set<DispatcherId>()
      const problems: unknown[] = []
      const attempt = async (dispatcher: DispatcherId, commit: () => Promise<string>): Promise<void> => {
        try {
          const answer = await commit()
          commits++
          if (answer !== 'fenced') return
          inFlight.fence(dispatcher)
          fenced.add(dispatcher)
        } catch (problem) {
          problems.push(problem)
        }
      }
      for (const one of [...settling]) await attempt(one.batch.dispatcher, () => commitSettled(one))
      for (const one of [...returning]) await attempt(one.batch.dispatcher, () => commitReturned(one))
      for (const one of [...postponing]) await attempt(one.batch.dispatcher, () => commitPostponed(one))
      for (const dispatcher of new Set(recording.map(({ batch }) => batch.dispatcher))) {
        await attempt(dispatcher, () => commitRecorded(dispatcher))
      }
      return { fenced, problems }
    },
    /** How much waits to be committed. */
    size,
    /** How much of it are answers of the carrier, of which more may come soon. */
    gathering: (): number => (size() === recording.length ? recording.length : 0),
    /** How many commits have succeeded. */
    commits: (): number => commits,
    /** A message to which the carrier gave this reference is not committed yet. */
    hasReference: (reference: string): boolean => references.has(reference),
    /** The outcome of this message is known and not committed yet. */
    has: (id: MessageId): boolean => recording.some(({ what }) => what.message.id === id),
    /** The messages to these numbers whose outcome is known and not committed yet. */
    messagesTo: (numbers: ReadonlySet<string>): readonly MessageId[] =>
      recording.flatMap(({ what: { message } }) => (numbers.has(message.to) ? [message.id] : [])),
  }
}

/** Those that wait equally long in the same queue together. */
function alike(postponed: readonly Postponed[]) {
  const groups = new Map<string, Pick<Postponed, 'seconds' | 'queue'> & { readonly ids: MessageId[] }>()
  for (const { message, seconds, queue } of postponed) {
    const key = `${seconds} ${queue}`
    const group = groups.get(key) ?? { seconds, queue, ids: [] }
    groups.set(key, group)
    group.ids.push(message.id)
  }
  return groups.values()
}

/** Calls after so many milliseconds, or never if what it is for has ended. */
export type Later = (milliseconds: number, call: () => void) => void

/** The answers that may come soon: of what has left, and of what is marked, or may be, and leaves now. */
export interface Coming {
  readonly unanswered: number
  readonly leaving: number
}

/** Lets answers of a carrier wait for those that come within a moment, so that one commit stores them all. */
export interface Gathering {
  /** So many answers came. */
  answered(count: number): void
  /**
   * Whether the answers that wait to be stored wait for more: for what was to come when it was asked first, and once
   * that has come for as much again, while more may leave. `over` is called when they should be stored after all.
   */
  isWorthIt(coming: () => Coming, over: () => void): boolean
  /** What waited is being stored. */
  ended(): void
}

/**
 * So long answers wait at most, marks and round trips included. With a carrier that answers at once that makes batches
 * of 113 messages, not 75; over a window of 50 of 150 to 175, not 49. On a busy machine 8 ms were too short.
 */
const gatherMilliseconds = 25
/** A carrier that was waited for in vain is not waited for again for so long, twice as long each further time. */
const pauseMilliseconds = 25
const pauseMillisecondsMax = 1000

/** Nothing where all that may leave has left: a trickle would wait for ever more of itself. */
const further = ({ unanswered, leaving }: Coming): number => (leaving === 0 ? 0 : unanswered + leaving)

/** What is waited for, and whether as much has come once. */
interface Awaited {
  count: number
  isMet: boolean
}

/** Without `later` nothing ever waits. */
export function createGathering(clock: Clock, later: Later | undefined): Gathering {
  let awaited: Awaited | undefined
  let pause = pauseMilliseconds
  let notBefore = -Infinity

  function giveUp(): void {
    notBefore = clock.now() + pause
    pause = Math.min(2 * pause, pauseMillisecondsMax)
  }

  return {
    answered(count) {
      if (awaited === undefined) return
      awaited.count -= count
      if (awaited.count <= 0) awaited.isMet = true
    },
    isWorthIt(coming, over) {
      if (awaited !== undefined) {
        if (awaited.count <= 0) awaited.count = further(coming())
        return awaited.count > 0
      }
      if (later === undefined || clock.now() < notBefore) return false
      const { unanswered, leaving } = coming()
      if (unanswered + leaving === 0) return false
      const begun: Awaited = (awaited = { count: unanswered + leaving, isMet: false })
      later(gatherMilliseconds, () => {
        if (awaited !== begun) return
        if (!begun.isMet) giveUp()
        over()
      })
      return true
    },
    ended() {
      if (awaited?.isMet === true) pause = pauseMilliseconds
      awaited = undefined
    },
  }
}
