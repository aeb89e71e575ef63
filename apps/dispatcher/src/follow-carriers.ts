import {
  certificatesOf,
  differencesOf,
  differenceText,
  meaningOf,
  nameOf,
  openCarriers,
  sameCarrier,
  storeCarriers,
  withStoredSecrets,
  type CarrierConfiguration,
  type CarrierPorts,
  type CarrierSpecification,
} from '@gateway/carriers'
import type { Carrier } from '@gateway/core/dispatch'
import type { CarrierVersion } from '@gateway/core/fleet'
import type { Log } from '@gateway/server'
import type { ConfiguredCarriers } from './configured-carriers.ts'
import type { Dispatching } from './dispatch.ts'
import type { Heartbeat } from './heartbeat.ts'

interface Following {
  readonly ports: CarrierPorts
  /** Configuration in use at the start. */
  readonly configuration: CarrierConfiguration
  readonly heartbeat: Pick<Heartbeat, 'user' | 'changeVersion' | 'onState'>
  readonly configured: Pick<ConfiguredCarriers, 'configuration' | 'readAgain'>
  readonly make: (specification: CarrierSpecification) => Carrier
  readonly dispatching: Pick<Dispatching, 'add' | 'remove'>
  readonly log: Log
}

type Carriers = Pick<CarrierConfiguration, 'carriers' | 'routes'>

export interface Followed {
  /**
   * Reads the carrier file again once changes in progress have ended. Stores a changed file for all processes. An
   * invalid file changes nothing.
   */
  reload(): void
  /** Version in use by this process; 0 if none is stored. */
  version(): number
  /** False while this process cannot read the stored version. */
  isUsable(): boolean
  /** Returns the certificates of the carriers in use. */
  readonly certificates: () => ReturnType<typeof certificatesOf>
  /** Stops following. No further change is started. */
  stop(): Promise<void>
}

/**
 * Seconds that a change of carriers waits for outstanding answers. No carrier may take that long (docs/carriers.md,
 * `responseSeconds`), so a change leaves no message with an unknown outcome.
 */
const drainSeconds = 70

const none: Carriers = { carriers: [], routes: [] }

/**
 * Follows changes of the stored carriers. Carriers with unchanged settings keep their connections and their work.
 * Changed carriers finish their work before they start again. A process that cannot read the stored version sends
 * nothing, because the other processes would use different carriers.
 */
export const followCarriers = (following: Following): Followed => new FollowedCarriers(following)

/** Next carriers, their differences from the present carriers, and the carriers that have to be created. */
interface Prepared extends ReturnType<typeof compare> {
  readonly next: Carriers
  readonly made: readonly Carrier[]
}

/**
 * Carriers of a process. Changes are made one after the other.
 *
 *   usable --a stored version cannot be read--> unusable: no carriers --a version can be read--> usable
 */
class FollowedCarriers implements Followed {
  readonly #ports: CarrierPorts
  readonly #heartbeat: Following['heartbeat']
  readonly #readFile: Following['configured']['readAgain']
  readonly #make: Following['make']
  readonly #dispatching: Following['dispatching']
  readonly #log: Log
  readonly #ignoreHeartbeat: () => void
  #current: Carriers
  /** Configuration that was last read from the carrier file. */
  #lastRead: CarrierConfiguration | undefined
  /** Number of a stored version that this process cannot read. */
  #unusable: number | undefined
  #isStopped = false
  #lastChange = Promise.resolve()
  /** Calls of the store that have not ended yet. */
  #pendingCalls: Promise<unknown> = Promise.resolve()

  constructor({ ports, configuration, heartbeat, configured, make, dispatching, log }: Following) {
    this.#ports = ports
    this.#heartbeat = heartbeat
    this.#readFile = configured.readAgain
    this.#make = make
    this.#dispatching = dispatching
    this.#log = log
    this.#current = configuration
    this.#lastRead = configured.configuration
    this.#ignoreHeartbeat = heartbeat.onState(({ version }) => {
      if (version === this.#known()) return
      // The change is not awaited, because a newer version may arrive while a carrier still has outstanding answers.
      this.#change(
        () => this.#follow(),
        (err) => log.error({ err }, 'the change to the stored carriers failed'),
      )
    })
  }

  readonly certificates = (): ReturnType<typeof certificatesOf> => certificatesOf(this.#current.carriers)

  reload(): void {
    const read = this.#readFile
    if (read === undefined) return
    this.#change(
      () => this.#readAgain(read),
      (problem) =>
        this.#log.error(
          { reason: (problem as Error).message },
          'the new carriers cannot be used; the previous ones stay in use',
        ),
    )
  }

  version(): number {
    return this.#heartbeat.user.version
  }

  isUsable(): boolean {
    return this.#unusable === undefined
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    this.#ignoreHeartbeat()
    await this.#pendingCalls
  }

  /** Starts a change after the previous one has ended. */
  #change(work: () => Promise<void>, failed: (problem: unknown) => void): void {
    this.#lastChange = this.#lastChange.then(work).catch((problem: unknown) => {
      if (!this.#isStopped) failed(problem)
    })
  }

  async #follow(): Promise<void> {
    const stored = this.#isStopped ? undefined : await this.#call(() => this.#ports.carrierVersions.latest())
    if (stored === undefined || stored.version === this.#known()) return
    const prepared = await this.#prepareStored(stored)
    if (prepared === undefined) await this.#enact(this.#prepare(none), this.#heartbeat.user.version)
    else await this.#enact(prepared, stored.version)
  }

  async #readAgain(read: () => Promise<CarrierConfiguration>): Promise<void> {
    if (this.#isStopped) return
    const file = await read()
    const next = await this.#call(() => withStoredSecrets(file, this.#ports))
    await this.#follow()
    const version = this.#known()
    const isChanged = this.#lastRead === undefined || differencesIn(this.#lastRead, file).length > 0
    const differences = differencesIn(this.#current, next)
    if (differences.length > 0 && !isChanged) {
      this.#log.warn(
        { version, differences },
        'the carrier file is unchanged but differs from the stored carriers, which stay in use',
      )
      return
    }
    if (differences.length > 0 && !(await this.#store(next, version))) return
    this.#lastRead = file
    if (differences.length === 0) await this.#enact(this.#prepare(next), version)
  }

  /** Returns true if the file was stored and is in use by this process. */
  async #store(next: CarrierConfiguration, after: number): Promise<boolean> {
    const prepared = this.#prepare(next)
    const storedBy = `${nameOf(this.#heartbeat.user.process)} on SIGHUP`
    const stored = await this.#call(() => storeCarriers(this.#ports, next, { after, storedBy, onPurpose: true }))
    if (typeof stored === 'number') {
      this.#unusable = undefined
      await this.#enact(prepared, stored)
      return true
    }
    await this.#follow()
    if (differencesIn(this.#current, next).length === 0) return true
    throw new Error('another process stored carriers at the same time; send SIGHUP again to replace them')
  }

  async #prepareStored(stored: CarrierVersion): Promise<Prepared | undefined> {
    const { version } = stored
    try {
      const prepared = this.#prepare(await openCarriers(stored, this.#ports))
      this.#unusable = undefined
      return prepared
    } catch (problem) {
      this.#unusable = version
      this.#log.error(
        { version, reason: (problem as Error).message },
        'sending stopped: this process cannot use the stored carriers',
      )
      return undefined
    }
  }

  /** Creates the new carriers; throws without any change if that fails. */
  #prepare(next: Carriers): Prepared {
    const compared = compare(this.#current.carriers, next.carriers)
    return { next, ...compared, made: [...compared.added, ...compared.changed].map(this.#make) }
  }

  async #enact({ next, added, changed, removed, unchanged, made }: Prepared, version: number): Promise<void> {
    const begin = ({ id }: CarrierSpecification): void => {
      const carrier = made.find((one) => one.id === id)
      if (carrier !== undefined && !this.#isStopped) this.#dispatching.add(carrier)
    }
    this.#current = next
    this.#heartbeat.changeVersion(version)
    added.forEach(begin)
    const names = (some: readonly CarrierSpecification[]) => some.map(({ id }) => id)
    this.#log.info(
      { version, added: names(added), changed: names(changed), removed: names(removed), kept: names(unchanged) },
      'the carriers were loaded again',
    )
    await Promise.all([
      ...removed.map(({ id }) => this.#dispatching.remove(id, drainSeconds)),
      ...changed.map(async (one) => {
        await this.#dispatching.remove(one.id, drainSeconds)
        begin(one)
      }),
    ])
  }

  /** Calls the store, unless the process is stopping. */
  #call<Result>(work: () => Promise<Result>): Promise<Result> {
    const answer = this.#isStopped ? Promise.reject<Result>(new Error('the process is stopping')) : work()
    this.#pendingCalls = Promise.allSettled([this.#pendingCalls, answer])
    return answer
  }

  /** Returns the number of the last version that this process has seen. */
  #known(): number {
    return this.#unusable ?? this.#heartbeat.user.version
  }
}

const differencesIn = (before: Carriers, after: Carriers): readonly string[] =>
  differencesOf(meaningOf(before), meaningOf(after)).map(differenceText)

function compare(before: readonly CarrierSpecification[], after: readonly CarrierSpecification[]) {
  const was = (one: CarrierSpecification): CarrierSpecification | undefined => before.find(({ id }) => id === one.id)
  const isUnchanged = (one: CarrierSpecification): boolean => before.some((other) => sameCarrier(one, other))
  return {
    added: after.filter((one) => was(one) === undefined),
    changed: after.filter((one) => was(one) !== undefined && !isUnchanged(one)),
    removed: before.filter(({ id }) => after.every((other) => other.id !== id)),
    unchanged: after.filter(isUnchanged),
  }
}
