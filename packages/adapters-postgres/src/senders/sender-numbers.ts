import type { SenderAddress } from '@gateway/core/messages'
import { retryOnConnectionLoss } from '../retry-on-connection-loss.ts'
import type { Connections } from '../connections.ts'
import { addSenders, findSenders, senderAddresses } from '../sql/senders.ts'
import type { RowOf } from '../sql/statement.ts'

/** Ids of sender addresses in the tables, from 1. 0 stands for no address. */
export type NumbersOfSenders = ReadonlyMap<SenderAddress, number>

export interface SenderNumbers {
  /** Returns the ids of at least these addresses. Stores addresses that have none. */
  numbersOf(addresses: ReadonlySet<SenderAddress>): Promise<NumbersOfSenders>
  /** Returns at least the addresses with these ids. */
  addressesOf(numbers: ReadonlySet<number>): Promise<ReadonlyMap<number, SenderAddress>>
}

/** Looks up the ids of addresses, each once, because ids never change and addresses are few. */
export function senderNumbers(hot: Connections): SenderNumbers {
  const numbers = new Map<SenderAddress, number>()
  const addresses = new Map<number, SenderAddress>()
  /**
   * Lookups in progress, which concurrent callers share. Otherwise a thousand sends at once would each query, and most
   * would not get a connection in time.
   */
  const lookups = new Map<SenderAddress, Promise<void>>()

  function learn(rows: readonly RowOf<typeof findSenders>[]): void {
    for (const { id, address } of rows) {
      numbers.set(address, id)
      addresses.set(id, address)
    }
  }

  async function number(missing: readonly SenderAddress[]): Promise<void> {
    learn(await retryOnConnectionLoss(hot, findSenders, { addresses: missing }))
    const fresh = missing.filter((address) => !numbers.has(address))
    if (fresh.length === 0) return
    await retryOnConnectionLoss(hot, addSenders, { addresses: fresh })
    learn(await retryOnConnectionLoss(hot, findSenders, { addresses: fresh }))
  }

  function lookUp(missing: readonly SenderAddress[]): void {
    const found = number(missing).finally(() => {
      for (const address of missing) lookups.delete(address)
    })
    for (const address of missing) lookups.set(address, found)
  }

  return {
    numbersOf: async (senders) => {
      const missing = [...senders].filter((address) => !numbers.has(address))
      if (missing.length === 0) return numbers
      const fresh = missing.filter((address) => !lookups.has(address))
      if (fresh.length > 0) lookUp(fresh)
      await Promise.all(missing.flatMap((address) => lookups.get(address) ?? []))
      return numbers
    },
    addressesOf: async (ids) => {
      const missing = [...ids].filter((id) => !addresses.has(id))
      if (missing.length > 0) learn(await retryOnConnectionLoss(hot, senderAddresses, { numbers: missing }))
      return addresses
    },
  }
}

/** Returns the id of an address that was looked up. Throws if it was not. */
export function numberOf(numbers: NumbersOfSenders, address: SenderAddress): number {
  const number = numbers.get(address)
  if (number === undefined) throw new Error('the id of a sender address was not looked up')
  return number
}
