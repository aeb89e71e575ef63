import type { CarrierId, CarrierMode } from '@gateway/core/dispatch'
import type { CarrierModes, HeldCarrier } from '@gateway/core/fleet'
import { repeat, type Log } from '@gateway/server'
import type { Dispatching } from './dispatch.ts'

interface Following {
  readonly carrierModes: CarrierModes
  /** As they were read before dispatching began. */
  readonly held: readonly HeldCarrier[]
  readonly dispatching: Pick<Dispatching, 'setModes'>
  /** Called once others are paused than before. */
  readonly changed: () => void
  readonly log: Log
}

export interface FollowedModes {
  /** For readiness: which carriers are held, since when, and by whom. */
  notes(): readonly string[]
  stop(): Promise<void>
}

/** A change that nobody told us of is followed after so long. */
const lookMilliseconds = 5000
/** What is told tells of other changes, too: it is looked at most so often. */
const toldMilliseconds = 250

export const modesOf = (held: readonly HeldCarrier[]): ReadonlyMap<CarrierId, CarrierMode> =>
  new Map(held.map(({ carrier, mode }) => [carrier, mode]))

/** Holds the carriers that operators have paused or drained, and lets them go on. */
export function followModes({ carrierModes, held: first, dispatching, changed, log }: Following): FollowedModes {
  let held = first
  const looking = repeat({
    what: 'look for paused carriers',
    pauseMilliseconds: lookMilliseconds,
    log,
    work: async () => {
      const next = await carrierModes.list()
      const differences = differing(held, next)
      held = next
      if (differences.length === 0) return 'all'
      for (const one of differences) log.warn(one, 'an operator has changed what a carrier is to do')
      dispatching.setModes(modesOf(next))
      changed()
      return 'all'
    },
  })
  let told: NodeJS.Timeout | undefined
  carrierModes.onChange(() => {
    told ??= setTimeout(() => {
      told = undefined
      looking.wake()
    }, toldMilliseconds).unref()
  })
  return {
    notes: () =>
      held.map(
        ({ carrier, mode, since, by }) =>
          `carrier ${carrier} is ${mode} since ${new Date(since).toISOString()} by ${by}`,
      ),
    async stop() {
      clearTimeout(told)
      await looking.stop()
    },
  }
}

function differing(before: readonly HeldCarrier[], after: readonly HeldCarrier[]) {
  const [was, is] = [modesOf(before), modesOf(after)]
  const names = new Set([...was.keys(), ...is.keys()])
  return [...names].flatMap((carrier) => {
    const mode = is.get(carrier) ?? 'running'
    return mode === (was.get(carrier) ?? 'running') ? [] : [{ carrier, mode }]
  })
}
