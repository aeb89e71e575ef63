import {
  certificatesOf,
  differencesOf,
  differenceText,
  meaningOf,
  nameOf,
  openCarriers,
  sameCarrier,
  storeCarriers,
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
 * Changed carriers end in order before they start again. A process that cannot read the stored version sends nothing,
 * because the other processes would use different carriers.
 */
export function followCarriers({
  ports,
  heartbeat,
  configured,
  make,
  dispatching,
  log,
  ...first
}: Following): Followed {
  const { carrierVersions } = ports
  let current: Carriers = first.configuration
  let lastRead = configured.configuration
  /** Number of a stored version that this process cannot read. */
  let unusable: number | undefined
  let isStopped = false
  let underWay = Promise.resolve()
  /** Calls of the store that have not ended yet. */
  let pendingCalls: Promise<unknown> = Promise.resolve()
  const asking = <Result>(work: () => Promise<Result>): Promise<Result> => {
    const answer = isStopped ? Promise.reject<Result>(new Error('the process is stopping')) : work()
    pendingCalls = Promise.allSettled([pendingCalls, answer])
    return answer
  }
  const known = (): number => unusable ?? heartbeat.user.version

  /** Creates the new carriers; throws without any change if that fails. */
  function prepare(next: Carriers) {
    const compared = compare(current.carriers, next.carriers)
    return { next, ...compared, made: [...compared.added, ...compared.changed].map(make) }
  }

  async function enact(
    { next, added, changed, removed, unchanged, made }: ReturnType<typeof prepare>,
    version: number,
  ) {
    const begin = ({ id }: CarrierSpecification): void => {
      const carrier = made.find((one) => one.id === id)
      if (carrier !== undefined && !isStopped) dispatching.add(carrier)
    }
    current = next
    heartbeat.changeVersion(version)
    added.forEach(begin)
    const names = (some: readonly CarrierSpecification[]) => some.map(({ id }) => id)
    log.info(
      { version, added: names(added), changed: names(changed), removed: names(removed), kept: names(unchanged) },
      'the carriers were loaded again',
    )
    await Promise.all([
      ...removed.map(({ id }) => dispatching.remove(id, drainSeconds)),
      ...changed.map(async (one) => {
        await dispatching.remove(one.id, drainSeconds)
        begin(one)
      }),
    ])
  }

  async function follow(): Promise<void> {
    const stored = isStopped ? undefined : await asking(() => carrierVersions.latest())
    if (stored === undefined || stored.version === known()) return
    const prepared = await usable(stored)
    if (prepared === undefined) await enact(prepare(none), heartbeat.user.version)
    else await enact(prepared, stored.version)
  }

  async function usable(stored: CarrierVersion) {
    const { version } = stored
    try {
      const prepared = prepare(await openCarriers(stored, ports))
      unusable = undefined
      return prepared
    } catch (problem) {
      unusable = version
      log.error(
        { version, reason: (problem as Error).message },
        'sending stopped: this process cannot use the stored carriers',
      )
      return undefined
    }
  }

  async function readAgain(read: () => Promise<CarrierConfiguration>): Promise<void> {
    if (isStopped) return
    const next = await read()
    await follow()
    const version = known()
    const isChanged = lastRead === undefined || differencesIn(lastRead, next).length > 0
    const differences = differencesIn(current, next)
    if (differences.length > 0 && !isChanged) {
      log.warn(
        { version, differences },
        'the carrier file is unchanged but differs from the stored carriers, which stay in use',
      )
      return
    }
    if (differences.length > 0 && !(await store(next, version))) return
    lastRead = next
    if (differences.length === 0) await enact(prepare(next), version)
  }

  /** Returns true if the file was stored and is in use by this process. */
  async function store(next: CarrierConfiguration, after: number): Promise<boolean> {
    const prepared = prepare(next)
    const storedBy = `${nameOf(heartbeat.user.process)} on SIGHUP`
    const stored = await asking(() => storeCarriers(ports, next, { after, storedBy, onPurpose: true }))
    if (typeof stored === 'number') {
      unusable = undefined
      await enact(prepared, stored)
      return true
    }
    await follow()
    if (differencesIn(current, next).length === 0) return true
    throw new Error('another process stored carriers at the same time; send SIGHUP again to replace them')
  }

  const inTurn = (work: () => Promise<void>, failed: (problem: unknown) => void): Promise<void> =>
    (underWay = underWay.then(work).catch((problem: unknown) => {
      if (!isStopped) failed(problem)
    }))

  const ignore = heartbeat.onState(({ version }) => {
    if (version === known()) return
    // The change is not awaited, because a newer version may arrive while a carrier still has outstanding answers.
    void inTurn(follow, (err) => log.error({ err }, 'changing to the stored carriers failed'))
  })

  return {
    reload() {
      const { readAgain: read } = configured
      if (read === undefined) return
      void inTurn(
        () => readAgain(read),
        (problem) =>
          log.error(
            { reason: (problem as Error).message },
            'the new carriers cannot be used; the previous ones stay in use',
          ),
      )
    },
    version: () => heartbeat.user.version,
    isUsable: () => unusable === undefined,
    certificates: () => certificatesOf(current.carriers),
    async stop() {
      isStopped = true
      ignore()
      await pendingCalls
    },
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
