import { daysBefore, type Instant } from '@gateway/core/time'
import { failingDays } from '@gateway/core/webhooks'

/** Returns true if another failure pauses an endpoint that has failed since then. */
export const failsTooLong = (failingSince: Instant | undefined, at: Instant): boolean =>
  failingSince !== undefined && failingSince <= daysBefore(at, failingDays)
