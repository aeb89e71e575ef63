import { randomUUID } from 'node:crypto'
import type { CarrierId } from '@gateway/core/dispatch'
import type { CarrierRates } from '@gateway/core/fleet'
import type { Pace } from './pace.ts'

export interface SharedRateSettings {
  readonly carrier: CarrierId
  readonly rates: CarrierRates
  /** Rate of all processes together. */
  readonly perSecond: number
  readonly leaseSeconds: number
  readonly pace: Pick<Pace, 'limitTo' | 'takeUse'>
  /** The share has changed. */
  readonly changed: () => void
  /** Called once for a store that does not answer. */
  readonly notify: (text: string) => void
  /** Returns milliseconds. */
  readonly now?: () => number
}

/** Share of this process in the rate of a carrier. */
export interface SharedRate {
  /** Renews the lease of the share if it is due. Call it several times a second. Never rejects. */
  look(): Promise<void>
  /** Returns the share, after which nothing may be sent. */
  stop(): Promise<void>
}

/** Maximum lease of a share, in seconds: the share of a killed process is free after this time. */
const leaseSecondsMax = 4
/** Part of the lease time after which a share is renewed if nothing else calls for it. */
const renewAt = 1 / 3
/** Minimum time between two renewals. A share given up at one renewal has been unused for a second at the next. */
const pauseMilliseconds = 1000

/**
 * Shares the rate of a carrier with other processes. The share is 0 until the store answers for the first time. A part
 * that this process must give up is unused from then on, and reported as free a second later. While the store does not
 * answer, the share stays as it is.
 */
export function shareRate({
  carrier,
  rates,
  perSecond,
  leaseSeconds,
  pace,
  changed,
  notify,
  now = () => performance.now(),
}: SharedRateSettings): SharedRate {
  const holder = randomUUID()
  const seconds = Math.min(leaseSeconds, leaseSecondsMax)
  let share = 0
  let renewedAt = -Infinity
  /** Earliest time at which the lease ends. */
  let leasedUntil = Infinity
  /** Use since the last renewal: parts sent, calls of `look`, and calls before which the share was too small. */
  let use = { since: now(), sent: 0, looks: 0, short: 0 }
  let isGivingUp = false
  let isAway = false
  let isStopped = false
  let renewal: Promise<void> | undefined
  pace.limitTo(0)

  function note(): void {
    const { taken: sent, isShort } = pace.takeUse()
    use = { ...use, sent: use.sent + sent, looks: use.looks + 1, short: use.short + (isShort ? 1 : 0) }
  }

  /** Returns true if the share was too small most of the time. A single burst does not count. */
  const isShort = (): boolean => 2 * use.short > use.looks

  function isDue(): boolean {
    const since = now() - renewedAt
    if (since < pauseMilliseconds) return false
    return share === 0 || isGivingUp || isShort() || since >= renewAt * seconds * 1000
  }

  /** Returns the rate that this process needs: the used one, or all if the share was too small. */
  function needed(): number {
    const used = Math.ceil(use.sent / Math.max(1, (now() - use.since) / 1000))
    return isShort() ? perSecond : Math.min(perSecond, used)
  }

  async function renew(): Promise<void> {
    const before = share
    const need = needed()
    use = { since: now(), sent: 0, looks: 0, short: 0 }
    const requestedAt = now()
    renewedAt = requestedAt
    share = await rates.renew(carrier, holder, {
      ...{ perSecond, inUse: before, need, seconds },
      wasAway: requestedAt >= leasedUntil,
    })
    renewedAt = now()
    leasedUntil = requestedAt + seconds * 1000
    isGivingUp = share < before
    isAway = false
    if (share === before) return
    pace.limitTo(share)
    changed()
  }

  function look(): Promise<void> {
    note()
    if (isStopped || renewal !== undefined || !isDue()) return renewal ?? Promise.resolve()
    renewal = renew()
      .catch((problem: unknown) => {
        if (!isAway) notify(`its rate cannot be shared, and stays ${share} a second: ${(problem as Error).message}`)
        isAway = true
      })
      .then(() => (renewal = undefined))
    return renewal
  }

  return {
    look,
    async stop() {
      isStopped = true
      await renewal
      // Parts sent within the last second count for a second. If the store does not answer, the lease ends by itself.
      const request = { perSecond, inUse: share, need: 0, seconds: pauseMilliseconds / 1000 }
      await rates.renew(carrier, holder, request).catch(() => undefined)
    },
  }
}
