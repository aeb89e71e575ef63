import type { MessageId } from '../messages/messages.ts'
import { OUTCOME } from '../messages/status-code.ts'
import type { Ports } from '../ports.ts'
import type { Clock } from '../time/instant.ts'
import type { ClaimedMessage, DispatcherId, Handover, Recorded, Settled } from './claimed-batches.ts'
import type { InFlight } from './in-flight.ts'
import type { OpenBatch } from './open-batch.ts'
import type { QueueNumber } from '../routes/published-routes.ts'

/** Result of one call of `write`. */
export interface Written {
  /** Dispatchers that the store reported as declared dead. */
  readonly fenced: ReadonlySet<DispatcherId>
  /** Failures; the next call repeats these commits. */
  readonly problems: readonly unknown[]
}

interface Outcome<Entry> {
  readonly batch: OpenBatch
  readonly entry: Entry
}

interface Ended {
  readonly settled: readonly Settled[]
  /** Messages that go to another carrier without having been submitted. */
  readonly moved: readonly Postponed[]
  /** Marked messages among them; empty if they are the skipped messages of the batch. */
  readonly marked: readonly ClaimedMessage[]
}

export interface Postponed {
  readonly message: ClaimedMessage
  readonly seconds: number
  /** Queue in which the message waits; undefined: its previous queue. */
  readonly queue: QueueNumber | undefined
}

/**
 * Holds outcomes of messages until they are committed. While one commit is in progress the next batch gathers, so that
 * batches grow with the load.
 */
export type OutcomeWriter = ReturnType<typeof createOutcomeWriter>

/**
 * Creates a writer. `markSize` returns how many messages of a batch to mark with a commit that takes `freed` messages
 * out of doubt.
 */
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

  /**
   * Commits messages that end without being submitted. A marked message settled too late is unknown by now, and is
   * recorded as refused because the carrier certainly did not get it.
   */
  async function commitSettled(one: Outcome<Ended>) {
    const { batch, entry } = one
    const { dispatcher, id } = batch
    let answer = entry.settled.length > 0 ? await claimedBatches.settle(dispatcher, id, entry.settled) : 'settled'
    for (const { seconds, queue, ids } of alike(entry.moved)) {
      if ((await claimedBatches.postpone(dispatcher, id, ids, seconds, queue)) === 'fenced') answer = 'fenced'
    }
    settling = settling.filter((other) => other !== one)
    if (entry.marked.length === 0) inFlight.skippedSettled(batch)
    else if (answer === 'settled') inFlight.recorded(batch, entry.marked.length)
    else for (const message of entry.marked) record(batch, message, { outcome: 'refused' })
    return answer
  }

  /**
   * Commits, in one call, all postponed messages of a batch with the same wait and queue. Messages postponed too late
   * are recorded as refused, because the carrier certainly did not accept them.
   */
  async function commitPostponed({ batch, entry: { seconds, queue } }: Outcome<Postponed>) {
    const isAlike = ({ entry }: Outcome<Postponed>) => entry.seconds === seconds && entry.queue === queue
    const together = new Set(postponing.filter((other) => other.batch === batch && isAlike(other)))
    if (together.size === 0) return 'postponed'
    const messages = [...together].map(({ entry }) => entry.message)
    const ids = messages.map(({ id }) => id)
    const answer = await claimedBatches.postpone(batch.dispatcher, batch.id, ids, seconds, queue)
    postponing = postponing.filter((other) => !together.has(other))
    if (answer === 'postponed') inFlight.recorded(batch, ids.length)
    else for (const message of messages) record(batch, message, { outcome: 'refused' })
    return answer
  }

  async function commitReturned(one: Outcome<readonly MessageId[]>) {
    const { batch, entry } = one
    const answer = await claimedBatches.giveBack(batch.dispatcher, batch.id, entry)
    returning = returning.filter((other) => other !== one)
    inFlight.givenBack(batch, entry.length)
    return answer
  }

  /** Records outcomes by epoch, because late outcomes of a fenced epoch are recorded under its own id. */
  async function commitRecorded(dispatcher: DispatcherId) {
    const before = recording.length
    const outcomes = recording.filter(({ batch }) => batch.dispatcher === dispatcher)
    const marks = inFlight.attach(dispatcher, outcomes.length, markSize)
    const entries = outcomes.map(({ entry }) => entry)
    const answer = await claimedBatches.record(dispatcher, entries, marks)
    // Outcomes that arrived during the commit are at the end of the list.
    const others = recording.slice(0, before).filter(({ batch }) => batch.dispatcher !== dispatcher)
    recording = [...others, ...recording.slice(before)]
    for (const { handover } of entries) forget(handover)
    if (answer === 'recorded') inFlight.confirmAttached(dispatcher)
    const counts = new Map<OpenBatch, number>()
    for (const { batch } of outcomes) counts.set(batch, (counts.get(batch) ?? 0) + 1)
    for (const [batch, count] of counts) inFlight.recorded(batch, count)
    return answer
  }

  function record(batch: OpenBatch, message: ClaimedMessage, handover: Handover): void {
    recording.push({ batch, entry: { batch: batch.id, message, handover } })
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
    /** Adds the ends of all skipped messages of a batch. */
    settle: (batch: OpenBatch, settled: readonly Settled[], moved: readonly Postponed[] = []): void =>
      void settling.push({ batch, entry: { settled, moved, marked: [] } }),
    /** Adds messages whose validity ended before they were submitted. */
    expire(batch: OpenBatch, messages: readonly ClaimedMessage[]): void {
      const settled = messages.map(({ id }) => ({ id, code: OUTCOME.expired }))
      settling.push({ batch, entry: { settled, moved: [], marked: messages } })
    },
    postpone: (batch: OpenBatch, message: ClaimedMessage, seconds: number, queue?: QueueNumber): void =>
      void postponing.push({ batch, entry: { message, seconds, queue } }),
    /** Adds messages to give back, none of which was marked. */
    giveBack: (batch: OpenBatch, ids: readonly MessageId[]): void => void returning.push({ batch, entry: ids }),
    record,
    /** Commits everything that waits, once. A failed commit does not prevent the others. Never rejects. */
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
    /** Returns the number of entries that wait to be committed. */
    size,
    /** Returns that number if all entries are answers of the carrier, of which more may arrive soon; otherwise 0. */
    gathering: (): number => (size() === recording.length ? recording.length : 0),
    /** Returns the number of successful commits. */
    commits: (): number => commits,
    /** Returns true if a message with this reference of the carrier is not committed yet. */
    hasReference: (reference: string): boolean => references.has(reference),
    /** Returns true if the outcome of this message is known and not committed yet. */
    has: (id: MessageId): boolean => recording.some(({ entry }) => entry.message.id === id),
    /** Returns the messages to these numbers whose outcome is known and not committed yet. */
    messagesTo: (numbers: ReadonlySet<string>): readonly MessageId[] =>
      recording.flatMap(({ entry: { message } }) => (numbers.has(message.to) ? [message.id] : [])),
  }
}

/** Groups messages by wait and queue. */
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

/** Calls `call` after this many milliseconds, or never if its purpose has ended. */
export type Later = (milliseconds: number, call: () => void) => void

/** Answers that may arrive soon: of outstanding submissions, and of marked messages about to be submitted. */
export interface Coming {
  readonly unanswered: number
  readonly leaving: number
}

/**
 * Lets a carrier's answers wait for further answers that arrive within a moment, so that one commit stores them all.
 */
export interface Gathering {
  /** Counts answers. */
  answered(count: number): void
  /**
   * Returns true if the waiting answers should wait for more: for the number expected at the first call, and then for
   * as many again, as long as more may be submitted. `over` is called when they should be stored after all.
   */
  isWorthIt(coming: () => Coming, over: () => void): boolean
  /** Reports that the waiting answers are being stored. */
  ended(): void
}

/**
 * Maximum milliseconds that answers wait, including marks and round trips. With a carrier that answers at once, batches
 * grow from 75 to 113 messages; with a window of 50, from 49 to 150–175. On a busy machine 8 ms were too short.
 */
const gatherMilliseconds = 25
/** Milliseconds without waiting after a wait in vain; doubles each further time. */
const pauseMilliseconds = 25
const pauseMillisecondsMax = 1000

/**
 * Returns 0 once everything has been submitted, because a trickle of messages would otherwise wait for ever more of
 * itself.
 */
const further = ({ unanswered, leaving }: Coming): number => (leaving === 0 ? 0 : unanswered + leaving)

/** Number of answers still waited for, and whether the first expected number has arrived. */
interface Awaited {
  count: number
  isMet: boolean
}

/** Creates a gathering. Without `later` answers never wait. */
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
