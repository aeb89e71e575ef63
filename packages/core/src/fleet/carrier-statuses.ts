import type { Instant } from '../time/instant.ts'
import type { CarrierId } from '../dispatch/carrier-id.ts'
import type { CarrierMode, CarrierStatus } from '../dispatch/carrier.ts'

/** What a process tells of one of its carriers. */
export interface CarrierReport {
  readonly carrier: CarrierId
  /** What its operator wants of it, as far as this process has heard. */
  readonly mode: CarrierMode
  /** So many submissions may be unanswered now, over the connections that are bound. */
  readonly window: number
  /** Those that have none: of a carrier with connections, its requests. */
  readonly unanswered: number
  /** Undefined: it has no connections to tell of. */
  readonly status: CarrierStatus | undefined
  /** Messages claimed since the start because carriers of a better priority were full; undefined: none. */
  readonly overflowed?: number
}

/** A process that dispatches, as operators know it. */
export interface ReportingProcess {
  /** Of this run of the process, and of no other. */
  readonly id: string
  readonly host: string
  readonly pid: number
}

export interface ToldCarrier extends CarrierReport {
  readonly process: ReportingProcess
  readonly toldAt: Instant
  /** The process has not been heard of for `staleSeconds`: it has died, or does not reach the store. */
  readonly isStale: boolean
}

/** A process tells at least three times in this time, also if nothing has changed. */
export const carrierStaleSeconds = 60

/** What the processes that dispatch tell of their carriers, for the operator. Nothing is decided by it. */
export interface CarrierStatuses {
  /** Replaces all that this process told before. What nobody has told again for a day is forgotten. */
  tell(process: ReportingProcess, reports: readonly CarrierReport[]): Promise<void>
  /** By carrier, then host and process. */
  list(staleSeconds: number): Promise<readonly ToldCarrier[]>
}
