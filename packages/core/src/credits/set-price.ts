import type { AccountId } from '../account/account.ts'
import type { Ports } from '../ports.ts'
import type { Credits } from './credits.ts'
import { isPrefix, isPrice } from './price.ts'

/**
 * Sets what one part costs, all accounts or the account `of`, to numbers with this prefix ('' for all others), from 0.0 to `priceMax` (ruling 1.4). What was
 * accepted before keeps its price.
 */
export const setPrice =
  (ports: Pick<Ports, 'prices' | 'accounts'>) =>
  async (
    prefix: string,
    price: Credits,
    of?: AccountId,
  ): Promise<'set' | 'invalid-prefix' | 'invalid-price' | 'no-such-account'> => {
    if (!isPrefix(prefix)) return 'invalid-prefix'
    if (!isPrice(price)) return 'invalid-price'
    if (of !== undefined && (await ports.accounts.find(of)) === undefined) return 'no-such-account'
    await ports.prices.set(prefix, price, of)
    return 'set'
  }
