import type { CarrierId } from '@gateway/core/dispatch'

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
   * Milliseconds until the next lease of another holder ends unless it is renewed. Undefined if no other holder has a
   * lease, or if the holder got all binds that it requested.
   */
  readonly freeInMilliseconds: number | undefined
}

/**
 * Store of the binds of a carrier that several processes share. At most `max` are leased at a time, by the store's
 * clock. A holder measures the time of a lease from before its request, so that it has unbound when the store's lease
 * ends.
 */
export interface CarrierBinds {
  lease(carrier: CarrierId, holder: string, request: BindDemand): Promise<LeasedBinds>
  /**
   * Renews all leases of a holder that have not ended and returns their numbers. Binds that are not returned no longer
   * belong to the holder.
   */
  renew(carrier: CarrierId, holder: string, seconds: number): Promise<readonly number[]>
  /** Frees these binds of the holder at once; binds of other holders stay leased. */
  release(carrier: CarrierId, holder: string, numbers: readonly number[]): Promise<void>
}
