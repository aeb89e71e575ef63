import type { Account } from '../account/account.ts'
import type { Ports } from '../ports.ts'
import type { Msisdn } from './msisdn.ts'
import type { SenderAddress } from './sender-address.ts'

/** By number, the address that a message of the account to it leaves from: the account's first code, else one of the pool. */
export async function chooseSenders(
  ports: Pick<Ports, 'senders'>,
  account: Account,
  numbers: readonly Msisdn[],
  pool: readonly SenderAddress[],
): Promise<(number: Msisdn) => SenderAddress> {
  const only = account.shortCodes[0] ?? (pool.length === 1 ? pool[0] : undefined)
  if (only !== undefined || numbers.length === 0) return () => only ?? nobody()
  const distinct = [...new Set(numbers)]
  const chosen = await ports.senders.choose(account.id, distinct, pool)
  const byNumber = new Map(distinct.map((number, i) => [number, chosen[i] ?? nobody()]))
  return (number) => byNumber.get(number) ?? nobody()
}

function nobody(): never {
  throw new Error('no address to send from was chosen')
}
