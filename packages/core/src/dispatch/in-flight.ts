import type { MessageId } from '../messages/messages.ts'
import type { ClaimedBatch, ClaimedBatchId, ClaimedMessage, DispatcherId, Lane, Mark } from './claimed-batches.ts'
import { noRoute, type QueueNumber } from '../routes/published-routes.ts'

/** A claimed batch in memory. Always next <= marked <= marking <= end; only `InFlight` moves the positions. */
export interface OpenBatch {
  readonly dispatcher: DispatcherId
  readonly id: ClaimedBatchId
  readonly lane: Lane
  readonly queue: QueueNumber
  /** So many milliseconds the clock of this process was ahead of the store's when it was claimed. */
  readonly clockAhead: number
  /** Those that are to be submitted, in this order; not those that end without a carrier. */
  readonly messages: readonly ClaimedMessage[]
  /** The position of the next message to be submitted. */
  readonly next: number
  /** The messages before this position may leave. */
  readonly marked: number
  /**
   * A mark up to here is being committed, or has failed and may have been committed; equal to `marked` if there is
   * none.
   */
  readonly marking: number
  /** The length of `messages`; of a fenced batch, where submitting stopped; else where giving back began. */
  readonly end: number
  /** `failed`: has to be committed again, up to the same position. `attached`: goes with a record of outcomes. */
  readonly mark: 'none' | 'committing' | 'failed' | 'attached'
  /** Messages whose outcome is not committed. */
  readonly open: number
  /** Of these, the marked ones. */
  readonly inDoubt: number
  /** Its dispatcher was declared dead: nothing more of it is submitted or marked. */
  readonly fenced: boolean
}

/** A claim under way, which may mark so many messages. */
export interface Claim {
  readonly lane: Lane
  readonly markedMax: number
}

type Writable<T> = { -readonly [K in keyof T]: T[K] }

interface Batch extends Writable<OpenBatch> {
  /** What the store has to mark for the first n messages to be marked; undefined: n. */
  readonly upTo: readonly number[] | undefined
  /** Messages that end without a carrier, until that is committed: nothing more is marked before. */
  unsettled: number
  /** Those of them that the claim marked. */
  unsettledInDoubt: number
}

/** A message that was submitted, and when, in milliseconds of one clock. */
export interface Unanswered {
  readonly batch: OpenBatch
  readonly message: ClaimedMessage
  readonly leftAt: number
}

/** What must always hold does not: a defect of this program. Nothing may be decided by such numbers any more. */
export class BrokenInvariant extends Error {
  override readonly name = 'BrokenInvariant'
}

const broken = (what: string, facts: Readonly<Record<string, number | boolean | string>>): never => {
  throw new BrokenInvariant(`${what}: ${JSON.stringify(facts)}`)
}

/** In numbers: a report names no recipient and no text. */
function checkBatch({ id, next, marked, marking, end, messages, open, inDoubt, fenced, mark }: OpenBatch): void {
  const isInOrder = 0 <= next && next <= marked && marked <= marking && marking <= end && end <= messages.length
  const isCounted = 0 <= inDoubt && inDoubt <= open
  const isFenceKept = !fenced || (end === next && mark === 'none')
  if (!isInOrder || !isCounted || !isFenceKept)
    broken('a claimed batch is inconsistent', { id, next, marked, marking, end, open, inDoubt, fenced, mark })
}

/**
 * What one dispatcher has claimed, marked and submitted. No call leaves more than `inDoubtMax` messages in doubt (P-6).
 */
export type InFlight = ReturnType<typeof createInFlight>

export function createInFlight(inDoubtMax: number) {
  /** In the order in which they leave: the single lane first. */
  const batches: Record<Lane, Batch[]> = { single: [], bulk: [] }
  /** In the order in which they left. */
  const unanswered = new Map<MessageId, Unanswered>()
  const claims = new Set<Claim>()
  const moves: Record<Lane, number> = { single: 0, bulk: 0 }
  /** Sums over all open batches, kept by `change`: to add them up at each look cost 1 to 3 µs a message. */
  const total = { inDoubt: 0, leaving: 0, attached: 0, ahead: { single: 0, bulk: 0 } }
  let claiming = 0
  let lost = { claims: 0, marks: 0 }
  /** The record that marks are attached to: whose it is, and how many messages it takes out of doubt. */
  let carrying: { readonly dispatcher: DispatcherId; readonly freed: number } | undefined

  const all = (): readonly Batch[] => [...batches.single, ...batches.bulk]
  const attached = (): readonly Batch[] => all().filter(({ mark }) => mark === 'attached')
  const own = (batch: OpenBatch): Batch => batch as Batch
  const upToOf = ({ upTo, marking }: Batch): number => (upTo === undefined ? marking : (upTo[marking - 1] ?? 0))

  /** Attached marks replace outcomes that are committed with them: never are both in doubt. */
  const covered = (): number => Math.min(carrying?.freed ?? 0, total.attached)
  const inDoubt = (): number => lost.marks - covered() + total.inDoubt
  const room = (): number => inDoubtMax - inDoubt() - claiming

  function sum({ lane, next, marked, marking, end, mark, inDoubt: its }: Batch, sign: 1 | -1): void {
    total.inDoubt += sign * (its + marking - marked)
    total.leaving += sign * (marking - next)
    total.ahead[lane] += sign * (end - next)
    if (mark === 'attached') total.attached += sign * (marking - marked)
  }

  /** Every change of an open batch goes through here. One of which all is committed has ended. */
  function change(batch: Batch, to: Partial<Batch>): void {
    const its = batches[batch.lane]
    const at = its.indexOf(batch)
    if (at < 0) return
    sum(batch, -1)
    Object.assign(batch, to)
    checkBatch(batch)
    if (batch.open === 0 && batch.unsettled === 0) its.splice(at, 1)
    else sum(batch, 1)
  }

  /** `more`: messages in doubt that are about to be added. */
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
    /** How often something of the lane has moved: a claim, a mark, a submission. */
    moves: moves as Readonly<Record<Lane, number>>,
    /** Marked, or being marked, or perhaps marked by a failed claim, and not recorded. */
    inDoubt,
    /** So many messages the claims under way may mark. */
    claiming: (): number => claiming,
    isClaiming: (lane?: Lane): boolean => [...claims].some((claim) => lane === undefined || claim.lane === lane),
    /** Claimed and not submitted. */
    ahead: (lane: Lane): number => total.ahead[lane],
    /** Marked, or being marked, and not submitted. */
    leaving: (): number => total.leaving,

    /** A claim begins, which may mark so many messages; fewer if the bound leaves no room for them. */
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
    /** A claim failed that may have been committed all the same: its marks count until `forgetLostClaims`. */
    loseClaim(claim: Claim): void {
      // Else it counts twice until `endClaim`: of two that fail together the bound would not hold.
      if (claims.delete(claim)) claiming -= claim.markedMax
      lost = { claims: lost.claims + 1, marks: lost.marks + claim.markedMax }
    },
    hasLostClaims: (): boolean => lost.claims > 0,
    forgetLostClaims: (): void => void (lost = { claims: 0, marks: 0 }),
    /** The queue of the lane is empty. That is a move unless something is claimed and stays. */
    foundNothing(lane: Lane): void {
      if (total.ahead[lane] === 0) moves[lane]++
    },

    /**
     * A batch was claimed, and its claim has ended. The `skipped` messages are never submitted; nothing is marked until
     * `skippedSettled`.
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
    /** The end of the skipped messages is committed. */
    skippedSettled(of: OpenBatch): void {
      const { open, inDoubt: its, unsettled, unsettledInDoubt } = own(of)
      const ended = { unsettled: 0, unsettledInDoubt: 0 }
      change(own(of), { ...ended, open: open - unsettled, inDoubt: its - unsettledInDoubt })
    },

    /** The next messages that may leave, `max` at the most. They are unanswered from `now` on. */
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
    /** So many were submitted before then and have no answer. */
    unansweredSince(then: number): number {
      let count = 0
      for (const { leftAt } of unanswered.values()) {
        if (leftAt > then) break
        count++
      }
      return count
    },
    /** The carrier has answered; undefined: it had answered before. */
    answer(id: MessageId) {
      const pending = unanswered.get(id)
      unanswered.delete(id)
      return pending
    },
    /** The outcomes of so many submitted messages are committed. */
    recorded: (of: OpenBatch, count: number): void =>
      change(own(of), { open: of.open - count, inDoubt: of.inDoubt - count }),

    /**
     * Begins to mark so many more, fewer at the bound; after a failure the same again. Undefined: nothing is to be
     * committed.
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
    /** The mark is committed: the messages may leave. */
    confirmMark: (batch: OpenBatch): void => confirm(own(batch)),
    /** The mark may or may not be committed. */
    failMark(batch: OpenBatch): void {
      if (batch.mark === 'committing') own(batch).mark = 'failed'
    },

    /**
     * Marks to be committed with a record that takes `freed` messages of the dispatcher out of doubt: `count` more of
     * each batch, fewer at the bound. After a failed record the same marks again and no others, since they may have
     * been committed.
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
          const left = freed - covered()
          const marking = target(batch, Math.min(count(batch, left), room() + left))
          if (marking > batch.marked) change(batch, { marking, mark: 'attached' })
        }
        checkBound()
      } else if (carrying?.dispatcher !== dispatcher) return []
      return attached().map((batch) => ({ batch: batch.id, upTo: upToOf(batch) }))
    },
    /** The record of this dispatcher, and what was attached to it, is committed. */
    confirmAttached(dispatcher: DispatcherId): void {
      if (carrying?.dispatcher !== dispatcher) return
      const confirmed = attached()
      carrying = undefined
      for (const batch of confirmed) confirm(batch)
    },

    /** What is neither marked nor about to be leaves the batch, and is to be given back; its messages. */
    cut(of: OpenBatch): readonly MessageId[] {
      const batch = own(of)
      if (batch.unsettled > 0 || batch.fenced) return []
      const ids = batch.messages.slice(batch.marking, batch.end).map(({ id }) => id)
      change(batch, { end: batch.marking })
      return ids
    },
    /** So many messages that were never marked are given back, or no longer ours. */
    givenBack: (of: OpenBatch, count: number): void => change(own(of), { open: of.open - count }),

    /** The dispatcher was declared dead: what was not submitted is no longer ours; what was is still to be recorded. */
    fence(dispatcher: DispatcherId): void {
      if (carrying?.dispatcher === dispatcher) carrying = undefined
      for (const batch of all()) if (batch.dispatcher === dispatcher && !batch.fenced) fenceBatch(batch)
    },
    /** Nothing more of any batch is submitted or marked. */
    abandon(): void {
      for (const batch of all()) if (!batch.fenced) fenceBatch(batch)
    },
  }
}
