import type { CarrierId } from '../dispatch/carrier-id.ts'
import type { CarrierMode } from '../dispatch/carrier.ts'
import type { PrefixCounts, PrefixFigures } from './carrier-figures.ts'
import type { PausedCarrier } from './carrier-modes.ts'
import type { CarrierReport, ReportedCarrier } from './carrier-reports.ts'
import type { CarrierUser } from './carrier-versions.ts'
import type { CarrierWatch, WatchedTraffic } from './carrier-watches.ts'

/** Outcomes that a process counted for one carrier since its previous heartbeat. */
export interface CarrierCounts {
  readonly carrier: CarrierId
  readonly counts: readonly PrefixCounts[]
}

/** Report of a dispatching process, made at regular intervals. */
export interface Heartbeat {
  /** The process and the version of the carriers that it uses. */
  readonly user: CarrierUser
  /** Seconds for which the process counts as running without another heartbeat. 0 if it ends now. */
  readonly seconds: number
  /** Reports that replace the earlier ones of the process. Undefined if the earlier ones are still valid. */
  readonly reports: readonly CarrierReport[] | undefined
  /** Counts to add to those of all processes. */
  readonly counts: readonly CarrierCounts[]
}

/** Facts about the carriers that every process needs, as of one moment. */
export interface FleetState {
  /** Number of the last version of the carriers; 0 if none was ever stored. */
  readonly version: number
  /** Paused and drained carriers by name. */
  readonly paused: readonly PausedCarrier[]
  /** Watches of operators that have not ended, by id. */
  readonly watches: readonly CarrierWatch[]
}

/**
 * Exchange between the processes that dispatch over the same carriers, and between them and operators. Modes stay until
 * somebody changes them. Reports, counts and watched traffic are for information only: no decision depends on them.
 */
export interface Fleet {
  /** Stores what a process reports, and returns the state at that moment. */
  beat(heartbeat: Heartbeat): Promise<FleetState>
  state(): Promise<FleetState>
  /**
   * Calls `changed` soon after a version was stored, a mode was set, or a watch was started, extended or ended, and
   * possibly without a change. Calls may be missed, so poll as well.
   */
  onChange(changed: () => void): void
  /** Sets the mode of a carrier in all processes. Returns false if the carrier had this mode already. */
  setMode(carrier: CarrierId, mode: CarrierMode, by: string): Promise<boolean>
  /** Lists the running processes by host and process id. */
  users(): Promise<readonly CarrierUser[]>
  /** Lists reports by carrier, host and process. Reports not repeated for a day are deleted. */
  reports(staleSeconds: number): Promise<readonly ReportedCarrier[]>
  /** Returns the outcomes of the last hour and the last day, by prefix, in steps of five minutes. */
  figures(carrier: CarrierId): Promise<readonly PrefixFigures[]>
  /**
   * Starts a watch, or extends it by `seconds`, and notifies every process. Also removes ended watches and their unread
   * traffic.
   */
  renewWatch(watch: CarrierWatch, seconds: number): Promise<void>
  endWatch(id: string): Promise<void>
  /**
   * Stores traffic for the watches to which it belongs, in this order. Traffic of watches that have ended is dropped.
   */
  reportTraffic(traffic: readonly WatchedTraffic[]): Promise<void>
  /** Removes and returns at most `countMax` requests and responses of a watch, each once. */
  takeTraffic(id: string, countMax: number): Promise<readonly WatchedTraffic[]>
}
