import type { MessageId } from '../message/message-id.ts'
import type { ClaimedMessage, DispatcherId, ClaimedBatch, ClaimedBatchId, Lane } from './claimed-batches.ts'

/** A claimed batch as its dispatcher sees it. Positions count in `messages`: next <= marked <= marking <= length. */
export interface Aloft {
  readonly dispatcher: DispatcherId
  readonly batch: ClaimedBatchId
  readonly lane: Lane
  readonly messages: readonly ClaimedMessage[]
  /** Ids that end without a carrier (screened out, expired): passed over when their turn to be submitted comes. */
  readonly grounded: ReadonlySet<MessageId>
  /** False until the grounded ones are committed: no further message is marked before. */
  settled: boolean
  /** So many, from the front, may leave. */
  marked: number
  /** A mark up to here is being committed; equal to `marked` if none is. */
  marking: number
  /** The next to be submitted. */
  next: number
  /** Messages whose end is not committed. */
  open: number
  /** Marked messages whose end is not committed. */
  inDoubt: number
  /** Its dispatcher was declared dead: nothing more of it may be submitted. */
  fenced: boolean
}

/** What a dispatcher holds at a time. */
export interface Sky {
  readonly batches: Record<Lane, Aloft[]>
  /** Submitted and not answered. */
  readonly unanswered: Map<MessageId, { readonly aloft: Aloft; readonly message: ClaimedMessage }>
}

export const emptySky = (): Sky => ({ batches: { single: [], bulk: [] }, unanswered: new Map() })

export function takeOff(
  sky: Sky,
  lane: Lane,
  dispatcher: DispatcherId,
  batch: ClaimedBatch,
  grounded: ReadonlySet<MessageId>,
): Aloft {
  const { id, messages, marked } = batch
  const aloft: Aloft = {
    dispatcher,
    batch: id,
    lane,
    messages,
    grounded,
    settled: grounded.size === 0,
    marked,
    marking: marked,
    next: 0,
    open: messages.length,
    inDoubt: marked,
    fenced: false,
  }
  sky.batches[lane].push(aloft)
  return aloft
}

/** In the order in which they leave: the single lane first. */
export const alofts = (sky: Sky): readonly Aloft[] => [...sky.batches.single, ...sky.batches.bulk]

export function land(sky: Sky, aloft: Aloft): void {
  const lane = sky.batches[aloft.lane]
  const at = lane.indexOf(aloft)
  if (at >= 0) lane.splice(at, 1)
}

/** Marked, or being marked, and not committed. */
export const inDoubt = (sky: Sky): number =>
  alofts(sky).reduce((sum, aloft) => sum + aloft.inDoubt + aloft.marking - aloft.marked, 0)

/** Claimed and not submitted. */
export const ahead = (sky: Sky, lane: Lane): number =>
  sky.batches[lane].reduce((sum, { messages, next }) => sum + messages.length - next, 0)

/** Settled messages need no mark and leave nowhere: those that would be marked next are passed over. */
export function passGrounded(aloft: Aloft): void {
  if (!aloft.settled || aloft.marking > aloft.marked) return
  const isGrounded = (message: ClaimedMessage | undefined) => message !== undefined && aloft.grounded.has(message.id)
  while (isGrounded(aloft.messages[aloft.marked])) aloft.marked++
  aloft.marking = aloft.marked
}

/** The next messages that may leave, `max` at the most; they count as submitted from now on. */
export function depart(aloft: Aloft, max: number): readonly ClaimedMessage[] {
  const leaving: ClaimedMessage[] = []
  while (aloft.next < aloft.marked && leaving.length < max) {
    const message = aloft.messages[aloft.next++]
    if (message !== undefined && !aloft.grounded.has(message.id)) leaving.push(message)
  }
  return leaving
}

/** A mark was committed. Settled messages that it passes over are not in doubt. A claimed batch that was fenced meanwhile stays as it is. */
export function confirmMark(aloft: Aloft): void {
  if (aloft.fenced) return
  for (let at = aloft.marked; at < aloft.marking; at++) {
    const message = aloft.messages[at]
    if (message !== undefined && !aloft.grounded.has(message.id)) aloft.inDoubt++
  }
  aloft.marked = aloft.marking
}

/** Its dispatcher was declared dead: what was not submitted is no longer ours; what was is still worth recording. */
export function fence(aloft: Aloft): void {
  if (aloft.fenced) return
  const { messages, grounded, next, marked } = aloft
  const left = (of: readonly ClaimedMessage[]): number => of.filter(({ id }) => !grounded.has(id)).length
  aloft.open -= left(messages.slice(next))
  aloft.inDoubt -= left(messages.slice(next, marked))
  aloft.next = messages.length
  aloft.marking = marked
  aloft.fenced = true
}
