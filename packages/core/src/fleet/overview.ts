import type { AccountId } from '../accounts/account.ts'
import type { Instant } from '../time/instant.ts'
import type { CarrierId } from '../dispatch/carrier-id.ts'
import type { DispatcherId, Lane, ProcessPlace } from '../dispatch/claimed-batches.ts'

/** A dispatcher that has neither ended nor been declared dead. */
export interface RunningDispatcher {
  readonly id: DispatcherId
  /** Time of registration; undefined if it was registered by an older release that did not store it. */
  readonly since: Instant | undefined
  /** Version of its program, if reported. */
  readonly version: string | undefined
  /** Host and process id, if reported. */
  readonly place: ProcessPlace | undefined
  readonly leaseUntil: Instant
  /** True if the lease is over by the store's clock, so that the next recovery declares the dispatcher dead. */
  readonly overdue: boolean
  /** Load of each carrier that has messages. */
  readonly loads: readonly CarrierLoad[]
}

export interface CarrierLoad {
  readonly carrier: CarrierId
  /** Number of claimed batches that still hold messages. */
  readonly batches: number
  /** Number of claimed messages without a stored outcome. */
  readonly messages: number
  /**
   * Number of these claimed messages that may have been submitted. If the dispatcher died now, they would become
   * unknown (P-6).
   */
  readonly inDoubt: number
}

/** Unclaimed messages of an account in one lane. */
export interface WaitingWork {
  readonly account: AccountId
  readonly lane: Lane
  /** Number of due messages. */
  readonly due: number
  /** Time at which the oldest due message first became due; undefined if no message is due. */
  readonly oldestDue: Instant | undefined
  /** Number of messages scheduled for later. */
  readonly scheduled: number
  /** Number of messages that a carrier temporarily refused and that wait for another attempt. */
  readonly postponed: number
}

/** Due messages in the queues of a route. */
export interface WaitingRoute {
  /** Name of the route; undefined for messages without a route. */
  readonly route: string | undefined
  readonly due: number
  /** Number of due messages in the single lane. The other due messages are in the bulk lane. */
  readonly single: number
  readonly oldestDue: Instant
  /** Time at which the oldest due message of each lane first became due; a lane without due messages is omitted. */
  readonly oldestOfLane: Readonly<Partial<Record<Lane, Instant>>>
}

/** Messages of one carrier whose outcome became unknown, because of an answer or a dead dispatcher. */
export interface UnknownOutcomes {
  readonly carrier: CarrierId
  /** Number of these whose outcome became known later, by a receipt, a late answer or a repetition. */
  readonly resolved: number
  readonly unresolved: number
}

/** Overview of running dispatchers and waiting messages for operators. Read-only. */
export interface Overview {
  /** Returns the dispatchers by id, all as of one moment. */
  dispatchers(): Promise<readonly RunningDispatcher[]>
  /**
   * Yields the waiting messages of each account: first the single lane, then the bulk lane. Lanes without messages are
   * left out. Reads in pieces, so that memory does not grow with a hundred thousand accounts. The figures of one
   * account are of one moment.
   */
  queue(): AsyncIterable<WaitingWork>
  /** Returns the routes with due messages by name, all as of one moment. Reads all waiting messages. */
  routes(): Promise<readonly WaitingRoute[]>
  /** Returns the carriers with messages whose outcome became unknown in the last `seconds`, by name. */
  unknownOutcomes(seconds: number): Promise<readonly UnknownOutcomes[]>
}
