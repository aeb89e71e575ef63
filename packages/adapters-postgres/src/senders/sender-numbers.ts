import type { SenderAddress } from '@gateway/core/messages'
import { retryOnConnectionLoss } from '../retry-on-connection-loss.ts'
import type { Connections } from '../connections.ts'
import { addSenders, findSenders, senderAddresses } from '../sql/senders.ts'

/** By address the number that stands for it in the tables, from 1; 0 stands for none. */
export type NumbersOfSenders = ReadonlyMap<SenderAddress, number>

export interface SenderNumbers {
  /** Of these addresses, and perhaps others; those that have none get one. */
  numbersOf(addresses: ReadonlySet<SenderAddress>): Promise<NumbersOfSenders>
  /** Of these numbers, and perhaps others. */
  addressesOf(numbers: ReadonlySet<number>): Promise<ReadonlyMap<number, SenderAddress>>
}

/** Numbers of addresses never change, and addresses are few: each is asked for once. */
export function senderNumbers(hot: Connections): SenderNumbers {
  const numbers = new Map<SenderAddress, number>()
  const addresses = new Map<number, SenderAddress>()
  /** What is being looked up: of a thousand sends at once each asked, and most found no free connection in time. */
  const underWay = new Map<SenderAddress, Promise<void>>()

  function learn(rows: readonly { id: number; address: string }[]): void {
    for (const { id, address } of rows) {
      numbers.set(address as SenderAddress, id)
      addresses.set(id, address as SenderAddress)
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
      for (const address of missing) underWay.delete(address)
    })
    for (const address of missing) underWay.set(address, found)
  }

  return {
    numbersOf: async (wanted) => {
      const missing = [...wanted].filter((address) => !numbers.has(address))
      if (missing.length === 0) return numbers
      const fresh = missing.filter((address) => !underWay.has(address))
      if (fresh.length > 0) lookUp(fresh)
      await Promise.all(missing.flatMap((address) => underWay.get(address) ?? []))
      return numbers
    },
    addressesOf: async (wanted) => {
      const missing = [...wanted].filter((id) => !addresses.has(id))
      if (missing.length > 0) learn(await retryOnConnectionLoss(hot, senderAddresses, { numbers: missing }))
      return addresses
    },
  }
}

/** Throws if it was not asked for. */
export function numberOf(numbers: NumbersOfSenders, address: SenderAddress): number {
  const number = numbers.get(address)
  if (number === undefined) throw new Error('an address has no number')
  return number
}
