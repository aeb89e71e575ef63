import type { CarrierId } from '../dispatch/carrier-id.ts'

/** Request of a holder that renews its share of a carrier's rate, in whole parts per second. */
export interface RateDemand {
  /** Rate of all holders together. */
  readonly perSecond: number
  /** Maximum rate used in the last second, and until the answer arrives. */
  readonly inUse: number
  /** Rate that the holder could use. */
  readonly need: number
  readonly seconds: number
  /**
   * True if the holder's own lease is over because the store was unreachable: ended leases of other holders then count
   * for `seconds` more.
   */
  readonly wasAway?: boolean
}

/**
 * Store of the shares in the rate of a carrier that several processes use. The shares of all leases together never
 * exceed the rate by more than one, while a new holder starts: a share that one holder is to give up goes to another
 * only after the first holder has reported that it no longer uses it.
 */
export interface CarrierRates {
  /** Renews or starts a holder's lease; returns the rate that it may use until the next answer. */
  renew(carrier: CarrierId, holder: string, request: RateDemand): Promise<number>
}

/** Lease of another holder: the rate that it may use, and the rate that it could use. */
export interface LeasedRate {
  readonly share: number
  readonly need: number
}

/**
 * Divides `perSecond` among holders with these needs. A holder that needs less than an equal share gets its need, at
 * least 1; the others share the rest, and any surplus is divided equally. With more holders than `perSecond`, those
 * with the largest needs get 1 each.
 */
export function fairShares(perSecond: number, needs: readonly number[]): readonly number[] {
  const ascending = [...needs.keys()].sort((a, b) => (needs[a] ?? 0) - (needs[b] ?? 0))
  const shares = new Array<number>(needs.length).fill(0)
  let rest = perSecond
  for (const [nth, at] of ascending.entries()) {
    const equal = Math.floor(rest / (needs.length - nth))
    const share = Math.min(Math.max(1, Math.ceil(needs[at] ?? 0)), equal)
    shares[at] = share
    rest -= share
  }
  for (const [nth, at] of ascending.entries()) {
    const more = Math.floor(rest / (needs.length - nth))
    shares[at] = (shares[at] ?? 0) + more
    rest -= more
  }
  return shares
}

/**
 * Returns the rate that a holder may use from now on, and the share that counts as its own until it renews again.
 * `leases` lists all holders, with the caller itself as `undefined`.
 */
export function renewedShare(
  { perSecond, inUse, need }: Omit<RateDemand, 'seconds' | 'wasAway'>,
  leases: readonly (LeasedRate | undefined)[],
): { readonly granted: number; readonly share: number } {
  const needs = leases.map((lease) => lease?.need ?? need)
  const fair = fairShares(perSecond, needs)[leases.indexOf(undefined)] ?? 0
  const rest = perSecond - leases.reduce((sum, lease) => sum + (lease?.share ?? 0), 0)
  const free = Math.max(0, rest)
  // Grant one more than the rate, so that a new holder need not wait for the others.
  const least = rest === 0 && inUse === 0 ? 1 : 0
  const granted = Math.min(fair, Math.max(free, least))
  return { granted, share: Math.max(granted, Math.min(inUse, free)) }
}
