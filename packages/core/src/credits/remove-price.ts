import type { Ports } from '../ports.ts'

/**
 * Takes a prefix out of the price table. Without the empty one a number that no other prefix fits has no price, and is
 * refused as invalid (ruling 1.4).
 */
export const removePrice =
  (ports: Pick<Ports, 'prices'>) =>
  async (prefix: string): Promise<'removed' | 'no-such-price'> =>
    (await ports.prices.remove(prefix)) ? 'removed' : 'no-such-price'
