import { instant, type Clock } from '@gateway/core'

/** The time of this machine. */
export const systemClock = (): Clock => ({ now: () => instant(Date.now()) })
