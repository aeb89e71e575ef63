import { isDeepStrictEqual } from 'node:util'
import {
  carrierStaleSeconds,
  type CarrierReport,
  type CarrierStatuses,
  type CarrierUser,
  type CarrierVersions,
  type ReportingProcess,
} from '@gateway/core/fleet'
import { repeat, type Log } from '@gateway/server'

interface Telling {
  readonly carrierStatuses: CarrierStatuses
  readonly process: ReportingProcess
  readonly reports: () => readonly CarrierReport[]
  readonly log: Log
  /** Milliseconds between two checks for changes. */
  readonly pauseMilliseconds?: number
}

export interface Told {
  /** Reports at once, because a change that operators wait for has happened. */
  wake(): void
  /** Removes the reports of this process, in bounded time. */
  stop(): Promise<void>
}

/** Milliseconds after which an unchanged report is stored again, so that it is known to be current. */
const renewMilliseconds = (carrierStaleSeconds * 1000) / 3

/** Stores the reports of this process about its carriers for operators: after a change, at most every few seconds. */
export function tellCarriers({ carrierStatuses, process, reports, log, pauseMilliseconds = 3000 }: Telling): Told {
  let reported: readonly CarrierReport[] = []
  let toldAt = -Infinity
  const telling = repeat({
    what: 'tell of carriers',
    pauseMilliseconds,
    log,
    work: async () => {
      const [now, next] = [performance.now(), reports()]
      if (now - toldAt < renewMilliseconds && isDeepStrictEqual(next, reported)) return 'all'
      await carrierStatuses.tell(process, next)
      reported = next
      toldAt = now
      return 'all'
    },
  })
  return {
    wake: () => telling.wake(),
    stop: async () => {
      await telling.stop()
      if (toldAt !== -Infinity) await carrierStatuses.tell(process, [])
    },
  }
}

export interface UseTold {
  /** Returns the carriers and version in use. */
  user(): CarrierUser
  /** Switches to this version. */
  change(version: number): void
  /** Ends the use. */
  stop(): Promise<void>
}

/** Registers the carriers that this process uses with the other processes, for as long as it uses them. */
export function tellUse(
  carrierVersions: Pick<CarrierVersions, 'renew' | 'leave'>,
  joined: CarrierUser,
  { leaseSeconds, log }: { readonly leaseSeconds: number; readonly log: Log },
): UseTold {
  const { process } = joined
  let user = joined
  const telling = repeat({
    what: 'tell which carriers are in use',
    pauseMilliseconds: leaseSeconds * 250,
    log,
    work: async () => {
      await carrierVersions.renew(user, leaseSeconds)
      return 'all'
    },
  })
  return {
    user: () => user,
    change(version) {
      user = { process, version, simulated: undefined }
      telling.wake()
    },
    async stop() {
      await telling.stop()
      await carrierVersions.leave(process.id)
    },
  }
}
