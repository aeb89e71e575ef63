import type { CarrierUser, CarrierVersions } from '@gateway/core'
import type { Log } from '@gateway/server'
import { repeat } from './repeat.ts'

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
