import type { CarrierId } from '@gateway/core/dispatch'
import type { CarrierWatches, ObservedTraffic, TrafficObserver, WatchedTraffic } from '@gateway/core/fleet'
import type { Clock } from '@gateway/core/time'
import type { Log } from '@gateway/server'
import type { Dispatching } from './dispatch.ts'

interface Following {
  readonly carrierWatches: CarrierWatches
  readonly clock: Clock
  readonly process: { readonly host: string; readonly pid: number }
  readonly dispatching: Pick<Dispatching, 'observe'>
  readonly log: Log
}

/** Milliseconds for which notifications are collected before the next poll. They may also report unrelated changes. */
const gatherMilliseconds = 250
/** Milliseconds between two checks whether a running watch has ended. */
const pollMilliseconds = 5000
/** Milliseconds between two reports of PDUs of one watch. */
const reportMilliseconds = 250
const countMax = 50

interface Watching {
  readonly carrier: CarrierId
  readonly observer: TrafficObserver
  pdus: WatchedTraffic[]
  leftOut: number
}

/**
 * Reports the PDUs of carriers to operators who watch them. Polls for watches after a notification, and while there is
 * a watch.
 */
export function followWatches({ carrierWatches, clock, process, dispatching, log }: Following) {
  let watching = new Map<string, Watching>()
  let isStopped = false
  let looking: NodeJS.Timeout | undefined
  let telling: NodeJS.Timeout | undefined
  let lookAt = Infinity
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
      carrierWatches.tell(take()).catch(failed)
    }, reportMilliseconds).unref()
  }

  function take(): readonly WatchedTraffic[] {
    return [...watching.values()].flatMap((one) => {
      const { pdus } = one
      one.pdus = []
      return pdus
    })
  }

  const failed = (problem: unknown): void => log.warn({ err: problem }, 'reading the watches of carriers failed')

  function lookIn(milliseconds: number): void {
    const at = performance.now() + milliseconds
    if (isStopped || at >= lookAt) return
    clearTimeout(looking)
    lookAt = at
    looking = setTimeout(() => {
      lookAt = Infinity
      const again = () => (watching.size > 0 ? lookIn(pollMilliseconds) : undefined)
      working = working.then(look).catch(failed).then(again)
    }, milliseconds).unref()
  }

  async function look(): Promise<void> {
    const watches = isStopped ? [] : await carrierWatches.list()
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

  carrierWatches.onChange(() => lookIn(gatherMilliseconds))
  return {
    async stop(): Promise<void> {
      isStopped = true
      clearTimeout(looking)
      clearTimeout(telling)
      await working
      dispatching.observe(new Map())
    },
  }
}
