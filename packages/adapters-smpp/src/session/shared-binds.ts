import { randomUUID } from 'node:crypto'
import type { CarrierId } from '@gateway/core/dispatch'
import type { CarrierBinds } from '@gateway/core/fleet'

/** A link that needs a permit. */
export interface PermittedLink {
  /** It may connect, until it drops the permit or this is withdrawn. */
  granted(): void
  /** It must end: `soon`, in good order, or `now`. It drops the permit when it has. */
  withdrawn(when: 'soon' | 'now'): void
}

/** Whether a transceiver, or both links of a pair, may be connected. */
export interface BindPermit {
  /** Calls `granted`, at once or later. */
  take(link: PermittedLink): void
  /** The link has no connection and wants none. */
  drop(link: PermittedLink): void
}

/** Of a carrier whose binds nobody counts. */
export const alwaysPermitted: BindPermit = { take: (link) => link.granted(), drop: () => undefined }

export interface SharedBindsSettings {
  readonly carrier: CarrierId
  readonly binds: CarrierBinds
  /** Of all processes together. */
  readonly bindsMax: number
  readonly leaseSeconds: number
  /** Told once of a store that does not answer, and once of binds that others have. */
  readonly notify: (what: string) => void
}

export interface SharedBinds {
  /** For one transceiver or pair. */
  permit(): BindPermit
  /** Gives back what is leased, once the links have ended. Bounded by the store. */
  stop(): Promise<void>
}

interface Group {
  /** That want to be connected, or are. */
  readonly links: Set<PermittedLink>
  lease: { readonly number: number; until: number; isWarned: boolean } | undefined
}

/**
 * Shares of a lease: it is renewed after the first, its links are to end after the second, and are ended at the third.
 */
const renewAt = 0.25
const endSoonAt = 0.6
const endNowAt = 0.85
/** The longest pause between two tries to lease, in milliseconds: what was given back is found by then. */
const lookMillisecondsMax = 2000

const now = (): number => performance.now()

/**
 * The permits of a carrier whose number of binds several processes share. A link is connected only while its lease
 * lasts by the clock of this process, counted from before the store was asked, so that a process that is cut off from
 * the store has unbound before others may bind.
 */
export function shareBinds({ carrier, binds, bindsMax, leaseSeconds, notify }: SharedBindsSettings): SharedBinds {
  const holder = randomUUID()
  const leaseMilliseconds = leaseSeconds * 1000
  const groups: Group[] = []
  let isStopped = false
  let renewedAt = -Infinity
  let lookAt = -Infinity
  let isShort = false
  let isAway = false
  let asking: Promise<void> | undefined
  const releasing = new Set<Promise<void>>()
  const ticking = setInterval(tick, Math.min(250, leaseMilliseconds / 40))

  const waiting = (): readonly Group[] => groups.filter(({ links, lease }) => links.size > 0 && lease === undefined)
  const held = (): readonly Group[] => groups.filter(({ lease }) => lease !== undefined)

  function tick(): void {
    for (const group of held()) watch(group)
    const isDue = (waiting().length > 0 && now() >= lookAt) || (held().length > 0 && isRenewalDue())
    if (!isDue || isStopped || asking !== undefined) return
    asking = ask()
      .then(() => (isAway = false))
      .catch((problem: unknown) => {
        lookAt = now() + Math.min(lookMillisecondsMax, leaseMilliseconds / 8)
        if (!isAway) notify(`its shared binds cannot be leased: ${(problem as Error).message}`)
        isAway = true
      })
      .then(() => (asking = undefined))
  }

  const isRenewalDue = (): boolean => now() >= renewedAt + renewAt * leaseMilliseconds

  /** A lease that was not renewed in time. */
  function watch(group: Group): void {
    const { lease } = group
    if (lease === undefined) return
    const passed = 1 - (lease.until - now()) / leaseMilliseconds
    if (passed >= endNowAt) withdraw(group)
    else if (passed >= endSoonAt && !lease.isWarned) {
      lease.isWarned = true
      for (const link of [...group.links]) link.withdrawn('soon')
    }
  }

  /** The lease is lost, or must be taken for it. */
  function withdraw(group: Group): void {
    group.lease = undefined
    for (const link of [...group.links]) link.withdrawn('now')
  }

  async function ask(): Promise<void> {
    if (held().length > 0 && isRenewalDue()) await renew()
    const wanting = waiting()
    if (wanting.length === 0 || now() < lookAt) return
    const askedAt = now()
    const wanted = { count: wanting.length, max: bindsMax, seconds: leaseSeconds }
    const { numbers, freeInMilliseconds = lookMillisecondsMax } = await binds.lease(carrier, holder, wanted)
    if (held().length === 0) renewedAt = askedAt
    const left = numbers.filter((number) => !give(number, askedAt + leaseMilliseconds))
    release(left)
    lookAt = now() + Math.max(20, Math.min(freeInMilliseconds, lookMillisecondsMax))
    reportShortage(numbers.length < wanting.length)
  }

  function give(number: number, until: number): boolean {
    const [group] = waiting()
    if (group === undefined || isStopped) return false
    group.lease = { number, until, isWarned: false }
    for (const link of [...group.links]) link.granted()
    return true
  }

  function reportShortage(isShortNow: boolean): void {
    if (isShortNow && !isShort)
      notify(
        bindsMax === 1
          ? 'the only bind is in use; it waits for it'
          : `all ${bindsMax} binds are in use; it waits for one`,
      )
    isShort = isShortNow
  }

  async function renew(): Promise<void> {
    const askedAt = now()
    const before = held()
    const numbers = await binds.renew(carrier, holder, leaseSeconds)
    renewedAt = askedAt
    for (const group of before) {
      const { lease } = group
      if (lease === undefined) continue
      if (numbers.includes(lease.number)) lease.until = askedAt + leaseMilliseconds
      else withdraw(group)
    }
    // Of a call whose answer was lost.
    release(numbers.filter((number) => groups.every(({ lease }) => lease?.number !== number)))
  }

  function release(numbers: readonly number[]): void {
    if (numbers.length === 0) return
    const released = binds
      .release(carrier, holder, numbers)
      // It ends by itself.
      .catch(() => undefined)
      .then(() => void releasing.delete(released))
    releasing.add(released)
  }

  return {
    permit() {
      const group: Group = { links: new Set(), lease: undefined }
      groups.push(group)
      return {
        take(link) {
          group.links.add(link)
          if (group.lease !== undefined && !group.lease.isWarned) link.granted()
          else tick()
        },
        drop(link) {
          group.links.delete(link)
          if (group.links.size > 0 || group.lease === undefined) return
          release([group.lease.number])
          group.lease = undefined
        },
      }
    },
    async stop() {
      isStopped = true
      clearInterval(ticking)
      await asking
      await Promise.all(releasing)
    },
  }
}
