import type { MessageId } from '../message/message-id.ts'
import { noRoute, type QueueNumber } from './published-routes.ts'
import type { ClaimedBatch, ClaimedBatchId, ClaimedMessage, DispatcherId, Lane, Mark } from './claimed-batches.ts'

/** A claimed batch in memory. Always next <= marked <= marking <= end; only `InFlight` moves the positions. */
export interface OpenBatch {
  readonly dispatcher: DispatcherId
  readonly id: ClaimedBatchId
  readonly lane: Lane
  readonly queue: QueueNumber
  readonly messages: readonly ClaimedMessage[]
  /** The position of the next message to be submitted. */
  readonly next: number
  /** The messages before this position may leave. */
  readonly marked: number
  /** A mark up to here is being committed, or has failed and may have been committed; equal to `marked` if there is none. */
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

/** A claim under way. */
export interface Claim {
  readonly lane: Lane
  /** So many messages it may mark. */
  readonly markedMax: number
}

interface Positions extends Writable<OpenBatch> {
  /** Messages that end without a carrier. */
  readonly skipped: ReadonlySet<MessageId>
  /** Skipped messages that count in `inDoubt` until their end is committed: those that the claim marked. */
  skippedInDoubt: number
  /** False until the end of the skipped messages is committed: nothing more is marked before. */
  settled: boolean
  /** No longer among the batches of its lane. */
  closed: boolean
}

type Writable<T> = { -readonly [K in keyof T]: T[K] }

/** What one dispatcher has claimed, marked and submitted. No call leaves more than `inDoubtMax` messages in doubt (P-6). */
export type InFlight = ReturnType<typeof createInFlight>

export function createInFlight(inDoubtMax: number) {
  const batches: Record<Lane, Positions[]> = { single: [], bulk: [] }
  const unanswered = new Map<MessageId, { readonly batch: OpenBatch; readonly message: ClaimedMessage }>()
  const claims = new Set<Claim>()
  /** Sums over all batches, kept by `change`: summing up at each look cost 1 to 3 µs a message. */
  const total = { inDoubt: 0, leaving: 0, attached: 0, ahead: { single: 0, bulk: 0 } }
  const moves: Record<Lane, number> = { single: 0, bulk: 0 }
  let claiming = 0
  let lostClaims = 0
  let lostMarks = 0
  /** Of the record that marks are attached to: whose it is, and how many messages it takes out of doubt. */
  let carrying: { readonly dispatcher: DispatcherId; readonly freed: number } | undefined

  /** In the order in which they leave: the single lane first. */
  const all = (): readonly Positions[] => [...batches.single, ...batches.bulk]
  const attached = (): readonly Positions[] => all().filter(({ mark }) => mark === 'attached')
  const own = (batch: OpenBatch): Positions => batch as Positions

  function add(batch: Positions, sign: 1 | -1): void {
    if (batch.closed) return
    const marking = batch.marking - batch.marked
    total.inDoubt += sign * (batch.inDoubt + marking)
    total.leaving += sign * (batch.marking - batch.next)
    total.ahead[batch.lane] += sign * (batch.end - batch.next)
    if (batch.mark === 'attached') total.attached += sign * marking
  }

  /** Every change of a position goes through here. */
  function change(batch: Positions, to: Partial<Positions>): void {
    add(batch, -1)
    Object.assign(batch, to)
    add(batch, 1)
  }

  /** Attached marks replace outcomes that are committed with them: never are both in doubt. */
  const covered = (): number => Math.min(carrying?.freed ?? 0, total.attached)
  const inDoubt = (): number => lostMarks - covered() + total.inDoubt
  const room = (): number => inDoubtMax - inDoubt() - claiming

  /** Settled messages need no mark: those that would be marked next are passed over. */
  function passSkipped(batch: Positions): void {
    if (!mayMark(batch)) return
    let { marked } = batch
    while (marked < batch.end && isSkipped(batch, marked)) marked++
    if (marked > batch.marked) change(batch, { marked, marking: marked })
  }

  const isSkipped = ({ messages, skipped }: Positions, at: number): boolean => {
    const message = messages[at]
    return message !== undefined && skipped.has(message.id)
  }
  /** How many of these positions have a message that is not skipped. */
  function countSent(batch: Positions, from: number, to: number): number {
    if (batch.skipped.size === 0) return to - from
    let count = 0
    for (let at = from; at < to; at++) if (!isSkipped(batch, at)) count++
    return count
  }

  const mayMark = ({ settled, fenced, mark, marked, end }: Positions): boolean =>
    settled && !fenced && mark === 'none' && marked < end
  const target = ({ end, marked }: Positions, count: number): number => Math.min(end, marked + Math.max(0, count))

  function confirm(batch: Positions): void {
    if (batch.fenced) return
    const { marked, marking } = batch
    change(batch, { inDoubt: batch.inDoubt + countSent(batch, marked, marking), marked: marking, mark: 'none' })
    moves[batch.lane]++
    passSkipped(batch)
  }

  /** A batch of which all is committed has ended. */
  function closeIfEmpty(batch: Positions): void {
    if (batch.open > 0 || batch.closed) return
    batches[batch.lane].splice(batches[batch.lane].indexOf(batch), 1)
    change(batch, { closed: true })
  }

  function fenceBatch(batch: Positions): void {
    if (batch.fenced) return
    const { next } = batch
    change(batch, {
      open: batch.open - countSent(batch, next, batch.end),
      inDoubt: batch.inDoubt - countSent(batch, next, batch.marked),
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
    },
    /** A claim failed that may have been committed all the same: its marks count until `forgetLostClaims`. */
    loseClaim({ markedMax }: Claim): void {
      lostClaims++
      lostMarks += markedMax
    },
    hasLostClaims: (): boolean => lostClaims > 0,
    forgetLostClaims(): void {
      lostClaims = lostMarks = 0
    },
    /** The queue of the lane is empty. That is a move unless something is claimed and stays. */
    foundNothing(lane: Lane): void {
      if (total.ahead[lane] === 0) moves[lane]++
    },

    /** A batch was claimed. The `skipped` messages are never submitted; nothing is marked until `skippedSettled`. */
    open(
      lane: Lane,
      dispatcher: DispatcherId,
      { id, messages, marked }: Omit<ClaimedBatch, 'at'>,
      skipped: ReadonlySet<MessageId>,
      queue: QueueNumber = noRoute,
    ) {
      const batch: Positions = {
        dispatcher,
        id,
        lane,
        queue,
        messages,
        skipped,
        next: 0,
        marked,
        marking: marked,
        end: messages.length,
        mark: 'none',
        open: messages.length,
        inDoubt: marked,
        fenced: false,
        settled: skipped.size === 0,
        skippedInDoubt: 0,
        closed: false,
      }
      batch.skippedInDoubt = marked - countSent(batch, 0, marked)
      batches[lane].push(batch)
      add(batch, 1)
      moves[lane]++
      return batch as OpenBatch
    },
    /** The end of the skipped messages is committed. */
    skippedSettled(of: OpenBatch): void {
      const batch = own(of)
      const { open, skipped, inDoubt, skippedInDoubt } = batch
      change(batch, { settled: true, open: open - skipped.size, inDoubt: inDoubt - skippedInDoubt })
      passSkipped(batch)
      closeIfEmpty(batch)
    },

    /** The next messages that may leave, `max` at the most. They are unanswered from now on. */
    submit(of: OpenBatch, max: number): readonly ClaimedMessage[] {
      const batch = own(of)
      const leaving: ClaimedMessage[] = []
      let { next } = batch
      for (; next < batch.marked && leaving.length < max; next++) {
        const message = batch.messages[next]
        if (message === undefined || batch.skipped.has(message.id)) continue
        leaving.push(message)
        unanswered.set(message.id, { batch, message })
      }
      change(batch, { next })
      if (leaving.length > 0) moves[batch.lane]++
      return leaving
    },
    /** The carrier has answered; undefined: it had answered before. */
    answer(id: MessageId) {
      const pending = unanswered.get(id)
      unanswered.delete(id)
      return pending
    },
    /** The outcomes of so many submitted messages are committed. */
    recorded(of: OpenBatch, count: number): void {
      const batch = own(of)
      change(batch, { open: batch.open - count, inDoubt: batch.inDoubt - count })
      closeIfEmpty(batch)
    },

    /** Begins to mark so many more, fewer at the bound; after a failure the same again. Undefined: nothing is to be committed. */
    startMark(of: OpenBatch, count: (batch: OpenBatch) => number): number | undefined {
      const batch = own(of)
      if (mayMark(batch)) {
        const marking = target(batch, Math.min(count(batch), room()))
        if (marking > batch.marked) change(batch, { marking })
      } else if (batch.mark !== 'failed') return undefined
      if (batch.marking === batch.marked) return undefined
      batch.mark = 'committing'
      return batch.marking
    },
    /** The mark is committed: the messages may leave. */
    confirmMark: (batch: OpenBatch): void => confirm(own(batch)),
    /** The mark may or may not be committed. */
    failMark(batch: OpenBatch): void {
      if (batch.mark === 'committing') own(batch).mark = 'failed'
    },

    /**
     * Marks to be committed with a record that takes `freed` messages of the dispatcher out of doubt: `count` more of each batch, fewer at
     * the bound. After a failed record the same marks again and no others, since they may have been committed.
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
      } else if (carrying?.dispatcher !== dispatcher) return []
      return attached().map(({ id, marking }) => ({ batch: id, upTo: marking }))
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
      if (!batch.settled || batch.fenced) return []
      const ids = batch.messages.slice(batch.marking, batch.end).map(({ id }) => id)
      change(batch, { end: batch.marking })
      return ids.filter((id) => !batch.skipped.has(id))
    },
    /** So many messages that were never marked are given back, or no longer ours. */
    givenBack(of: OpenBatch, count: number): void {
      const batch = own(of)
      change(batch, { open: batch.open - count })
      closeIfEmpty(batch)
    },

    /** The dispatcher was declared dead: what was not submitted is no longer ours; what was is still to be recorded. */
    fence(dispatcher: DispatcherId): void {
      if (carrying?.dispatcher === dispatcher) carrying = undefined
      for (const batch of all()) {
        if (batch.dispatcher !== dispatcher) continue
        fenceBatch(batch)
        closeIfEmpty(batch)
      }
    },
    /** Nothing more is submitted or marked of any batch; all stay open. */
    abandon(): void {
      for (const batch of all()) fenceBatch(batch)
    },
  }
}
