import { sameCarrier, type CarrierSpecification } from '@gateway/carriers'
import type { Carrier, Route } from '@gateway/core'
import type { Log } from '@gateway/server'
import type { ConfiguredCarriers } from './configured-carriers.ts'
import type { Dispatching } from './dispatch.ts'

interface Reloading {
  readonly configured: Pick<ConfiguredCarriers, 'configuration' | 'read'>
  readonly make: (specification: CarrierSpecification) => Carrier
  readonly dispatching: Pick<Dispatching, 'add' | 'remove'>
  /** Makes the routes those of everybody. */
  readonly publish: (routes: readonly Route[]) => Promise<void>
  readonly log: Pick<Log, 'info' | 'error'>
}

export interface Reload {
  /** Reads the configuration again, after what is under way. A wrong one changes nothing. */
  reload(): void
  /** Begins nothing more. */
  stop(): void
}

/** Longer than any carrier may take for an answer (docs/carriers.md, `responseSeconds`), so that a reload leaves none unknown. */
const drainSeconds = 70

/** Carriers whose settings did not change keep their links and their work; changed ones end in order before they begin again. */
export function createReload({ configured, make, dispatching, publish, log }: Reloading): Reload {
  let { configuration } = configured
  let isStopped = false
  let underWay = Promise.resolve()

  async function once(): Promise<void> {
    if (isStopped) return
    const next = await configured.read()
    const { added, changed, removed, kept } = compare(configuration.carriers, next.carriers)
    const made = new Map([...added, ...changed].map((one) => [one.id, make(one)]))
    const begin = (carrier: Carrier | undefined): void => {
      if (carrier !== undefined && !isStopped) dispatching.add(carrier)
    }
    await publish(next.routes)
    configuration = next
    for (const { id } of added) begin(made.get(id))
    const names = (some: readonly CarrierSpecification[]) => some.map(({ id }) => id)
    log.info(
      { added: names(added), changed: names(changed), removed: names(removed), kept: names(kept) },
      'the carriers were read again',
    )
    await Promise.all([
      ...removed.map(({ id }) => dispatching.remove(id, drainSeconds)),
      ...changed.map(async ({ id }) => {
        await dispatching.remove(id, drainSeconds)
        begin(made.get(id))
      }),
    ])
  }

  return {
    reload() {
      underWay = underWay.then(once).catch((problem: unknown) => {
        log.error({ reason: (problem as Error).message }, 'the carriers stay as they were: the new ones cannot be used')
      })
    },
    stop() {
      isStopped = true
    },
  }
}

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
