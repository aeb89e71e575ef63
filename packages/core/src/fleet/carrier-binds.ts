import type { CarrierId } from '../dispatch/carrier-id.ts'

/** Which of the binds that a carrier allows are wanted, and for how long. */
export interface WantedBinds {
  readonly count: number
  /** So many are leased at a time, over all holders; the numbers are 1 to `max`. */
  readonly max: number
  readonly seconds: number
}

export interface LeasedBinds {
  /** The numbers that are the holder's now; perhaps fewer than it wants, or none. */
  readonly numbers: readonly number[]
  /** When the next lease ends if nobody renews it; undefined: there is none, or all that was wanted is leased. */
  readonly freeInMilliseconds: number | undefined
}

/**
 * The binds of a carrier that several processes share. Never more than `max` are leased at a time, judged by the
 * store's clock. Who holds a lease counts its time from before the call that gave it, and has unbound when it ends.
 */
export interface CarrierBinds {
  lease(carrier: CarrierId, holder: string, wanted: WantedBinds): Promise<LeasedBinds>
  /**
   * Leases all of a holder's anew that have not ended; returns their numbers: what is not among them is not the
   * holder's any more.
   */
  renew(carrier: CarrierId, holder: string, seconds: number): Promise<readonly number[]>
  /** They are free at once; those of others stay. */
  release(carrier: CarrierId, holder: string, numbers: readonly number[]): Promise<void>
}
