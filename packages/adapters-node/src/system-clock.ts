import { instant, type Clock } from '@gateway/core/time'

/** Returns a clock with the time of this machine. */
export const systemClock = (): Clock => ({ now: () => instant(Date.now()) })
