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
  /** Between two looks whether something has changed. */
  readonly pauseMilliseconds?: number
}

export interface Told {
  /** Something has changed that operators wait for. */
  wake(): void
  /** Tells that this process has no carriers any more. Bounded. */
  stop(): Promise<void>
}

/** What has not changed is told again so that it is known to be true. */
const renewMilliseconds = (carrierStaleSeconds * 1000) / 3

/**
 * Stores how the carriers of this process are, for operators: when something has changed, at most every few seconds.
 */
export function tellCarriers({ carrierStatuses, process, reports, log, pauseMilliseconds = 3000 }: Telling): Told {
  let told: readonly CarrierReport[] = []
  let toldAt = -Infinity
  const telling = repeat({
    what: 'tell of carriers',
    pauseMilliseconds,
    log,
    work: async () => {
      const [now, next] = [performance.now(), reports()]
      if (now - toldAt < renewMilliseconds && isDeepStrictEqual(next, told)) return 'all'
      await carrierStatuses.tell(process, next)
      told = next
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
  /** What this process works with. */
  user(): CarrierUser
  /** From now on it works with this version. */
  change(version: number): void
  /** It works with nothing any more. */
  stop(): Promise<void>
}

/** Tells the others which carriers this process works with, for as long as it does. */
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
