import { randomUUID } from 'node:crypto'
import type { CarrierId } from '@gateway/core/dispatch'
import type { CarrierRates } from '@gateway/core/fleet'
import type { Pace } from './pace.ts'

export interface SharedRateSettings {
  readonly carrier: CarrierId
  readonly rates: CarrierRates
  /** Of all processes together. */
  readonly perSecond: number
  readonly leaseSeconds: number
  readonly pace: Pick<Pace, 'limitTo' | 'takeUse'>
  /** There is another share than before. */
  readonly changed: () => void
  /** Told once of a store that does not answer. */
  readonly notify: (what: string) => void
  /** In milliseconds. */
  readonly now?: () => number
}

/** The share of this process of a carrier's rate. */
export interface SharedRate {
  /** To be called several times a second; resolves when what it began is done. Never rejects. */
  look(): Promise<void>
  /** Gives the share back: nothing more leaves. Bounded by the store. */
  stop(): Promise<void>
}

/**
 * A share is leased for so long at the most, and renewed after a part of that where nothing asks for more: others wait
 * for who was killed.
 */
const leaseSecondsMax = 4
const renewAt = 1 / 3
/** Between two renewals: what was in use before the last one was not in use in the second before the next. */
const pauseMilliseconds = 1000

/**
 * Begins with nothing until the store has answered. What it is to give up it stops using at once and tells a second
 * later; while the store does not answer it keeps what it has.
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
  /** When the lease ends at the earliest. */
  let leasedUntil = Infinity
  /** Since the last renewal: how many left, and the looks, and those before which more was wanted than left. */
  let use = { since: now(), taken: 0, looks: 0, short: 0 }
  let isGivingUp = false
  let isAway = false
  let isStopped = false
  let asking: Promise<void> | undefined
  pace.limitTo(0)

  function note(): void {
    const { taken, isShort } = pace.takeUse()
    use = { ...use, taken: use.taken + taken, looks: use.looks + 1, short: use.short + (isShort ? 1 : 0) }
  }

  /** A burst is short of its share for a moment. */
  const isShort = (): boolean => 2 * use.short > use.looks

  function isDue(): boolean {
    const since = now() - renewedAt
    if (since < pauseMilliseconds) return false
    return share === 0 || isGivingUp || isShort() || since >= renewAt * seconds * 1000
  }

  /** What it used, or all. */
  function needed(): number {
    const used = Math.ceil(use.taken / Math.max(1, (now() - use.since) / 1000))
    return isShort() ? perSecond : Math.min(perSecond, used)
  }

  async function renew(): Promise<void> {
    const before = share
    const need = needed()
    use = { since: now(), taken: 0, looks: 0, short: 0 }
    const asked = now()
    renewedAt = asked
    share = await rates.renew(carrier, holder, {
      ...{ perSecond, inUse: before, need, seconds },
      wasAway: asked >= leasedUntil,
    })
    renewedAt = now()
    leasedUntil = asked + seconds * 1000
    isGivingUp = share < before
    isAway = false
    if (share === before) return
    pace.limitTo(share)
    changed()
  }

  function look(): Promise<void> {
    note()
    if (isStopped || asking !== undefined || !isDue()) return asking ?? Promise.resolve()
    asking = renew()
      .catch((problem: unknown) => {
        if (!isAway) notify(`its rate cannot be shared, and stays ${share} a second: ${(problem as Error).message}`)
        isAway = true
      })
      .then(() => (asking = undefined))
    return asking
  }

  return {
    look,
    async stop() {
      isStopped = true
      await asking
      // What left within the last second counts for a second. Without an answer it ends with its lease.
      const wanted = { perSecond, inUse: share, need: 0, seconds: pauseMilliseconds / 1000 }
      await rates.renew(carrier, holder, wanted).catch(() => undefined)
    },
  }
}
