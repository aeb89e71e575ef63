import { daysBefore, failingDays, type Instant } from '@gateway/core'

/** Whether an endpoint that has failed since then is paused by another failure. */
export const failsTooLong = (failingSince: Instant | undefined, at: Instant): boolean =>
  failingSince !== undefined && failingSince <= daysBefore(at, failingDays)
