import { randomUUID } from 'node:crypto'
import type { CarrierId } from '@gateway/core/dispatch'
import type { CarrierBinds } from '@gateway/core/fleet'

/** Link that needs a permit to connect. */
export interface PermittedLink {
  /** The link may connect until it drops the permit or the permit is withdrawn. */
  granted(): void
  /** The link must end: `soon` with an unbind, or `now`. It drops the permit when it has ended. */
  withdrawn(when: 'soon' | 'now'): void
}

/** Permit of a transceiver, or of both links of a pair, to be connected. */
export interface BindPermit {
  /** Requests the permit for a link. Calls `granted` at once or later. */
  take(link: PermittedLink): void
  /** Returns the permit of a link that has no connection and needs none. */
  drop(link: PermittedLink): void
}

/** Permit for carriers without a limit of binds. */
export const alwaysPermitted: BindPermit = { take: (link) => link.granted(), drop: () => undefined }

export interface SharedBindsSettings {
  readonly carrier: CarrierId
  readonly binds: CarrierBinds
  /** Maximum number of binds of all processes together. */
  readonly bindsMax: number
  readonly leaseSeconds: number
  /** Called once for a store that does not answer, and once for binds that other processes use. */
  readonly notify: (text: string) => void
}

export interface SharedBinds {
  /** Creates the permit of one transceiver or pair. */
  permit(): BindPermit
  /** Stops leasing. Call it after the links have ended; resolves when their leases are released. */
  stop(): Promise<void>
}

/** Links that share one permit, and its lease. */
interface Group {
  /** Links that are connected or request the permit. */
  readonly links: Set<PermittedLink>
  lease: { readonly number: number; until: number; isWarned: boolean } | undefined
}

/** Part of the lease time after which a lease is renewed. */
const renewAt = 0.25
/** Part of the lease time after which the links of a lease that was not renewed unbind. */
const endSoonAt = 0.6
/** Part of the lease time after which the connections of such links are closed. */
const endNowAt = 0.85
/**
 * Maximum time between two attempts to lease, in milliseconds. Binds that others release are found within this time.
 */
const lookMillisecondsMax = 2000

const now = (): number => performance.now()

/**
 * Creates the permits of a carrier whose binds several processes share. A link is connected only while its lease lasts,
 * measured by the clock of this process from before the request to the store. A process that is cut off from the store
 * has therefore unbound before others may bind.
 *
 *   waiting --lease--> leased --renewal in time--> leased
 *                        +--none after 0.6 of the time--> warned --after 0.85, or lost to others--> waiting
 *                        +--last link drops the permit--> released
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
  let leasing: Promise<void> | undefined
  const releasing = new Set<Promise<void>>()
  const ticking = setInterval(tick, Math.min(250, leaseMilliseconds / 40))

  const waiting = (): readonly Group[] => groups.filter(({ links, lease }) => links.size > 0 && lease === undefined)
  const leased = (): readonly Group[] => groups.filter(({ lease }) => lease !== undefined)

  function tick(): void {
    for (const group of leased()) watch(group)
    const isDue = (waiting().length > 0 && now() >= lookAt) || (leased().length > 0 && isRenewalDue())
    if (!isDue || isStopped || leasing !== undefined) return
    leasing = requestLeases()
      .then(() => (isAway = false))
      .catch((problem: unknown) => {
        lookAt = now() + Math.min(lookMillisecondsMax, leaseMilliseconds / 8)
        if (!isAway) notify(`its shared binds cannot be leased: ${(problem as Error).message}`)
        isAway = true
      })
      .then(() => (leasing = undefined))
  }

  const isRenewalDue = (): boolean => now() >= renewedAt + renewAt * leaseMilliseconds

  /** Warns or withdraws a lease that was not renewed in time. */
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

  /** Ends a lease that is lost or may be. */
  function withdraw(group: Group): void {
    group.lease = undefined
    for (const link of [...group.links]) link.withdrawn('now')
  }

  async function requestLeases(): Promise<void> {
    if (leased().length > 0 && isRenewalDue()) await renew()
    const groupsWaiting = waiting()
    if (groupsWaiting.length === 0 || now() < lookAt) return
    const requestedAt = now()
    const request = { count: groupsWaiting.length, max: bindsMax, seconds: leaseSeconds }
    const { numbers, freeInMilliseconds = lookMillisecondsMax } = await binds.lease(carrier, holder, request)
    if (leased().length === 0) renewedAt = requestedAt
    const unused = numbers.filter((number) => !assign(number, requestedAt + leaseMilliseconds))
    release(unused)
    lookAt = now() + Math.max(20, Math.min(freeInMilliseconds, lookMillisecondsMax))
    reportShortage(numbers.length < groupsWaiting.length)
  }

  /** Gives a lease to the first waiting group. Returns false if none waits. */
  function assign(number: number, until: number): boolean {
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
    const requestedAt = now()
    const before = leased()
    const numbers = await binds.renew(carrier, holder, leaseSeconds)
    renewedAt = requestedAt
    for (const group of before) {
      const { lease } = group
      if (lease === undefined) continue
      if (numbers.includes(lease.number)) lease.until = requestedAt + leaseMilliseconds
      else withdraw(group)
    }
    // Leases of an earlier request whose answer was lost.
    release(numbers.filter((number) => groups.every(({ lease }) => lease?.number !== number)))
  }

  function release(numbers: readonly number[]): void {
    if (numbers.length === 0) return
    const released = binds
      .release(carrier, holder, numbers)
      // The lease ends by itself.
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
      await leasing
      await Promise.all(releasing)
    },
  }
}
