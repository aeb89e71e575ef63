import type { Ports } from '../ports.ts'
import type { Credits } from './credits.ts'
import { isPrefix, isPrice } from './price.ts'

/**
 * Sets what one part costs to numbers with this prefix ('' for all others), from 0.0 to `priceMax` (ruling 1.4). What was
 * accepted before keeps its price.
 */
export const setPrice =
  (ports: Pick<Ports, 'prices'>) =>
  async (prefix: string, price: Credits): Promise<'set' | 'invalid-prefix' | 'invalid-price'> => {
    if (!isPrefix(prefix)) return 'invalid-prefix'
    if (!isPrice(price)) return 'invalid-price'
    await ports.prices.set(prefix, price)
    return 'set'
  }
