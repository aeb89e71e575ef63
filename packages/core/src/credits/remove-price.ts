import type { AccountId } from '../account/account.ts'
import type { Ports } from '../ports.ts'

/**
 * Takes a prefix out of the price table, or of the prices of the account `of`. Without the empty one a number that no other prefix fits has no price, and is
 * refused as invalid (ruling 1.4).
 */
export const removePrice =
  (ports: Pick<Ports, 'prices'>) =>
  async (prefix: string, of?: AccountId): Promise<'removed' | 'no-such-price'> =>
    (await ports.prices.remove(prefix, of)) ? 'removed' : 'no-such-price'
