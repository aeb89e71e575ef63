import type { CarrierId } from '../dispatch/carrier-id.ts'

/** What a holder asks for when it renews its share. Parts a second, whole numbers. */
export interface WantedRate {
  /** Of all holders together. */
  readonly perSecond: number
  /** At most so many it has used in the last second, and uses until it is answered. */
  readonly inUse: number
  /** So many it could use. */
  readonly need: number
  readonly seconds: number
  /** Its own lease is over, as the store was away: those of others that are over too count for `seconds` more. */
  readonly wasAway?: boolean
}

/**
 * The rate of a carrier that several processes share. The shares of all leases together are never more than the rate,
 * and one more while somebody begins: what one holder is to give up another gets only after the first has told that it
 * uses it no more.
 */
export interface CarrierRates {
  /** Renews a holder's lease, or begins it; returns what it may use from now on, until it is told otherwise. */
  renew(carrier: CarrierId, holder: string, wanted: WantedRate): Promise<number>
}

/** Of another holder whose lease is not over: what it may use, and could. */
export interface LeasedRate {
  readonly share: number
  readonly need: number
}

/**
 * `perSecond` among holders with these needs: who needs less than an equal share gets it, at least 1, and the others
 * have the rest; what nobody needs is shared equally. With more holders than `perSecond` those that need most have 1
 * each.
 */
export function fairShares(perSecond: number, needs: readonly number[]): readonly number[] {
  const ascending = [...needs.keys()].sort((a, b) => (needs[a] ?? 0) - (needs[b] ?? 0))
  const shares = new Array<number>(needs.length).fill(0)
  let left = perSecond
  for (const [nth, at] of ascending.entries()) {
    const equal = Math.floor(left / (needs.length - nth))
    const share = Math.min(Math.max(1, Math.ceil(needs[at] ?? 0)), equal)
    shares[at] = share
    left -= share
  }
  for (const [nth, at] of ascending.entries()) {
    const more = Math.floor(left / (needs.length - nth))
    shares[at] = (shares[at] ?? 0) + more
    left -= more
  }
  return shares
}

/**
 * What a holder may use from now on, and what counts as its share until it renews again. `leases`: all, by holder, with
 * its own as `undefined`.
 */
export function renewedShare(
  { perSecond, inUse, need }: Omit<WantedRate, 'seconds' | 'wasAway'>,
  leases: readonly (LeasedRate | undefined)[],
): { readonly granted: number; readonly share: number } {
  const needs = leases.map((lease) => lease?.need ?? need)
  const fair = fairShares(perSecond, needs)[leases.indexOf(undefined)] ?? 0
  const left = perSecond - leases.reduce((sum, lease) => sum + (lease?.share ?? 0), 0)
  const free = Math.max(0, left)
  // One more than there are: who begins is not kept waiting for the others.
  const least = left === 0 && inUse === 0 ? 1 : 0
  const granted = Math.min(fair, Math.max(free, least))
  return { granted, share: Math.max(granted, Math.min(inUse, free)) }
}
