import type { Instant } from '../time/instant.ts'
import type { SealedSecret } from '../webhooks/secret-box.ts'
import type { CarrierId } from '../dispatch/carrier-id.ts'
import type { ReportingProcess } from './carrier-statuses.ts'
import type { Route } from '../routes/routes.ts'

/** The carriers and routes of the deployment as they are to be stored. */
export interface NewCarrierVersion {
  /** The whole document with all secrets, encrypted. */
  readonly sealed: SealedSecret
  /** Of what it says, secrets left out. */
  readonly digest: string
  /** The names of its carriers. */
  readonly carriers: readonly CarrierId[]
  readonly routes: readonly Route[]
  /** For the operator: what stored it, where. */
  readonly storedBy: string
}

/**
 * A version of the carriers and routes of the deployment. Versions count from 1; the last one is what every process
 * works with.
 */
export interface CarrierVersion extends Omit<NewCarrierVersion, 'routes'> {
  readonly version: number
  readonly storedAt: Instant
}

/** A process that dispatches, and what it works with. */
export interface CarrierUser {
  readonly process: ReportingProcess
  /** 0: nothing is stored, and it works with simulated carriers only. */
  readonly version: number
  /** Those simulated carriers, in a form that is equal if and only if they are; undefined: it works with a version. */
  readonly simulated: string | undefined
}

/** What keeps a process from working beside others: those work with something else, of which nothing is stored. */
export interface CarrierConflict {
  readonly user: CarrierUser
}

/**
 * The carriers and routes that all processes of a deployment work with, in versions, and the processes that do. A
 * version is stored or joined in one step: of several that are stored after the same one, one is.
 */
export interface CarrierVersions {
  /** The last one; undefined: nothing was ever stored. */
  latest(): Promise<CarrierVersion | undefined>
  /** The number of the last one; 0: nothing was ever stored. */
  latestNumber(): Promise<number>
  find(version: number): Promise<CarrierVersion | undefined>
  /** The last ones first. */
  list(countMax: number): Promise<readonly CarrierVersion[]>
  /**
   * Stores it behind the version `after` (0: nothing), and publishes its routes in the same step. `outdated`: another
   * one is the last. Unless `onPurpose`, a conflict with a running process that works without a version refuses it.
   */
  store(
    next: NewCarrierVersion,
    after: number,
    { onPurpose }: { readonly onPurpose: boolean },
  ): Promise<number | 'outdated' | CarrierConflict>
  /**
   * From now on this process works with its version, for so long, until it renews that. `outdated`: another version is
   * the last. A conflict: both work without a version, and with other carriers.
   */
  join(user: CarrierUser, seconds: number): Promise<'joined' | 'outdated' | CarrierConflict>
  /** It still works, with what it says. */
  renew(user: CarrierUser, seconds: number): Promise<void>
  /** It has ended. */
  leave(process: ReportingProcess['id']): Promise<void>
  /** Those that work, by host and process id. */
  users(): Promise<readonly CarrierUser[]>
  /**
   * Calls `changed` soon after another version is stored, and perhaps for nothing. Some may be missed: ask now and
   * then.
   */
  onChange(changed: () => void): void
  /**
   * Puts what `sealAgain` returns in the place of what is sealed; undefined leaves it. Returns how many it has changed.
   */
  reseal(sealAgain: (version: CarrierVersion) => SealedSecret | undefined): Promise<number>
}
