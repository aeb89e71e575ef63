import { randomUUID } from 'node:crypto'
import type { CarrierId } from '@gateway/core/dispatch'
import type { CarrierBinds } from './carrier-binds.ts'

/** Link that needs a permit to connect. */
export interface PermittedLink {
  /** Called when the link may connect. It may stay connected until it drops the permit or the permit is withdrawn. */
  granted(): void
  /** Called when the link must end: `soon` with an unbind, or `now`. The link drops the permit when it has ended. */
  withdrawn(when: 'soon' | 'now'): void
}

/** Permit of a transceiver, or of both links of a pair, to be connected. */
export interface BindPermit {
  /** Requests the permit for a link. Calls `granted` at once or later. */
  take(link: PermittedLink): void
  /** Gives back the permit of a link that has no connection and needs none. */
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
  /** Called once when the store does not answer, and once when other processes use the binds. */
  readonly notify: (text: string) => void
}

/** Links that share one permit, and its lease. */
interface Group {
  /** Links that are connected or request the permit. */
  readonly links: Set<PermittedLink>
  lease: { readonly number: number; until: number; isWarned: boolean } | undefined
}

/** Part of the lease time after which a lease is renewed. */
const renewAt = 0.25
/** Part of the lease time after which links unbind if their lease was not renewed. */
const endSoonAt = 0.6
/** Part of the lease time after which the connections of such links are closed. */
const endNowAt = 0.85
/**
 * Maximum time between two attempts to lease, in milliseconds. Binds that others release are found within this time.
 */
const lookMillisecondsMax = 2000

const now = (): number => performance.now()

/**
 * Permits of a carrier whose binds several processes share. A link is connected only while its lease lasts, measured
 * by the clock of this process from before the request to the store. A process that is cut off from the store has
 * therefore unbound before others may bind.
 *
 *   waiting --lease--> leased --renewal in time--> leased
 *                        +--none after 0.6 of the time--> warned --after 0.85, or lost to others--> waiting
 *                        +--last link drops the permit--> released
 */
export class SharedBinds {
  readonly #settings: SharedBindsSettings
  readonly #leaseMilliseconds: number
  readonly #holder = randomUUID()
  readonly #groups: Group[] = []
  readonly #ticking: NodeJS.Timeout
  #isStopped = false
  #renewedAt = -Infinity
  /** Earliest time of the next request for leases. */
  #lookAt = -Infinity
  #isShort = false
  #isAway = false
  #leasing: Promise<void> | undefined
  readonly #releasing = new Set<Promise<void>>()

  constructor(settings: SharedBindsSettings) {
    this.#settings = settings
    this.#leaseMilliseconds = settings.leaseSeconds * 1000
    this.#ticking = setInterval(() => this.#tick(), Math.min(250, this.#leaseMilliseconds / 40))
  }

  /** Creates the permit of one transceiver, or of one pair of transmitter and receiver. */
  permit(): BindPermit {
    const group: Group = { links: new Set(), lease: undefined }
    this.#groups.push(group)
    return {
      take: (link) => {
        group.links.add(link)
        if (group.lease !== undefined && !group.lease.isWarned) link.granted()
        else this.#tick()
      },
      drop: (link) => {
        group.links.delete(link)
        if (group.links.size > 0 || group.lease === undefined) return
        this.#release([group.lease.number])
        group.lease = undefined
      },
    }
  }

  /** Stops leasing. Call it after the links have ended; resolves when their leases are released. */
  async stop(): Promise<void> {
    this.#isStopped = true
    clearInterval(this.#ticking)
    await this.#leasing
    await Promise.all(this.#releasing)
  }

  #waiting(): readonly Group[] {
    return this.#groups.filter(({ links, lease }) => links.size > 0 && lease === undefined)
  }

  #leased(): readonly Group[] {
    return this.#groups.filter(({ lease }) => lease !== undefined)
  }

  #tick(): void {
    for (const group of this.#leased()) this.#watch(group)
    const mayLease = this.#waiting().length > 0 && now() >= this.#lookAt
    const mustRenew = this.#leased().length > 0 && this.#isRenewalDue()
    if (!(mayLease || mustRenew) || this.#isStopped || this.#leasing !== undefined) return
    this.#leasing = this.#requestLeases()
      .then(() => (this.#isAway = false))
      .catch((problem: unknown) => {
        this.#lookAt = now() + Math.min(lookMillisecondsMax, this.#leaseMilliseconds / 8)
        const text = `its shared binds cannot be leased: ${(problem as Error).message}`
        if (!this.#isAway) this.#settings.notify(text)
        this.#isAway = true
      })
      .then(() => (this.#leasing = undefined))
  }

  #isRenewalDue(): boolean {
    return now() >= this.#renewedAt + renewAt * this.#leaseMilliseconds
  }

  /** Warns or withdraws a lease that was not renewed in time. */
  #watch(group: Group): void {
    const { lease } = group
    if (lease === undefined) return
    const passed = 1 - (lease.until - now()) / this.#leaseMilliseconds
    if (passed >= endNowAt) withdraw(group)
    else if (passed >= endSoonAt && !lease.isWarned) {
      lease.isWarned = true
      for (const link of [...group.links]) link.withdrawn('soon')
    }
  }

  async #requestLeases(): Promise<void> {
    const { binds, carrier, bindsMax, leaseSeconds } = this.#settings
    if (this.#leased().length > 0 && this.#isRenewalDue()) await this.#renew()
    const waiting = this.#waiting()
    if (waiting.length === 0 || now() < this.#lookAt) return
    const requestedAt = now()
    const request = { count: waiting.length, max: bindsMax, seconds: leaseSeconds }
    const { numbers, freeInMilliseconds = lookMillisecondsMax } = await binds.lease(carrier, this.#holder, request)
    if (this.#leased().length === 0) this.#renewedAt = requestedAt
    this.#release(numbers.filter((number) => !this.#assign(number, requestedAt + this.#leaseMilliseconds)))
    this.#lookAt = now() + Math.max(20, Math.min(freeInMilliseconds, lookMillisecondsMax))
    this.#reportShortage(numbers.length < waiting.length)
  }

  /** Gives a lease to the first waiting group. Returns false if none waits. */
  #assign(number: number, until: number): boolean {
    const [group] = this.#waiting()
    if (group === undefined || this.#isStopped) return false
    group.lease = { number, until, isWarned: false }
    for (const link of [...group.links]) link.granted()
    return true
  }

  #reportShortage(isShort: boolean): void {
    const { bindsMax, notify } = this.#settings
    if (isShort && !this.#isShort)
      notify(
        bindsMax === 1
          ? 'the only bind is in use; it waits for it'
          : `all ${bindsMax} binds are in use; it waits for one`,
      )
    this.#isShort = isShort
  }

  async #renew(): Promise<void> {
    const { binds, carrier, leaseSeconds } = this.#settings
    const requestedAt = now()
    const before = this.#leased()
    const numbers = await binds.renew(carrier, this.#holder, leaseSeconds)
    this.#renewedAt = requestedAt
    for (const group of before) {
      const { lease } = group
      if (lease === undefined) continue
      if (numbers.includes(lease.number)) lease.until = requestedAt + this.#leaseMilliseconds
      else withdraw(group)
    }
    // Releases leases of an earlier request whose answer was lost.
    this.#release(numbers.filter((number) => this.#groups.every(({ lease }) => lease?.number !== number)))
  }

  #release(numbers: readonly number[]): void {
    if (numbers.length === 0) return
    const { binds, carrier } = this.#settings
    const released = binds
      .release(carrier, this.#holder, numbers)
      // A failure does not matter, because the lease ends by itself.
      .catch(() => undefined)
      .then(() => void this.#releasing.delete(released))
    this.#releasing.add(released)
  }
}

/** Withdraws a lease that is lost or may be lost. */
function withdraw(group: Group): void {
  group.lease = undefined
  for (const link of [...group.links]) link.withdrawn('now')
}
