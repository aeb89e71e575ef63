import type { AccountId } from '../accounts/account.ts'
import type { Instant } from '../time/instant.ts'
import type { CarrierId } from '../dispatch/carrier-id.ts'
import type { DispatcherId, Lane, ProcessPlace } from '../dispatch/claimed-batches.ts'

/** A dispatcher that has neither ended nor been declared dead. */
export interface RunningDispatcher {
  readonly id: DispatcherId
  /** When it registered; undefined: before stores kept that. */
  readonly since: Instant | undefined
  /** Of its program; undefined: it did not tell. */
  readonly version: string | undefined
  /** Undefined: it did not tell. */
  readonly place: ProcessPlace | undefined
  readonly leaseUntil: Instant
  /** Whether the lease is over, by the store's clock: the next recovery declares it dead. */
  readonly overdue: boolean
  /** By carrier, those with messages only. */
  readonly loads: readonly CarrierLoad[]
}

export interface CarrierLoad {
  readonly carrier: CarrierId
  /** Claimed slices that still hold messages. */
  readonly batches: number
  /** Claimed, and nothing is stored of their outcome. */
  readonly messages: number
  /** Of these so many may have left: what an end at this moment would leave unknown (P-6). */
  readonly inDoubt: number
}

/** What waits of an account in one lane, claimed by nobody. */
export interface WaitingWork {
  readonly account: AccountId
  readonly lane: Lane
  /** Messages that are due. */
  readonly due: number
  /** When the oldest of them first was due; undefined: none is. */
  readonly oldestDue: Instant | undefined
  /** Messages that wait for their time. */
  readonly scheduled: number
  /** Messages that a carrier refused for now, and that wait for another try. */
  readonly postponed: number
}

/** What is due in the queues of a route. */
export interface WaitingRoute {
  /** Undefined: messages without a route. */
  readonly route: string | undefined
  readonly due: number
  /** Of these so many are in the single lane; the others are in the bulk lane. */
  readonly single: number
  readonly oldestDue: Instant
}

/** Who runs and what waits, for the operator. It changes nothing. */
export interface Overview {
  /** By id, all as of one moment. */
  dispatchers(): Promise<readonly RunningDispatcher[]>
  /**
   * By account, the single lane first; lanes where nothing waits are left out. Read in pieces: a hundred thousand
   * accounts do not grow the process. Each account is as of one moment.
   */
  queue(): AsyncIterable<WaitingWork>
  /** Routes in which something is due, by name, all as of one moment. It reads all that waits. */
  routes(): Promise<readonly WaitingRoute[]>
}
