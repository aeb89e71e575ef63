import { daysBefore, type Instant } from '@gateway/core/time'
import { failingDays } from '@gateway/core/webhooks'

/** Returns true if an endpoint whose requests have failed since `failingSince` is paused by another failure at `at`. */
export const failsTooLong = (failingSince: Instant | undefined, at: Instant): boolean =>
  failingSince !== undefined && failingSince <= daysBefore(at, failingDays)
