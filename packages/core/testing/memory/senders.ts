import {
  preferredBy,
  type AccountId,
  type AssignedCode,
  type Msisdn,
  type Order,
  type SenderAddress,
  type Senders,
} from '@gateway/core'
import { chooseSender } from '../contracts/specification/messages.ts'
import { atomic } from './atomic.ts'
import type { MemoryStore } from './store.ts'

export const memorySenders = (store: MemoryStore): Senders => ({
  assign: atomic((code, account) => assign(store, code, account)),
  release: atomic((code) => {
    const owner = store.codes.get(code)
    if (owner !== undefined) setCodes(store, owner, (codes) => codes.filter((one) => one !== code))
    return store.codes.delete(code)
  }),
  assigned: atomic(() =>
    [...store.codes]
      .map(([code, account]): AssignedCode => ({ code, account }))
      .sort((a, b) => (a.code < b.code ? -1 : 1)),
  ),
})

/** The address that a message of the order to this number leaves from. */
export function senderOf(store: MemoryStore, { account, senders }: Order, number: Msisdn): SenderAddress {
  const chosen = store.chosenSenders.get(number) ?? new Map<AccountId, SenderAddress>()
  store.chosenSenders.set(number, chosen)
  const ofOthers = [...chosen].flatMap(([other, address]) => (other === account ? [] : [address]))
  const address = chooseSender(preferredBy(account, senders), chosen.get(account), new Set(ofOthers))
  if (address === undefined) throw new Error('there is no address to choose from')
  if (senders.length > 1) chosen.set(account, address)
  return address
}

function assign(
  store: MemoryStore,
  code: SenderAddress,
  account: AccountId,
): 'assigned' | 'already' | 'taken' | 'no-such-account' {
  if (!store.accounts.has(account)) return 'no-such-account'
  const owner = store.codes.get(code)
  if (owner !== undefined) return owner === account ? 'already' : 'taken'
  store.codes.set(code, account)
  store.addresses.add(code)
  setCodes(store, account, (codes) => [...codes, code])
  return 'assigned'
}

function setCodes(
  store: MemoryStore,
  id: AccountId,
  change: (codes: readonly SenderAddress[]) => readonly SenderAddress[],
): void {
  const row = store.accounts.get(id)
  if (row !== undefined) row.account = { ...row.account, shortCodes: change(row.account.shortCodes) }
}
