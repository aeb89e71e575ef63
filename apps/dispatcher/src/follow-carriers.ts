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
import { repeat, type Log } from '@gateway/server'
import type { ConfiguredCarriers } from './configured-carriers.ts'
import type { Dispatching } from './dispatch.ts'
import type { UseTold } from './tell-carriers.ts'

interface Following {
  readonly ports: CarrierPorts
  /** What it works with at first. */
  readonly configuration: CarrierConfiguration
  readonly use: Pick<UseTold, 'user' | 'change'>
  readonly configured: Pick<ConfiguredCarriers, 'given' | 'readAgain'>
  readonly make: (specification: CarrierSpecification) => Carrier
  readonly dispatching: Pick<Dispatching, 'add' | 'remove'>
  readonly log: Log
}

type Carriers = Pick<CarrierConfiguration, 'carriers' | 'routes'>

export interface Followed {
  /**
   * Reads the file of carriers again, after what is under way: a changed one is stored for every process. A wrong one
   * changes nothing.
   */
  reload(): void
  /** The version that this process works with; 0: none is stored. */
  version(): number
  /** Whether it can read the version that is stored. */
  isUsable(): boolean
  /** The certificates of the carriers that it works with. */
  readonly certificates: () => ReturnType<typeof certificatesOf>
  /** Begins nothing more. */
  stop(): Promise<void>
}

/**
 * Longer than any carrier may take for an answer (docs/carriers.md, `responseSeconds`), so that a change leaves none
 * unknown.
 */
const drainSeconds = 70
/** A version that nobody told us of is followed after so long. */
const lookMilliseconds = 5000
/** What is told tells of other changes, too: it is looked at most so often. */
const toldMilliseconds = 250

const none: Carriers = { carriers: [], routes: [] }

/**
 * Works with the stored carriers as they are changed. Carriers whose settings did not change keep their links and their
 * work; changed ones end in order before they begin again. A process that cannot read what is stored sends nothing: it
 * would disagree with the others.
 */
export function followCarriers({ ports, use, configured, make, dispatching, log, ...first }: Following): Followed {
  const { carrierVersions } = ports
  let current: Carriers = first.configuration
  let lastRead = configured.given
  /** The number of a stored version that cannot be read here. */
  let unusable: number | undefined
  let isStopped = false
  let underWay = Promise.resolve()
  /** What is being asked of the store. */
  let asked: Promise<unknown> = Promise.resolve()
  const asking = <Result>(work: () => Promise<Result>): Promise<Result> => {
    const answer = isStopped ? Promise.reject<Result>(new Error('the process stops')) : work()
    asked = Promise.allSettled([asked, answer])
    return answer
  }
  const known = (): number => unusable ?? use.user().version

  /** Makes what is new: throws, with nothing changed, if that fails. */
  function prepare(next: Carriers) {
    const compared = compare(current.carriers, next.carriers)
    return { next, ...compared, made: [...compared.added, ...compared.changed].map(make) }
  }

  async function enact({ next, added, changed, removed, kept, made }: ReturnType<typeof prepare>, version: number) {
    const begin = ({ id }: CarrierSpecification): void => {
      const carrier = made.find((one) => one.id === id)
      if (carrier !== undefined && !isStopped) dispatching.add(carrier)
    }
    current = next
    use.change(version)
    added.forEach(begin)
    const names = (some: readonly CarrierSpecification[]) => some.map(({ id }) => id)
    log.info(
      { version, added: names(added), changed: names(changed), removed: names(removed), kept: names(kept) },
      'the carriers were read again',
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
    if (prepared === undefined) await enact(prepare(none), use.user().version)
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
        'sends nothing: the stored carriers cannot be used here',
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
        'the file of carriers is as it was and not what is stored: the stored carriers stay',
      )
      return
    }
    if (differences.length > 0 && !(await store(next, version))) return
    lastRead = next
    if (differences.length === 0) await enact(prepare(next), version)
  }

  /** Whether it was stored, and is what this process works with. */
  async function store(next: CarrierConfiguration, after: number): Promise<boolean> {
    const prepared = prepare(next)
    const storedBy = `${nameOf(use.user().process)} on SIGHUP`
    const stored = await asking(() => storeCarriers(ports, next, { after, storedBy, onPurpose: true }))
    if (typeof stored === 'number') {
      unusable = undefined
      await enact(prepared, stored)
      return true
    }
    await follow()
    if (differencesIn(current, next).length === 0) return true
    throw new Error('other carriers were stored at the same time; SIGHUP again replaces them')
  }

  const inTurn = (work: () => Promise<void>, failed: (problem: unknown) => void): Promise<void> =>
    (underWay = underWay.then(work).catch((problem: unknown) => {
      if (!isStopped) failed(problem)
    }))

  const looking = repeat({
    what: 'look for stored carriers',
    pauseMilliseconds: lookMilliseconds,
    log,
    work: async () => {
      const latest = await carrierVersions.latestNumber()
      if (latest === known()) return 'all'
      // Not waited for: what a carrier still has to answer may take longer than another version.
      void inTurn(follow, (err) => log.error({ err }, 'the stored carriers could not be followed'))
      return 'all'
    },
  })
  let told: NodeJS.Timeout | undefined
  carrierVersions.onChange(() => {
    told ??= setTimeout(() => {
      told = undefined
      if (!isStopped) looking.wake()
    }, toldMilliseconds).unref()
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
            'the carriers stay as they were: the new ones cannot be used',
          ),
      )
    },
    version: () => use.user().version,
    isUsable: () => unusable === undefined,
    certificates: () => certificatesOf(current.carriers),
    async stop() {
      isStopped = true
      clearTimeout(told)
      await looking.stop()
      await asked
    },
  }
}

const differencesIn = (before: Carriers, after: Carriers): readonly string[] =>
  differencesOf(meaningOf(before), meaningOf(after)).map(differenceText)

function compare(before: readonly CarrierSpecification[], after: readonly CarrierSpecification[]) {
  const was = (one: CarrierSpecification): CarrierSpecification | undefined => before.find(({ id }) => id === one.id)
  const isKept = (one: CarrierSpecification): boolean => before.some((other) => sameCarrier(one, other))
  return {
    added: after.filter((one) => was(one) === undefined),
    changed: after.filter((one) => was(one) !== undefined && !isKept(one)),
    removed: before.filter(({ id }) => after.every((other) => other.id !== id)),
    kept: after.filter(isKept),
  }
}
