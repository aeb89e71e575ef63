import type { Instant } from '../time/instant.ts'
import type { CarrierId } from '../dispatch/carrier-id.ts'
import type { CarrierMode } from '../dispatch/carrier.ts'
import type { CarrierStatus } from '../dispatch/carrier-status.ts'

/** Report of a process about one of its carriers. */
export interface CarrierReport {
  readonly carrier: CarrierId
  /** Mode that the operator set, as far as this process knows. */
  readonly mode: CarrierMode
  /** Maximum number of outstanding submissions over the connections that are bound now. */
  readonly window: number
  /** Number of outstanding submissions. For a carrier with connections, the number of outstanding requests. */
  readonly unanswered: number
  /** Undefined if the carrier has no connections. */
  readonly status: CarrierStatus | undefined
  /**
   * Number of messages that this carrier has claimed since the start because carriers of a better priority were full.
   * Undefined if there were none.
   */
  readonly overflowed?: number
}

/** A process with a dispatcher, as shown to operators. */
export interface ReportingProcess {
  /** Id of this run of the process. */
  readonly id: string
  readonly host: string
  readonly pid: number
}

export interface ReportedCarrier extends CarrierReport {
  readonly process: ReportingProcess
  readonly reportedAt: Instant
  /** True if the process has not reported for `staleSeconds`: it has died, or cannot reach the store. */
  readonly isStale: boolean
}

/**
 * Seconds after which a report is stale. A process reports at least three times in this time, even without a change.
 */
export const carrierStaleSeconds = 60
