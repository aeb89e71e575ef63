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

interface Reporting {
  readonly carrierStatuses: CarrierStatuses
  readonly process: ReportingProcess
  readonly reports: () => readonly CarrierReport[]
  readonly log: Log
  /** Milliseconds between two checks for changes. */
  readonly pauseMilliseconds?: number
}

export interface CarrierReporter {
  /** Reports at once, because a change that operators wait for has happened. */
  wake(): void
  /** Removes the reports of this process, in bounded time. */
  stop(): Promise<void>
}

/** Milliseconds after which an unchanged report is stored again, so that it is known to be current. */
const renewMilliseconds = (carrierStaleSeconds * 1000) / 3

/** Stores the reports of this process about its carriers for operators: after a change, at most every few seconds. */
export function reportCarriers({
  carrierStatuses,
  process,
  reports,
  log,
  pauseMilliseconds = 3000,
}: Reporting): CarrierReporter {
  let reported: readonly CarrierReport[] = []
  let reportedAt = -Infinity
  const loop = repeat({
    what: 'report carriers',
    pauseMilliseconds,
    log,
    work: async () => {
      const [now, next] = [performance.now(), reports()]
      if (now - reportedAt < renewMilliseconds && isDeepStrictEqual(next, reported)) return 'all'
      await carrierStatuses.tell(process, next)
      reported = next
      reportedAt = now
      return 'all'
    },
  })
  return {
    wake: () => loop.wake(),
    stop: async () => {
      await loop.stop()
      if (reportedAt !== -Infinity) await carrierStatuses.tell(process, [])
    },
  }
}

export interface CarrierUse {
  /** Returns the carriers and version in use. */
  user(): CarrierUser
  /** Switches to this version. */
  change(version: number): void
  /** Ends the use. */
  stop(): Promise<void>
}

/** Registers the carriers that this process uses with the other processes, for as long as it uses them. */
export function registerUse(
  carrierVersions: Pick<CarrierVersions, 'renew' | 'leave'>,
  joined: CarrierUser,
  { leaseSeconds, log }: { readonly leaseSeconds: number; readonly log: Log },
): CarrierUse {
  const { process } = joined
  let user = joined
  const loop = repeat({
    what: 'renew the use of carriers',
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
      loop.wake()
    },
    async stop() {
      await loop.stop()
      await carrierVersions.leave(process.id)
    },
  }
}
