import type { CarrierId, CarrierMode } from '@gateway/core/dispatch'
import type { PausedCarrier } from '@gateway/core/fleet'
import type { Log } from '@gateway/server'
import type { Dispatching } from './dispatch.ts'
import type { Heartbeat } from './heartbeat.ts'

interface Following {
  readonly heartbeat: Pick<Heartbeat, 'state' | 'onState' | 'wake'>
  readonly dispatching: Pick<Dispatching, 'setModes'>
  readonly log: Log
}

export interface FollowedModes {
  /** Returns lines for the readiness report: which carriers are paused or drained, since when, and by whom. */
  notes(): readonly string[]
}

export const modesOf = (paused: readonly PausedCarrier[]): ReadonlyMap<CarrierId, CarrierMode> =>
  new Map(paused.map(({ carrier, mode }) => [carrier, mode]))

/** Pauses, drains and resumes carriers as operators have set them. */
export function followModes({ heartbeat, dispatching, log }: Following): FollowedModes {
  let { paused } = heartbeat.state
  heartbeat.onState(({ paused: next }) => {
    const differences = differing(paused, next)
    paused = next
    if (differences.length === 0) return
    for (const one of differences) log.warn(one, 'an operator has changed the mode of a carrier')
    dispatching.setModes(modesOf(next))
    heartbeat.wake()
  })
  return {
    notes: () =>
      paused.map(
        ({ carrier, mode, since, by }) =>
          `carrier ${carrier} is ${mode} since ${new Date(since).toISOString()} by ${by}`,
      ),
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
