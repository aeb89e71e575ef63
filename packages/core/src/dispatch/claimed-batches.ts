import type { AccountId } from '../accounts/account.ts'
import type { Brand } from '../brand.ts'
import type { Body } from '../messages/body.ts'
import type { MessageId } from '../messages/messages.ts'
import type { Msisdn, SenderAddress } from '../messages/msisdn.ts'
import type { OUTCOME } from '../messages/status-code.ts'
import type { ClaimedOptions } from '../messages/send-options.ts'
import type { Suppression } from '../suppressions/suppressions.ts'
import type { Instant } from '../time/instant.ts'
import type { CarrierId } from './carrier-id.ts'
import type { CarrierReferences } from './delivery-receipt.ts'
import type { QueueNumber } from '../routes/published-routes.ts'

/** One life of a dispatcher: its epoch. A dispatcher that was declared dead never acts under its old id again. */
export type DispatcherId = Brand<number, 'DispatcherId'>

/** Names a claimed slice among those of its dispatcher. */
export type ClaimedBatchId = Brand<number, 'ClaimedBatchId'>

/** Texts to up to ten numbers go in the single lane, larger ones in the bulk lane (`laneOf`). */
export type Lane = 'single' | 'bulk'

export interface ClaimedMessage {
  readonly id: MessageId
  /** The first id of the send that it belongs to: one text to many numbers. */
  readonly send: MessageId
  readonly account: AccountId
  /**
   * Undefined: accepted before messages had an address of ours, or not registered with the carrier that claimed it,
   * whose own is used instead (`senderOver`).
   */
  readonly from: SenderAddress | undefined
  /**
   * Its sender is not registered with the carrier that claimed it, and its account wants no other: only these may be
   * given it. Undefined: the carrier may.
   */
  readonly onlyOver: readonly CarrierId[] | undefined
  readonly to: Msisdn
  readonly body: Body
  /** When it was first due; validity counts from here. */
  readonly due: Instant
  /** The end of a validity of its own (ruling 1.29); undefined: it has none. */
  readonly expires: Instant | undefined
  readonly options: ClaimedOptions
  /** It confirms an opt-out, which therefore does not stop it (ruling 1.21). */
  readonly confirmation: boolean
  /** How often a carrier refused it for now. */
  readonly attempt: number
  /** Facts at the moment of the claim, for screening once more (ruling 1.13). */
  readonly accountLocked: boolean
  readonly suppressions: ReadonlySet<Suppression>
}

/** A claimed slice. Only its dispatcher may submit, settle or give back its messages, and only while it exists. */
export interface ClaimedBatch {
  readonly id: ClaimedBatchId
  /** When it was claimed, by the store's clock. */
  readonly at: Instant
  /** In order of submission. */
  readonly messages: readonly ClaimedMessage[]
  /** So many of the messages, from the front, may leave. */
  readonly marked: number
}

export interface Wanted {
  readonly carrier: CarrierId
  readonly lane: Lane
  /** Undefined: that of messages without a route. */
  readonly queue?: QueueNumber
  /** At most so many messages, at least 1. (The single lane may exceed it by the rest of one send.) */
  readonly messagesMax: number
  /** At most so many of them are marked at once. */
  readonly markedMax: number
  readonly leaseSeconds: number
  /** Only messages that no carrier has refused for now; for probes. */
  readonly fresh?: boolean
  /**
   * Only messages that have been due for this many seconds, by the store's clock: carriers of a better priority have no
   * room. Each of them gets the incident `INCIDENT.overflow`.
   */
  readonly overflowSeconds?: number | undefined
}

/**
 * What became of a marked message that was handed to the carrier. Partly: it has some of the parts and will not get the
 * others.
 */
export type Handover =
  ({ readonly outcome: 'accepted' | 'partly' } & CarrierReferences) | { readonly outcome: 'refused' | 'unknown' }

export interface Recorded {
  readonly batch: ClaimedBatchId
  readonly message: ClaimedMessage
  readonly handover: Handover
}

/** The first `upTo` messages of the batch may leave. */
export interface Mark {
  readonly batch: ClaimedBatchId
  readonly upTo: number
}

/** Codes of messages that end without a carrier. */
export type SettledCode = (typeof OUTCOME)['expired' | 'accountLocked' | 'optedOut' | 'blacklisted' | 'refused']

export interface Settled {
  readonly id: MessageId
  readonly code: SettledCode
}

/** Where a process runs. */
export interface ProcessPlace {
  readonly host: string
  readonly pid: number
}

/**
 * What dispatchers do with waiting messages (P-4 to P-6). Every call is atomic, and may be repeated by its
 * implementation after a lost answer without doing anything twice. A message is at every committed moment in exactly
 * one place: scheduled or postponed, due, in a claimed batch, or decided. A claimed batch ends with its last message,
 * by whichever call that leaves it.
 */
export interface ClaimedBatches {
  /**
   * A new epoch, alive for the lease. The version of the program, and where it runs, are for the operator; undefined:
   * not told.
   */
  register(leaseSeconds: number, version?: string, place?: ProcessPlace): Promise<DispatcherId>
  /** Fenced: declared dead; its claimed batches are no longer its own. */
  extend(dispatcher: DispatcherId, leaseSeconds: number): Promise<'alive' | 'fenced'>
  /**
   * Ends a dispatcher in good order: what it has not marked goes back to the queue, what it marked and did not record
   * is unknown.
   */
  retire(dispatcher: DispatcherId): Promise<void>
  /**
   * Moves what has become due from the schedule to the queue, an equal share of each account; returns how many ranges
   * moved.
   */
  promote(rangesMax: number): Promise<number>
  /**
   * Claims due messages of one queue and extends the lease. Every account that waits in the lane has its turn: behind
   * any backlog of another account a single message waits for one round of the accounts, not for the backlog. Within an
   * account the higher priority comes first, and what was refused for now comes last.
   */
  claim(dispatcher: DispatcherId, wanted: Wanted): Promise<ClaimedBatch | 'nothing' | 'fenced'>
  /**
   * Gives back what claims that failed may have taken: every claimed batch of the dispatcher but the `known` ones
   * returns to the queue, marked or not, as if it had never been claimed, and a claim that failed and is still at work
   * takes nothing. No claim of the dispatcher may be under way.
   */
  disown(dispatcher: DispatcherId, known: readonly ClaimedBatchId[]): Promise<void>
  /** The first `upTo` messages of the batch may leave once this has resolved to 'marked'. Never lowers a mark. */
  mark(dispatcher: DispatcherId, batch: ClaimedBatchId, upTo: number): Promise<'marked' | 'fenced'>
  /**
   * Stores outcomes of submitted messages, of any claimed batches: the code of each is `handoverCode`, and 111 is
   * refunded. Where the dispatcher was fenced meanwhile it adds what is true, once: of what recovery called unknown
   * (`isLateTruth`); nothing else changes.
   *
   * The marks are set once the outcomes are stored, never before. Fenced: a claimed batch to be marked is no longer
   * ours.
   */
  record(
    dispatcher: DispatcherId,
    outcomes: readonly Recorded[],
    marks?: readonly Mark[],
  ): Promise<'recorded' | 'fenced'>
  /**
   * Ends messages of the batch that were never submitted, marked or not, refunded; ids that the batch no longer holds
   * are left alone.
   */
  settle(dispatcher: DispatcherId, batch: ClaimedBatchId, settled: readonly Settled[]): Promise<'settled' | 'fenced'>
  /**
   * Gives back messages that the carrier explicitly refused for now, to be claimed again after `seconds` from `queue`;
   * undefined: from the one that they came from. Fenced: certainly not, now or before, and what recovery called unknown
   * may be recorded as refused.
   */
  postpone(
    dispatcher: DispatcherId,
    batch: ClaimedBatchId,
    ids: readonly MessageId[],
    seconds: number,
    queue?: QueueNumber,
  ): Promise<'postponed' | 'fenced'>
  /**
   * Gives back messages of the batch that were never submitted, to be claimed again at once; ids that the batch no
   * longer holds are left alone. Fenced: they have been given back, or are unknown where they were marked.
   */
  giveBack(dispatcher: DispatcherId, batch: ClaimedBatchId, ids: readonly MessageId[]): Promise<'given-back' | 'fenced'>
  /** Those of the queues in which messages of the lane are due, in the order given. */
  queuesWithWork(lane: Lane, queues: readonly QueueNumber[]): Promise<readonly QueueNumber[]>
  /**
   * Dispatchers whose lease is over: what they marked and did not record is unknown (106), all else goes back to the
   * queue.
   */
  recover(): Promise<{ readonly requeued: number; readonly unknown: number }>
  /**
   * Ends waiting messages as expired (101), refunded: those whose own validity is over, and those without one that were
   * due more than `validitySeconds` ago. Returns how many.
   */
  expire(validitySeconds: number, rangesMax: number): Promise<number>
}
