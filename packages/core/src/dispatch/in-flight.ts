import type { MessageId } from '../messages/messages.ts'
import type { ClaimedBatch, ClaimedBatchId, ClaimedMessage, DispatcherId, Lane, Mark } from './claimed-batches.ts'
import { noRoute, type QueueNumber } from '../routes/published-routes.ts'

/** A claimed batch in memory. Always next <= marked <= marking <= end; only `InFlight` moves these positions. */
export interface OpenBatch {
  readonly dispatcher: DispatcherId
  readonly id: ClaimedBatchId
  readonly lane: Lane
  readonly queue: QueueNumber
  /** Milliseconds by which the clock of this process was ahead of the store's when the batch was claimed. */
  readonly clockAhead: number
  /** Messages to submit, in this order, without those that end without being submitted. */
  readonly messages: readonly ClaimedMessage[]
  /** Position of the next message to submit. */
  readonly next: number
  /** Messages before this position are marked and may be submitted. */
  readonly marked: number
  /**
   * Position up to which a mark is being committed, or has failed and may have been committed; equal to `marked` if
   * there is no such mark.
   */
  readonly marking: number
  /**
   * End of the messages that may still be submitted: the length of `messages`, the position where a fenced batch
   * stopped submitting, or the first message given back.
   */
  readonly end: number
  /** Failed: to be committed again up to the same position. Attached: committed together with a record of outcomes. */
  readonly mark: 'none' | 'committing' | 'failed' | 'attached'
  /** Number of messages whose outcome is not committed. */
  readonly open: number
  /** Number of these that are marked. */
  readonly inDoubt: number
  /** True once its dispatcher was declared dead; no further message of the batch is submitted or marked. */
  readonly fenced: boolean
}

/** A claim in progress, which may mark up to `markedMax` messages. */
export interface Claim {
  readonly lane: Lane
  readonly markedMax: number
}

type Writable<T> = { -readonly [K in keyof T]: T[K] }

interface Batch extends Writable<OpenBatch> {
  /**
   * Position that the store has to mark for the first n messages of `messages` to be marked; undefined if it is n
   * itself.
   */
  readonly upTo: readonly number[] | undefined
  /**
   * Number of messages that end without being submitted, until their end is committed. No message is marked before.
   */
  unsettled: number
  /** Number of these that the claim marked. */
  unsettledInDoubt: number
}

/** A submitted message; `leftAt` is the time of submission, in milliseconds of one clock. */
export interface Unanswered {
  readonly batch: OpenBatch
  readonly message: ClaimedMessage
  readonly leftAt: number
}

/**
 * Thrown when an invariant is violated, which is a defect of this program. No further decision may rely on the affected
 * numbers.
 */
export class BrokenInvariant extends Error {
  override readonly name = 'BrokenInvariant'
}

const broken = (violation: string, facts: Readonly<Record<string, number | boolean | string>>): never => {
  throw new BrokenInvariant(`${violation}: ${JSON.stringify(facts)}`)
}

/** Rejects a batch with inconsistent positions. The report contains only numbers, never a recipient or a text. */
function checkBatch({ id, next, marked, marking, end, messages, open, inDoubt, fenced, mark }: OpenBatch): void {
  const isInOrder = 0 <= next && next <= marked && marked <= marking && marking <= end && end <= messages.length
  const isCounted = 0 <= inDoubt && inDoubt <= open
  const isFenceKept = !fenced || (end === next && mark === 'none')
  if (!isInOrder || !isCounted || !isFenceKept)
    broken('a claimed batch is inconsistent', { id, next, marked, marking, end, open, inDoubt, fenced, mark })
}

/**
 * Messages that one dispatcher has claimed, marked and submitted. No call leaves more than `inDoubtMax` messages in
 * doubt (P-6).
 */
export type InFlight = ReturnType<typeof createInFlight>

export function createInFlight(inDoubtMax: number) {
  /** Open batches in the order of submission; the single lane comes first. */
  const batches: Record<Lane, Batch[]> = { single: [], bulk: [] }
  /** Outstanding submissions in the order of submission. */
  const unanswered = new Map<MessageId, Unanswered>()
  const claims = new Set<Claim>()
  const moves: Record<Lane, number> = { single: 0, bulk: 0 }
  /**
   * Sums over all open batches, maintained by `change`, because adding them up at each use costs 1 to 3 µs per message.
   */
  const total = { inDoubt: 0, leaving: 0, attached: 0, ahead: { single: 0, bulk: 0 } }
  let claiming = 0
  let lost = { claims: 0, marks: 0 }
  /** Record of outcomes to which marks are attached: its dispatcher, and how many messages it takes out of doubt. */
  let carrying: { readonly dispatcher: DispatcherId; readonly freed: number } | undefined

  const all = (): readonly Batch[] => [...batches.single, ...batches.bulk]
  const attached = (): readonly Batch[] => all().filter(({ mark }) => mark === 'attached')
  const own = (batch: OpenBatch): Batch => batch as Batch
  const upToOf = ({ upTo, marking }: Batch): number => (upTo === undefined ? marking : (upTo[marking - 1] ?? 0))

  /**
   * Returns how many attached marks replace outcomes committed with them, because both are never in doubt at the same
   * time.
   */
  const covered = (): number => Math.min(carrying?.freed ?? 0, total.attached)
  const inDoubt = (): number => lost.marks - covered() + total.inDoubt
  const room = (): number => inDoubtMax - inDoubt() - claiming

  function sum({ lane, next, marked, marking, end, mark, inDoubt: ofBatch }: Batch, sign: 1 | -1): void {
    total.inDoubt += sign * (ofBatch + marking - marked)
    total.leaving += sign * (marking - next)
    total.ahead[lane] += sign * (end - next)
    if (mark === 'attached') total.attached += sign * (marking - marked)
  }

  /**
   * Changes an open batch, checks it and updates the sums. Every change goes through here. A batch whose messages are
   * all committed is closed.
   */
  function change(batch: Batch, to: Partial<Batch>): void {
    const ofLane = batches[batch.lane]
    const at = ofLane.indexOf(batch)
    if (at < 0) return
    sum(batch, -1)
    Object.assign(batch, to)
    checkBatch(batch)
    if (batch.open === 0 && batch.unsettled === 0) ofLane.splice(at, 1)
    else sum(batch, 1)
  }

  /** Rejects a violation of the in-doubt limit. `more` is the number of messages in doubt about to be added. */
  function checkBound(more = 0): void {
    const now = inDoubt() + claiming + more
    if (now < 0 || now > inDoubtMax) broken('the in-doubt bound does not hold', { inDoubt: now, inDoubtMax })
  }

  const mayMark = ({ unsettled, fenced, mark, marked, end }: Batch): boolean =>
    unsettled === 0 && !fenced && mark === 'none' && marked < end
  const target = ({ end, marked }: Batch, count: number): number => Math.min(end, marked + Math.max(0, count))

  function confirm(batch: Batch): void {
    if (batch.fenced) return
    const { marked, marking } = batch
    change(batch, { inDoubt: batch.inDoubt + marking - marked, marked: marking, mark: 'none' })
    moves[batch.lane]++
  }

  function fenceBatch(batch: Batch): void {
    const { next, end, marked, open } = batch
    change(batch, {
      ...{ open: open - (end - next), inDoubt: batch.inDoubt - (marked - next) },
      ...{ marked: next, marking: next, end: next, mark: 'none', fenced: true },
    })
  }

  return {
    batches: (): readonly OpenBatch[] => all(),
    unanswered: unanswered as ReadonlyMap<MessageId, { readonly message: ClaimedMessage }>,
    /** Number of movements by lane: claims, marks and submissions. */
    moves: moves as Readonly<Record<Lane, number>>,
    /** Messages marked, being marked, or possibly marked by a failed claim, and not recorded. */
    inDoubt,
    /** Messages that the claims in progress may mark. */
    claiming: (): number => claiming,
    isClaiming: (lane?: Lane): boolean => [...claims].some((claim) => lane === undefined || claim.lane === lane),
    /** Messages claimed and not submitted. */
    ahead: (lane: Lane): number => total.ahead[lane],
    /** Messages marked or being marked, and not submitted. */
    leaving: (): number => total.leaving,

    /** Starts a claim, which may mark `markedMax` messages, or fewer if the in-doubt limit leaves less room. */
    startClaim(lane: Lane, markedMax: number): Claim {
      const claim = { lane, markedMax: Math.max(0, Math.min(markedMax, room())) }
      claims.add(claim)
      claiming += claim.markedMax
      return claim
    },
    endClaim(claim: Claim): void {
      if (claims.delete(claim)) claiming -= claim.markedMax
      checkBound()
    },
    /** Records that a claim failed but may have been committed. Its marks count until `forgetLostClaims`. */
    loseClaim(claim: Claim): void {
      // Otherwise it would count twice until `endClaim`, and two claims failing together would exceed the limit.
      if (claims.delete(claim)) claiming -= claim.markedMax
      lost = { claims: lost.claims + 1, marks: lost.marks + claim.markedMax }
    },
    hasLostClaims: (): boolean => lost.claims > 0,
    forgetLostClaims: (): void => void (lost = { claims: 0, marks: 0 }),
    /**
     * Records that the queue of the lane is empty. This counts as a movement unless claimed messages of the lane are
     * still unsubmitted.
     */
    foundNothing(lane: Lane): void {
      if (total.ahead[lane] === 0) moves[lane]++
    },

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
      checkBound(upToMarked)
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
      batches[lane].push(batch)
      sum(batch, 1)
      moves[lane]++
      return batch
    },
    /** Records that the end of the skipped messages is committed. */
    skippedSettled(of: OpenBatch): void {
      const { open, inDoubt: ofBatch, unsettled, unsettledInDoubt } = own(of)
      const ended = { unsettled: 0, unsettledInDoubt: 0 }
      change(own(of), { ...ended, open: open - unsettled, inDoubt: ofBatch - unsettledInDoubt })
    },

    /** Returns the next messages to submit, at most `max`. They are outstanding from `now` on. */
    submit(of: OpenBatch, max: number, now: number): readonly ClaimedMessage[] {
      const batch = own(of)
      const leaving = batch.messages.slice(batch.next, Math.min(batch.marked, batch.next + Math.max(0, max)))
      if (leaving.length === 0) return leaving
      if (batch.fenced) broken('a fenced batch would be submitted', { id: batch.id })
      for (const message of leaving) unanswered.set(message.id, { batch, message, leftAt: now })
      change(batch, { next: batch.next + leaving.length })
      moves[batch.lane]++
      return leaving
    },
    /** Returns the number of outstanding messages submitted before `then`. */
    unansweredSince(then: number): number {
      let count = 0
      for (const { leftAt } of unanswered.values()) {
        if (leftAt > then) break
        count++
      }
      return count
    },
    /** Records the carrier's answer. Returns undefined if the message was answered before. */
    answer(id: MessageId) {
      const pending = unanswered.get(id)
      unanswered.delete(id)
      return pending
    },
    /** Records that the outcomes of `count` submitted messages are committed. */
    recorded: (of: OpenBatch, count: number): void =>
      change(own(of), { open: of.open - count, inDoubt: of.inDoubt - count }),

    /**
     * Starts to mark `count` more messages, or fewer at the limit; after a failure the same ones again. Returns the
     * position to commit, or undefined if there is nothing to mark.
     */
    startMark(of: OpenBatch, count: (batch: OpenBatch) => number): number | undefined {
      const batch = own(of)
      if (mayMark(batch)) change(batch, { marking: target(batch, Math.min(count(batch), room())) })
      else if (batch.mark !== 'failed') return undefined
      if (batch.marking === batch.marked) return undefined
      batch.mark = 'committing'
      checkBound()
      return upToOf(batch)
    },
    /** Records that the mark is committed, so that the messages may be submitted. */
    confirmMark: (batch: OpenBatch): void => confirm(own(batch)),
    /** Records that the mark failed and may or may not have been committed. */
    failMark(batch: OpenBatch): void {
      if (batch.mark === 'committing') own(batch).mark = 'failed'
    },

    /**
     * Returns marks to commit with a record that takes `freed` messages of the dispatcher out of doubt: `count` more of
     * each batch, or fewer at the limit. After a failed record the same marks are returned and no others, since they
     * may have been committed.
     */
    attach(
      dispatcher: DispatcherId,
      freed: number,
      count: (batch: OpenBatch, freed: number) => number,
    ): readonly Mark[] {
      if (attached().length === 0) {
        carrying = { dispatcher, freed }
        for (const batch of all()) {
          if (batch.dispatcher !== dispatcher || !mayMark(batch)) continue
          const uncovered = freed - covered()
          const marking = target(batch, Math.min(count(batch, uncovered), room() + uncovered))
          if (marking > batch.marked) change(batch, { marking, mark: 'attached' })
        }
        checkBound()
      } else if (carrying?.dispatcher !== dispatcher) return []
      return attached().map((batch) => ({ batch: batch.id, upTo: upToOf(batch) }))
    },
    /** Records that the dispatcher's record and the marks attached to it are committed. */
    confirmAttached(dispatcher: DispatcherId): void {
      if (carrying?.dispatcher !== dispatcher) return
      const confirmed = attached()
      carrying = undefined
      for (const batch of confirmed) confirm(batch)
    },

    /**
     * Removes messages that are neither marked nor being marked from the batch, and returns their ids to be given back.
     */
    cut(of: OpenBatch): readonly MessageId[] {
      const batch = own(of)
      if (batch.unsettled > 0 || batch.fenced) return []
      const ids = batch.messages.slice(batch.marking, batch.end).map(({ id }) => id)
      change(batch, { end: batch.marking })
      return ids
    },
    /** Records that `count` unmarked messages were given back, or belong to another dispatcher. */
    givenBack: (of: OpenBatch, count: number): void => change(own(of), { open: of.open - count }),

    /**
     * Fences all batches of a dispatcher that was declared dead: unsubmitted messages belong to others, outcomes of
     * submitted ones are still to be recorded.
     */
    fence(dispatcher: DispatcherId): void {
      if (carrying?.dispatcher === dispatcher) carrying = undefined
      for (const batch of all()) if (batch.dispatcher === dispatcher && !batch.fenced) fenceBatch(batch)
    },
    /** Fences all batches: no further message is submitted or marked. */
    abandon(): void {
      for (const batch of all()) if (!batch.fenced) fenceBatch(batch)
    },
  }
}
