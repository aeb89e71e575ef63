import { instant, type Clock } from '@gateway/core/time'

/** The time of this machine. */
export const systemClock = (): Clock => ({ now: () => instant(Date.now()) })
