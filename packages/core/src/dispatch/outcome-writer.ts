import type { MessageId } from '../messages/message-id.ts'
import { OUTCOME } from '../messages/status-code.ts'
import type { Ports } from '../ports.ts'
import type { ClaimedMessage, DispatcherId, Handover, Recorded, Settled } from './claimed-batches.ts'
import type { InFlight } from './in-flight.ts'
import type { OpenBatch } from './open-batch.ts'
import type { QueueNumber } from '../routes/published-routes.ts'

/** Numbers that one call of `write` reports. */
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
  /** Marked messages of this entry; empty if the entry consists of the skipped messages of a batch. */
  readonly marked: readonly ClaimedMessage[]
}

export interface Postponed {
  readonly message: ClaimedMessage
  readonly seconds: number
  /** Queue in which the message waits; undefined: its previous queue. */
  readonly queue: QueueNumber | undefined
}

/**
 * Outcomes of messages until they are committed. While one commit is in progress the next batch gathers, so that
 * batches grow with the load.
 *
 *   settle, expire, postpone, giveBack, record --> waiting --write, the store commits--> reported to `InFlight`
 *                                                    ^  +--the store fails--> waiting
 *                                                    +--the store did it too late: recorded as refused
 */
export class OutcomeWriter {
  readonly #claimedBatches: Ports['claimedBatches']
  readonly #inFlight: InFlight
  readonly #markSize: (batch: OpenBatch, freed: number) => number
  #settling: Outcome<Ended>[] = []
  #postponing: Outcome<Postponed>[] = []
  #recording: Outcome<Recorded>[] = []
  #returning: Outcome<readonly MessageId[]>[] = []
  /** References of the carrier whose messages are in `#recording`. */
  readonly #references = new Set<string>()
  #commits = 0

  /**
   * `markSize` returns how many messages of a batch to mark with a commit that takes `freed` messages out of doubt.
   */
  constructor(
    { claimedBatches }: Pick<Ports, 'claimedBatches'>,
    inFlight: InFlight,
    markSize: (batch: OpenBatch, freed: number) => number,
  ) {
    this.#claimedBatches = claimedBatches
    this.#inFlight = inFlight
    this.#markSize = markSize
  }

  // State

  /** Number of entries that wait to be committed. */
  get size(): number {
    return this.#settling.length + this.#postponing.length + this.#recording.length + this.#returning.length
  }

  /** Number of entries if all of them are answers of the carrier, of which more may arrive soon; otherwise 0. */
  get gathering(): number {
    return this.size === this.#recording.length ? this.#recording.length : 0
  }

  /** Number of successful commits. */
  get commits(): number {
    return this.#commits
  }

  /** Returns true if a message with this reference of the carrier is not committed yet. */
  hasReference(reference: string): boolean {
    return this.#references.has(reference)
  }

  /** Returns true if the outcome of this message is known and not committed yet. */
  has(id: MessageId): boolean {
    return this.#recording.some(({ entry }) => entry.message.id === id)
  }

  /** Returns the messages to these numbers whose outcome is known and not committed yet. */
  messagesTo(numbers: ReadonlySet<string>): readonly MessageId[] {
    return this.#recording.flatMap(({ entry: { message } }) => (numbers.has(message.to) ? [message.id] : []))
  }

  // Outcomes

  /** Adds the messages of a batch that end, or go to another carrier, without having been submitted. */
  settle(batch: OpenBatch, settled: readonly Settled[], moved: readonly Postponed[] = []): void {
    this.#settling.push({ batch, entry: { settled, moved, marked: [] } })
  }

  /** Adds messages whose validity ended before they were submitted. */
  expire(batch: OpenBatch, messages: readonly ClaimedMessage[]): void {
    const settled = messages.map(({ id }) => ({ id, code: OUTCOME.expired }))
    this.#settling.push({ batch, entry: { settled, moved: [], marked: messages } })
  }

  postpone(batch: OpenBatch, message: ClaimedMessage, seconds: number, queue?: QueueNumber): void {
    this.#postponing.push({ batch, entry: { message, seconds, queue } })
  }

  /** Adds messages to give back, none of which was marked. */
  giveBack(batch: OpenBatch, ids: readonly MessageId[]): void {
    this.#returning.push({ batch, entry: ids })
  }

  record(batch: OpenBatch, message: ClaimedMessage, handover: Handover): void {
    this.#recording.push({ batch, entry: { batch: batch.id, message, handover } })
    if (!('reference' in handover)) return
    this.#references.add(handover.reference)
    for (const further of handover.furtherReferences ?? []) this.#references.add(further)
  }

  // Commits

  /** Commits everything that waits, once. A failed commit does not prevent the others. Never rejects. */
  async write(): Promise<Written> {
    const fenced = new Set<DispatcherId>()
    const problems: unknown[] = []
    const attempt = async (dispatcher: DispatcherId, commit: () => Promise<string>): Promise<void> => {
      try {
        const answer = await commit()
        this.#commits++
        if (answer !== 'fenced') return
        this.#inFlight.fence(dispatcher)
        fenced.add(dispatcher)
      } catch (problem) {
        problems.push(problem)
      }
    }
    for (const one of [...this.#settling]) await attempt(one.batch.dispatcher, () => this.#commitSettled(one))
    for (const one of [...this.#returning]) await attempt(one.batch.dispatcher, () => this.#commitReturned(one))
    for (const one of [...this.#postponing]) await attempt(one.batch.dispatcher, () => this.#commitPostponed(one))
    for (const dispatcher of new Set(this.#recording.map(({ batch }) => batch.dispatcher))) {
      await attempt(dispatcher, () => this.#commitRecorded(dispatcher))
    }
    return { fenced, problems }
  }

  /**
   * Commits messages that end without being submitted. If the commit comes too late, recovery has already set the
   * marked messages to unknown; they are then recorded as refused, because the carrier certainly did not get them.
   */
  async #commitSettled(one: Outcome<Ended>) {
    const { batch, entry } = one
    const { dispatcher, id } = batch
    const settles = entry.settled.length > 0
    let answer = settles ? await this.#claimedBatches.settle(dispatcher, id, entry.settled) : 'settled'
    for (const { seconds, queue, ids } of alike(entry.moved)) {
      if ((await this.#claimedBatches.postpone(dispatcher, id, ids, seconds, queue)) === 'fenced') answer = 'fenced'
    }
    this.#settling = this.#settling.filter((other) => other !== one)
    if (entry.marked.length === 0) this.#inFlight.skippedSettled(batch)
    else if (answer === 'settled') this.#inFlight.recorded(batch, entry.marked.length)
    else for (const message of entry.marked) this.record(batch, message, { outcome: 'refused' })
    return answer
  }

  /**
   * Commits, in one call, all postponed messages of a batch with the same wait and queue. Messages postponed too late
   * are recorded as refused, because the carrier certainly did not accept them.
   */
  async #commitPostponed({ batch, entry: { seconds, queue } }: Outcome<Postponed>) {
    const isAlike = ({ entry }: Outcome<Postponed>) => entry.seconds === seconds && entry.queue === queue
    const together = new Set(this.#postponing.filter((other) => other.batch === batch && isAlike(other)))
    if (together.size === 0) return 'postponed'
    const messages = [...together].map(({ entry }) => entry.message)
    const ids = messages.map(({ id }) => id)
    const answer = await this.#claimedBatches.postpone(batch.dispatcher, batch.id, ids, seconds, queue)
    this.#postponing = this.#postponing.filter((other) => !together.has(other))
    if (answer === 'postponed') this.#inFlight.recorded(batch, ids.length)
    else for (const message of messages) this.record(batch, message, { outcome: 'refused' })
    return answer
  }

  async #commitReturned(one: Outcome<readonly MessageId[]>) {
    const { batch, entry } = one
    const answer = await this.#claimedBatches.giveBack(batch.dispatcher, batch.id, entry)
    this.#returning = this.#returning.filter((other) => other !== one)
    this.#inFlight.givenBack(batch, entry.length)
    return answer
  }

  /**
   * Records the waiting outcomes of one dispatcher id in one commit. A process that was fenced and has registered again
   * has a new id; late outcomes of batches that it claimed under the earlier id are recorded under the earlier id.
   */
  async #commitRecorded(dispatcher: DispatcherId) {
    const before = this.#recording.length
    const outcomes = this.#recording.filter(({ batch }) => batch.dispatcher === dispatcher)
    const marks = this.#inFlight.attach(dispatcher, outcomes.length, this.#markSize)
    const entries = outcomes.map(({ entry }) => entry)
    const answer = await this.#claimedBatches.record(dispatcher, entries, marks)
    // Outcomes that arrived during the commit are at the end of the list.
    const others = this.#recording.slice(0, before).filter(({ batch }) => batch.dispatcher !== dispatcher)
    this.#recording = [...others, ...this.#recording.slice(before)]
    for (const { handover } of entries) this.#forget(handover)
    if (answer === 'recorded') this.#inFlight.confirmAttached(dispatcher)
    const counts = new Map<OpenBatch, number>()
    for (const { batch } of outcomes) counts.set(batch, (counts.get(batch) ?? 0) + 1)
    for (const [batch, count] of counts) this.#inFlight.recorded(batch, count)
    return answer
  }

  #forget(handover: Handover): void {
    if (!('reference' in handover)) return
    this.#references.delete(handover.reference)
    for (const further of handover.furtherReferences ?? []) this.#references.delete(further)
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
