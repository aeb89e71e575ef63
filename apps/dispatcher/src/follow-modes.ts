import type { CarrierId, CarrierMode } from '@gateway/core/dispatch'
import type { CarrierModes, PausedCarrier } from '@gateway/core/fleet'
import { repeat, type Log } from '@gateway/server'
import type { Dispatching } from './dispatch.ts'

interface Following {
  readonly carrierModes: CarrierModes
  /** Carriers that were paused or drained before dispatching started. */
  readonly paused: readonly PausedCarrier[]
  readonly dispatching: Pick<Dispatching, 'setModes'>
  /** Called when the set of paused carriers has changed. */
  readonly changed: () => void
  readonly log: Log
}

export interface FollowedModes {
  /** Returns lines for the readiness report: which carriers are paused or drained, since when, and by whom. */
  notes(): readonly string[]
  stop(): Promise<void>
}

/** Milliseconds after which a change is noticed even without a notification. */
const pollMilliseconds = 5000
/** Milliseconds for which notifications are collected before the next poll. They may also report unrelated changes. */
const gatherMilliseconds = 250

export const modesOf = (paused: readonly PausedCarrier[]): ReadonlyMap<CarrierId, CarrierMode> =>
  new Map(paused.map(({ carrier, mode }) => [carrier, mode]))

/** Pauses, drains and resumes carriers as operators have set them. */
export function followModes({ carrierModes, paused: first, dispatching, changed, log }: Following): FollowedModes {
  let paused = first
  const looking = repeat({
    what: 'look for paused carriers',
    pauseMilliseconds: pollMilliseconds,
    log,
    work: async () => {
      const next = await carrierModes.list()
      const differences = differing(paused, next)
      paused = next
      if (differences.length === 0) return 'all'
      for (const one of differences) log.warn(one, 'an operator has changed the mode of a carrier')
      dispatching.setModes(modesOf(next))
      changed()
      return 'all'
    },
  })
  let gathering: NodeJS.Timeout | undefined
  carrierModes.onChange(() => {
    gathering ??= setTimeout(() => {
      gathering = undefined
      looking.wake()
    }, gatherMilliseconds).unref()
  })
  return {
    notes: () =>
      paused.map(
        ({ carrier, mode, since, by }) =>
          `carrier ${carrier} is ${mode} since ${new Date(since).toISOString()} by ${by}`,
      ),
    async stop() {
      clearTimeout(gathering)
      await looking.stop()
    },
  }
}

function differing(before: readonly PausedCarrier[], after: readonly PausedCarrier[]) {
  const [was, is] = [modesOf(before), modesOf(after)]
  const names = new Set([...was.keys(), ...is.keys()])
  return [...names].flatMap((carrier) => {
    const mode = is.get(carrier) ?? 'running'
    return mode === (was.get(carrier) ?? 'running') ? [] : [{ carrier, mode }]
  })
}
