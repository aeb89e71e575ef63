import {
  confirmationOf,
  defaultConfirmation,
  dispatcherDefaults,
  processingDefaults,
  type DispatcherSettings,
  type ProcessingSettings,
} from '@gateway/core'
import { text, version, wholeNumber } from '@gateway/server'

type Numbers = 'IN_DOUBT_MAX' | 'LEASE_SECONDS' | 'VALIDITY_HOURS' | 'RETRY_SECONDS' | 'CONTACT_DAYS'

/** What confirms an opt-out, as text. */
const sendable = (): ReturnType<typeof text> => ({
  ...text({ what: 'a text that can be sent: not blank, and not too long', byDefault: defaultConfirmation }),
  _parse: (input) => confirmationOf(input).text,
})

type DispatchVariables = Readonly<Record<Numbers, ReturnType<typeof wholeNumber>>> & {
  readonly CARRIERS: ReturnType<typeof text>
  readonly OPTOUT_CONFIRMATION: ReturnType<typeof text>
}

/** What a process that dispatches reads beside what every process reads. */
export const dispatchVariables: DispatchVariables = {
  CARRIERS: text({ what: 'carriers, separated by commas', byDefault: 'simulator:' }),
  IN_DOUBT_MAX: wholeNumber({
    what: 'messages that may be with a carrier without a record',
    min: 1,
    max: 100_000,
    byDefault: dispatcherDefaults.inDoubtMax,
  }),
  LEASE_SECONDS: wholeNumber({
    what: 'seconds of silence after which a dispatcher is dead',
    min: 2,
    max: 40,
    byDefault: dispatcherDefaults.leaseSeconds,
  }),
  VALIDITY_HOURS: wholeNumber({
    what: 'hours after its due time that a message may wait',
    min: 1,
    max: 720,
    byDefault: dispatcherDefaults.validitySeconds / 3600,
  }),
  RETRY_SECONDS: wholeNumber({
    what: 'seconds to wait after a first refusal for now',
    min: 1,
    max: dispatcherDefaults.retrySecondsMax,
    byDefault: dispatcherDefaults.retrySeconds,
  }),
  OPTOUT_CONFIRMATION: sendable(),
  CONTACT_DAYS: wholeNumber({
    what: 'days for which it is remembered who wrote last to a number',
    min: 1,
    max: 3650,
    byDefault: processingDefaults.contactDays,
  }),
}

export const dispatcherSettings = (
  environment: Readonly<Record<Exclude<Numbers, 'CONTACT_DAYS'>, number>>,
): Partial<DispatcherSettings> => ({
  inDoubtMax: environment.IN_DOUBT_MAX,
  leaseSeconds: environment.LEASE_SECONDS,
  validitySeconds: environment.VALIDITY_HOURS * 3600,
  retrySeconds: environment.RETRY_SECONDS,
  version,
})

export const processingSettings = (environment: {
  readonly OPTOUT_CONFIRMATION: string
  readonly CONTACT_DAYS: number
}): ProcessingSettings => ({
  confirmation: confirmationOf(environment.OPTOUT_CONFIRMATION),
  contactDays: environment.CONTACT_DAYS,
})
