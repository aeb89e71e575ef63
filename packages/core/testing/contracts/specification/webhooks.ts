import { daysBefore, type Instant } from '@gateway/core/time'
import { failingDays } from '@gateway/core/webhooks'

/** Whether an endpoint that has failed since then is paused by another failure. */
export const failsTooLong = (failingSince: Instant | undefined, at: Instant): boolean =>
  failingSince !== undefined && failingSince <= daysBefore(at, failingDays)
