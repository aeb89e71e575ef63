import type { Instant } from '../time/instant.ts'
import type { SealedSecret } from '../webhooks/secret-box.ts'
import type { CarrierId } from '../dispatch/carrier-id.ts'
import type { ReportingProcess } from './carrier-reports.ts'
import type { Route } from '../routes/routes.ts'

/** A new version of the carriers and routes of the deployment, to be stored. */
export interface NewCarrierVersion {
  /** The whole configuration including all secrets, encrypted. */
  readonly sealed: SealedSecret
  /** Digest of the configuration without its secrets. */
  readonly digest: string
  /** Names of the configured carriers. */
  readonly carriers: readonly CarrierId[]
  readonly routes: readonly Route[]
  /** Command and machine that stored the version, for operators. */
  readonly storedBy: string
}

/** A stored version of the carriers and routes. Versions count from 1; every process works with the last one. */
export interface CarrierVersion extends Omit<NewCarrierVersion, 'routes'> {
  readonly version: number
  readonly storedAt: Instant
}

/** A dispatching process and the configuration that it works with. */
export interface CarrierUser {
  readonly process: ReportingProcess
  /** Version in use; 0 if none is stored and the process works with simulated carriers only. */
  readonly version: number
  /**
   * Text that describes the simulated carriers of the process. Two processes have the same simulated carriers exactly
   * if these texts are equal. Undefined if the process works with a stored version.
   */
  readonly simulated: string | undefined
}

/**
 * Reason why a process must not run next to another one: `user` is a process with different carriers that are not
 * stored.
 */
export interface CarrierConflict {
  readonly user: CarrierUser
}

/**
 * Store of the versions of carriers and routes, which processes join before they use them. Storing and joining are
 * atomic: if several versions are stored after the same one, exactly one succeeds.
 */
export interface CarrierVersions {
  /** Returns the last version; undefined if none was ever stored. */
  latest(): Promise<CarrierVersion | undefined>
  find(version: number): Promise<CarrierVersion | undefined>
  /** Lists versions, the last one first. */
  list(countMax: number): Promise<readonly CarrierVersion[]>
  /**
   * Stores a version that follows the version `after` (0 for none), and publishes its routes in the same step. Returns
   * 'outdated' if `after` is not the last version. If a running process works without a version, returns a conflict,
   * unless `onPurpose` is true.
   */
  store(
    next: NewCarrierVersion,
    after: number,
    { onPurpose }: { readonly onPurpose: boolean },
  ): Promise<number | 'outdated' | CarrierConflict>
  /**
   * Registers a process with its version for `seconds`; its heartbeats extend that. Returns 'outdated' if the version
   * of the process is not the last one. Returns a conflict if this process and another one work without a version and
   * with different carriers.
   */
  join(user: CarrierUser, seconds: number): Promise<'joined' | 'outdated' | CarrierConflict>
  /**
   * Encrypts the configurations of the stored versions again. Each is replaced by the result of `sealAgain`; if that is
   * undefined, the configuration does not change. Returns the number of changed versions.
   */
  reseal(sealAgain: (version: CarrierVersion) => SealedSecret | undefined): Promise<number>
}
