import type { CarrierId } from '@gateway/core/dispatch'
import type { Fleet, FleetState, ObservedTraffic, TrafficObserver, WatchedTraffic } from '@gateway/core/fleet'
import type { Clock } from '@gateway/core/time'
import type { Log } from '@gateway/server'
import type { Dispatching } from './dispatch.ts'
import type { Heartbeat } from './heartbeat.ts'

interface Following {
  readonly heartbeat: Pick<Heartbeat, 'state' | 'onState'>
  readonly fleet: Pick<Fleet, 'reportTraffic'>
  readonly clock: Clock
  readonly process: { readonly host: string; readonly pid: number }
  readonly dispatching: Pick<Dispatching, 'observe'>
  readonly log: Log
}

/** Milliseconds between two reports of PDUs of one watch. */
const reportMilliseconds = 250
const countMax = 50

interface Watching {
  readonly carrier: CarrierId
  readonly observer: TrafficObserver
  pdus: WatchedTraffic[]
  leftOut: number
}

/** Reports the PDUs of carriers to operators who watch them. */
export function followWatches({ heartbeat, fleet, clock, process, dispatching, log }: Following) {
  let watching = new Map<string, Watching>()
  let telling: NodeJS.Timeout | undefined
  let working = Promise.resolve()

  function saw(id: string, pdu: ObservedTraffic): void {
    const one = watching.get(id)
    if (one === undefined) return
    if (one.pdus.length >= countMax) one.leftOut++
    else {
      one.pdus.push({
        ...pdu,
        ...{ watch: id, host: process.host, pid: process.pid, at: clock.now() },
        leftOut: one.leftOut,
      })
      one.leftOut = 0
    }
    telling ??= setTimeout(() => {
      telling = undefined
      working = fleet.reportTraffic(take()).catch(failed)
    }, reportMilliseconds).unref()
  }

  function take(): readonly WatchedTraffic[] {
    return [...watching.values()].flatMap((one) => {
      const { pdus } = one
      one.pdus = []
      return pdus
    })
  }

  const failed = (problem: unknown): void =>
    log.warn({ err: problem }, 'reporting the traffic of a watched carrier failed')

  function follow({ watches }: FleetState): void {
    if (watches.length + watching.size === 0) return
    watching = new Map(
      watches.map(({ id, carrier, number, hasText }) => {
        const observer = { number, hasText, saw: (pdu: ObservedTraffic) => saw(id, pdu) }
        return [id, watching.get(id) ?? { carrier, observer, pdus: [], leftOut: 0 }]
      }),
    )
    const observers = new Map<CarrierId, readonly TrafficObserver[]>()
    for (const { carrier, observer } of watching.values())
      observers.set(carrier, [...(observers.get(carrier) ?? []), observer])
    dispatching.observe(observers)
  }

  follow(heartbeat.state)
  const ignore = heartbeat.onState(follow)
  return {
    async stop(): Promise<void> {
      ignore()
      clearTimeout(telling)
      await working
      dispatching.observe(new Map())
    },
  }
}
