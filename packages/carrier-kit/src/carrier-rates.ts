import type { CarrierId } from '@gateway/core/dispatch'

/** Request of a holder to renew its share of a carrier's rate. Rates are whole numbers of message parts per second. */
export interface RateDemand {
  /** Maximum rate of all processes together. */
  readonly perSecond: number
  /** Highest rate that the holder used in the last second and may use until the answer to this request arrives. */
  readonly inUse: number
  /** Rate that the holder could use. */
  readonly need: number
  readonly seconds: number
  /**
   * True if the holder's own lease has ended because the store was unreachable. Leases of other holders that have ended
   * then count for another `seconds`.
   */
  readonly wasAway?: boolean
}

/**
 * Store of the shares that several processes have in the rate of one carrier. The sum of all leased shares never
 * exceeds the rate, except by one while a new holder starts. If a holder must give up a share, another holder gets that
 * share only after the first one has reported that it no longer uses it.
 */
export interface CarrierRates {
  /** Renews or starts a holder's lease; returns the rate that it may use until the next answer. */
  renew(carrier: CarrierId, holder: string, request: RateDemand): Promise<number>
}

/** Lease of another holder: the rate that this holder may use (`share`) and the rate that it could use (`need`). */
export interface LeasedRate {
  readonly share: number
  readonly need: number
}

/**
 * Divides `perSecond` among holders with these needs. A holder that needs less than an equal share gets what it needs,
 * but at least 1. The other holders share the rest, and any surplus is divided equally among all. If there are more
 * holders than `perSecond`, the holders with the largest needs get 1 each and the others get 0.
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
 * Returns the rate that a holder may use from now on (`granted`) and the rate that other holders must treat as used by
 * it until its next renewal (`share`). `leases` has one element for each holder; the element of the caller is
 * undefined.
 */
export function renewedShare(
  { perSecond, inUse, need }: Omit<RateDemand, 'seconds' | 'wasAway'>,
  leases: readonly (LeasedRate | undefined)[],
): { readonly granted: number; readonly share: number } {
  const needs = leases.map((lease) => lease?.need ?? need)
  const fair = fairShares(perSecond, needs)[leases.indexOf(undefined)] ?? 0
  const rest = perSecond - leases.reduce((sum, lease) => sum + (lease?.share ?? 0), 0)
  const free = Math.max(0, rest)
  // If the rate is used up, a new holder still gets 1 above the rate, so that it need not wait for the others.
  const least = rest === 0 && inUse === 0 ? 1 : 0
  const granted = Math.min(fair, Math.max(free, least))
  return { granted, share: Math.max(granted, Math.min(inUse, free)) }
}
