import { dispatcherDefaults, type DispatcherSettings } from '@gateway/core'
import { hostname } from 'node:os'
import { text, version, wholeNumber } from '@gateway/server'

type Numbers = 'IN_DOUBT_MAX' | 'LEASE_SECONDS' | 'VALIDITY_HOURS' | 'RETRY_SECONDS'

type DispatchVariables = Readonly<Record<Numbers, ReturnType<typeof wholeNumber>>> & {
  readonly CARRIERS: ReturnType<typeof text>
}

/** What a process that dispatches reads beside what every process reads. */
export const dispatchVariables: DispatchVariables = {
  /** Empty: the stored carriers or, where none are stored, `simulator:`. */
  CARRIERS: text({ what: 'carriers, separated by commas', byDefault: '' }),
  IN_DOUBT_MAX: wholeNumber('messages that may be with a carrier without a record', {
    min: 1,
    max: 100_000,
    byDefault: dispatcherDefaults.inDoubtMax,
  }),
  LEASE_SECONDS: wholeNumber('seconds of silence after which a dispatcher is dead', {
    min: 2,
    max: 40,
    byDefault: dispatcherDefaults.leaseSeconds,
  }),
  VALIDITY_HOURS: wholeNumber('hours after its due time that a message may wait', {
    min: 1,
    max: 720,
    byDefault: dispatcherDefaults.validitySeconds / 3600,
  }),
  RETRY_SECONDS: wholeNumber('seconds to wait after a first refusal for now', {
    min: 1,
    max: dispatcherDefaults.retrySecondsMax,
    byDefault: dispatcherDefaults.retrySeconds,
  }),
}

export const dispatcherSettings = (environment: Readonly<Record<Numbers, number>>): Partial<DispatcherSettings> => ({
  inDoubtMax: environment.IN_DOUBT_MAX,
  leaseSeconds: environment.LEASE_SECONDS,
  validitySeconds: environment.VALIDITY_HOURS * 3600,
  retrySeconds: environment.RETRY_SECONDS,
  version,
  place: { host: hostname(), pid: process.pid },
})
