import type { CarrierId } from '../dispatch/carrier-id.ts'

/** Request for some of the binds that a carrier allows. */
export interface BindDemand {
  readonly count: number
  /** Maximum number of binds leased at a time over all holders; binds are numbered 1 to `max`. */
  readonly max: number
  readonly seconds: number
}

export interface LeasedBinds {
  /** Numbers of the binds that the holder has now: perhaps fewer than requested, or none. */
  readonly numbers: readonly number[]
  /**
   * Milliseconds until the next lease ends unless it is renewed; undefined if there is none, or if all requested binds
   * are leased.
   */
  readonly freeInMilliseconds: number | undefined
}

/**
 * Store of the binds of a carrier that several processes share. At most `max` are leased at a time, by the store's
 * clock. A holder counts the time of a lease from before the call that granted it, and has unbound when it ends.
 */
export interface CarrierBinds {
  lease(carrier: CarrierId, holder: string, request: BindDemand): Promise<LeasedBinds>
  /**
   * Renews all leases of a holder that have not ended and returns their numbers. The holder no longer has any other
   * number.
   */
  renew(carrier: CarrierId, holder: string, seconds: number): Promise<readonly number[]>
  /** Frees these binds of the holder at once; binds of other holders stay leased. */
  release(carrier: CarrierId, holder: string, numbers: readonly number[]): Promise<void>
}
