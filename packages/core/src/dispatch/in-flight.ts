import type { MessageId } from '../messages/message-id.ts'
import { noRoute, type QueueNumber } from '../routes/published-routes.ts'
import type { ClaimedBatch, ClaimedMessage, DispatcherId, Lane, Mark } from './claimed-batches.ts'
import { broken, checkBatch, mayMark, own, target, upToOf, type Batch, type OpenBatch } from './open-batch.ts'

/** A claim in progress, which may mark up to `markedMax` messages. */
export interface Claim {
  readonly lane: Lane
  readonly markedMax: number
}

/** A submitted message; `leftAt` is the time of submission, in milliseconds of one clock. */
export interface Unanswered {
  readonly batch: OpenBatch
  readonly message: ClaimedMessage
  readonly leftAt: number
}

/**
 * Messages that one dispatcher has claimed, marked and submitted. No call leaves more than `inDoubtMax` messages in
 * doubt (P-6). The states of messages, claimed batches and marks are shown at `Dispatcher`; the transitions are made
 * here:
 *
 * - claim: startClaim --> open, endClaim | loseClaim --> forgetLostClaims
 * - mark: startMark --> confirmMark | failMark --> startMark; attach --> confirmAttached | attach again
 * - batch: open --> submit, answer, recorded | cut, givenBack | skippedSettled --> closed; fence, abandon --> fenced
 *
 * Invariants, checked at every change: the positions of a batch are in order, 0 <= inDoubt <= open, a fenced batch has
 * no mark and nothing left to submit, and the messages in doubt, including those of claims in progress, never exceed
 * `inDoubtMax`. A violation throws `BrokenInvariant`.
 */
export class InFlight {
  readonly #inDoubtMax: number
  /** Open batches in the order of submission; the single lane comes first. */
  readonly #batches: Record<Lane, Batch[]> = { single: [], bulk: [] }
  /** Outstanding submissions in the order of submission. */
  readonly #unanswered = new Map<MessageId, Unanswered>()
  readonly #claims = new Set<Claim>()
  readonly #moves: Record<Lane, number> = { single: 0, bulk: 0 }
  /**
   * Sums over all open batches, maintained by `#change`, because adding them up at each use costs 1 to 3 µs per
   * message.
   */
  readonly #total = { inDoubt: 0, leaving: 0, attached: 0, ahead: { single: 0, bulk: 0 } }
  /** Messages that the claims in progress may mark. */
  #claiming = 0
  #lost = { claims: 0, marks: 0 }
  /**
   * Record of outcomes that will be committed together with marks: its dispatcher, and the number of messages that the
   * record takes out of doubt.
   */
  #carrying: { readonly dispatcher: DispatcherId; readonly freed: number } | undefined

  constructor(inDoubtMax: number) {
    this.#inDoubtMax = inDoubtMax
  }

  // State

  batches(): readonly OpenBatch[] {
    return this.#all()
  }

  get unanswered(): ReadonlyMap<MessageId, { readonly message: ClaimedMessage }> {
    return this.#unanswered
  }

  /** Number of claims, marks and submissions so far, by lane. If it stays the same, the lane makes no progress. */
  get moves(): Readonly<Record<Lane, number>> {
    return this.#moves
  }

  /** Returns the messages marked, being marked, or possibly marked by a failed claim, and not recorded. */
  inDoubt(): number {
    return this.#lost.marks - this.#covered() + this.#total.inDoubt
  }

  /** Returns how many messages the claims in progress may mark. */
  claiming(): number {
    return this.#claiming
  }

  isClaiming(lane?: Lane): boolean {
    return [...this.#claims].some((claim) => lane === undefined || claim.lane === lane)
  }

  /** Returns the messages claimed and not submitted. */
  ahead(lane: Lane): number {
    return this.#total.ahead[lane]
  }

  /** Returns the messages marked or being marked, and not submitted. */
  leaving(): number {
    return this.#total.leaving
  }

  /** Returns the number of outstanding messages submitted before `then`. */
  unansweredSince(then: number): number {
    let count = 0
    for (const { leftAt } of this.#unanswered.values()) {
      if (leftAt > then) break
      count++
    }
    return count
  }

  // Claims

  /** Starts a claim, which may mark `markedMax` messages, or fewer if the in-doubt limit leaves less room. */
  startClaim(lane: Lane, markedMax: number): Claim {
    const claim = { lane, markedMax: Math.max(0, Math.min(markedMax, this.#room())) }
    this.#claims.add(claim)
    this.#claiming += claim.markedMax
    return claim
  }

  endClaim(claim: Claim): void {
    if (this.#claims.delete(claim)) this.#claiming -= claim.markedMax
    this.#checkBound()
  }

  /**
   * Records that a claim failed but may have been committed. The marks it may have made count until `forgetLostClaims`.
   */
  loseClaim(claim: Claim): void {
    // Remove the claim, because its marks would otherwise count twice until `endClaim`. Two claims that fail at the
    // same time would then exceed the limit.
    if (this.#claims.delete(claim)) this.#claiming -= claim.markedMax
    this.#lost = { claims: this.#lost.claims + 1, marks: this.#lost.marks + claim.markedMax }
  }

  hasLostClaims(): boolean {
    return this.#lost.claims > 0
  }

  forgetLostClaims(): void {
    this.#lost = { claims: 0, marks: 0 }
  }

  /**
   * Records that the queue of the lane is empty. Counts as progress (`moves`) unless claimed messages of the lane are
   * still unsubmitted.
   */
  foundNothing(lane: Lane): void {
    if (this.#total.ahead[lane] === 0) this.#moves[lane]++
  }

  /**
   * Opens a claimed batch, whose claim has ended. The `skipped` messages are never submitted; no message is marked
   * until `skippedSettled`.
   */
  open(
    lane: Lane,
    dispatcher: DispatcherId,
    { id, messages: claimed, marked: upToMarked }: Omit<ClaimedBatch, 'at'>,
    skipped: ReadonlySet<MessageId>,
    queue: QueueNumber = noRoute,
    clockAhead = 0,
  ): OpenBatch {
    this.#checkBound(upToMarked)
    const isSent = claimed.map((message) => !skipped.has(message.id))
    const upTo = skipped.size === 0 ? undefined : isSent.flatMap((is, position) => (is ? [position + 1] : []))
    const marked = upTo?.filter((position) => position <= upToMarked).length ?? upToMarked
    const batch: Batch = {
      ...{ dispatcher, id, lane, queue, upTo, clockAhead },
      messages: upTo === undefined ? claimed : claimed.filter((_, position) => isSent[position]),
      ...{ next: 0, marked, marking: marked, end: upTo?.length ?? claimed.length, mark: 'none', fenced: false },
      ...{ open: claimed.length, inDoubt: upToMarked },
      ...{ unsettled: skipped.size, unsettledInDoubt: upToMarked - marked },
    }
    this.#batches[lane].push(batch)
    this.#sum(batch, 1)
    this.#moves[lane]++
    return batch
  }

  /** Records that the end of the skipped messages is committed. */
  skippedSettled(of: OpenBatch): void {
    const { open, inDoubt, unsettled, unsettledInDoubt } = own(of)
    const settled = { unsettled: 0, unsettledInDoubt: 0 }
    this.#change(own(of), { ...settled, open: open - unsettled, inDoubt: inDoubt - unsettledInDoubt })
  }

  // Submissions

  /** Returns the next messages to submit, at most `max`. They are outstanding from `now` on. */
  submit(of: OpenBatch, max: number, now: number): readonly ClaimedMessage[] {
    const batch = own(of)
    const leaving = batch.messages.slice(batch.next, Math.min(batch.marked, batch.next + Math.max(0, max)))
    if (leaving.length === 0) return leaving
    if (batch.fenced) broken('a fenced batch would be submitted', { id: batch.id })
    for (const message of leaving) this.#unanswered.set(message.id, { batch, message, leftAt: now })
    this.#change(batch, { next: batch.next + leaving.length })
    this.#moves[batch.lane]++
    return leaving
  }

  /** Records the carrier's answer. Returns undefined if the message was answered before. */
  answer(id: MessageId): Unanswered | undefined {
    const pending = this.#unanswered.get(id)
    this.#unanswered.delete(id)
    return pending
  }

  /** Records that the outcomes of `count` submitted messages are committed. */
  recorded(of: OpenBatch, count: number): void {
    this.#change(own(of), { open: of.open - count, inDoubt: of.inDoubt - count })
  }

  // Marks

  /**
   * Starts to mark `count` more messages, or fewer if the in-doubt limit leaves less room. After a failed mark, starts
   * the same mark again. Returns the position to commit, or undefined if there is nothing to mark.
   */
  startMark(of: OpenBatch, count: (batch: OpenBatch) => number): number | undefined {
    const batch = own(of)
    if (mayMark(batch)) this.#change(batch, { marking: target(batch, Math.min(count(batch), this.#room())) })
    else if (batch.mark !== 'failed') return undefined
    if (batch.marking === batch.marked) return undefined
    batch.mark = 'committing'
    this.#checkBound()
    return upToOf(batch)
  }

  /** Records that the mark is committed, so that the messages may be submitted. */
  confirmMark(of: OpenBatch): void {
    const batch = own(of)
    if (batch.fenced) return
    const { marked, marking } = batch
    this.#change(batch, { inDoubt: batch.inDoubt + marking - marked, marked: marking, mark: 'none' })
    this.#moves[batch.lane]++
  }

  /** Records that the mark failed and may or may not have been committed. */
  failMark(batch: OpenBatch): void {
    if (batch.mark === 'committing') own(batch).mark = 'failed'
  }

  /**
   * Chooses marks to commit together with a record that takes `freed` messages of the dispatcher out of doubt. `count`
   * returns how many more messages of a batch to mark; the in-doubt limit may lower that number. After a failed record,
   * returns the same marks again, because they may have been committed.
   */
  attach(dispatcher: DispatcherId, freed: number, count: (batch: OpenBatch, freed: number) => number): readonly Mark[] {
    if (this.#attached().length === 0) {
      this.#carrying = { dispatcher, freed }
      for (const batch of this.#all()) {
        if (batch.dispatcher !== dispatcher || !mayMark(batch)) continue
        const uncovered = freed - this.#covered()
        const marking = target(batch, Math.min(count(batch, uncovered), this.#room() + uncovered))
        if (marking > batch.marked) this.#change(batch, { marking, mark: 'attached' })
      }
      this.#checkBound()
    } else if (this.#carrying?.dispatcher !== dispatcher) return []
    return this.#attached().map((batch) => ({ batch: batch.id, upTo: upToOf(batch) }))
  }

  /** Records that the dispatcher's record and the marks attached to it are committed. */
  confirmAttached(dispatcher: DispatcherId): void {
    if (this.#carrying?.dispatcher !== dispatcher) return
    const confirmed = this.#attached()
    this.#carrying = undefined
    for (const batch of confirmed) this.confirmMark(batch)
  }

  // Giving back and fencing

  /**
   * Removes messages that are neither marked nor being marked from the batch, and returns their ids to be given back.
   */
  cut(of: OpenBatch): readonly MessageId[] {
    const batch = own(of)
    if (batch.unsettled > 0 || batch.fenced) return []
    const ids = batch.messages.slice(batch.marking, batch.end).map(({ id }) => id)
    this.#change(batch, { end: batch.marking })
    return ids
  }

  /** Records that `count` unmarked messages were given back, or belong to another dispatcher. */
  givenBack(of: OpenBatch, count: number): void {
    this.#change(own(of), { open: of.open - count })
  }

  /**
   * Fences all batches of a dispatcher that was declared dead: unsubmitted messages belong to others, outcomes of
   * submitted ones are still to be recorded.
   */
  fence(dispatcher: DispatcherId): void {
    if (this.#carrying?.dispatcher === dispatcher) this.#carrying = undefined
    for (const batch of this.#all()) if (batch.dispatcher === dispatcher && !batch.fenced) this.#fenceBatch(batch)
  }

  /** Fences all batches: no further message is submitted or marked. */
  abandon(): void {
    for (const batch of this.#all()) if (!batch.fenced) this.#fenceBatch(batch)
  }

  #fenceBatch(batch: Batch): void {
    const { next, end, marked, open } = batch
    this.#change(batch, {
      ...{ open: open - (end - next), inDoubt: batch.inDoubt - (marked - next) },
      ...{ marked: next, marking: next, end: next, mark: 'none', fenced: true },
    })
  }

  // Sums and invariants

  #all(): readonly Batch[] {
    return [...this.#batches.single, ...this.#batches.bulk]
  }

  #attached(): readonly Batch[] {
    return this.#all().filter(({ mark }) => mark === 'attached')
  }

  /**
   * Returns the number of attached marks that take the place of outcomes in the same commit. A mark and the outcome it
   * replaces are never in doubt at the same time.
   */
  #covered(): number {
    return Math.min(this.#carrying?.freed ?? 0, this.#total.attached)
  }

  #room(): number {
    return this.#inDoubtMax - this.inDoubt() - this.#claiming
  }

  #sum({ lane, next, marked, marking, end, mark, inDoubt }: Batch, sign: 1 | -1): void {
    const total = this.#total
    total.inDoubt += sign * (inDoubt + marking - marked)
    total.leaving += sign * (marking - next)
    total.ahead[lane] += sign * (end - next)
    if (mark === 'attached') total.attached += sign * (marking - marked)
  }

  /**
   * Changes an open batch, checks it and updates the sums. Every change goes through here. A batch whose messages are
   * all committed is closed.
   */
  #change(batch: Batch, to: Partial<Batch>): void {
    const ofLane = this.#batches[batch.lane]
    const at = ofLane.indexOf(batch)
    if (at < 0) return
    this.#sum(batch, -1)
    Object.assign(batch, to)
    checkBatch(batch)
    if (batch.open === 0 && batch.unsettled === 0) ofLane.splice(at, 1)
    else this.#sum(batch, 1)
  }

  /** Rejects a violation of the in-doubt limit. `more` is the number of messages in doubt about to be added. */
  #checkBound(more = 0): void {
    const [inDoubt, inDoubtMax] = [this.inDoubt() + this.#claiming + more, this.#inDoubtMax]
    if (inDoubt < 0 || inDoubt > inDoubtMax) broken('the in-doubt bound does not hold', { inDoubt, inDoubtMax })
  }
}
