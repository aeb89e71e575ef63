import type { AccountId, AssignedCode, Msisdn, SenderAddress, Senders } from '@gateway/core'
import { atomic } from './atomic.ts'
import type { MemoryStore } from './store.ts'

export const memorySenders = (store: MemoryStore): Senders => ({
  choose: atomic((by, numbers, pool) => numbers.map((number) => choose(store, by, number, pool))),
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

function choose(store: MemoryStore, by: AccountId, number: Msisdn, pool: readonly SenderAddress[]): SenderAddress {
  const chosen = store.chosenSenders.get(number) ?? new Map<AccountId, SenderAddress>()
  store.chosenSenders.set(number, chosen)
  const before = chosen.get(by)
  if (before !== undefined && pool.includes(before)) return before
  const ofOthers = new Set([...chosen].flatMap(([account, address]) => (account === by ? [] : [address])))
  const turned = pool.map((_, i) => pool[(by + i) % pool.length])
  const address = turned.find((one) => one !== undefined && !ofOthers.has(one)) ?? turned[0]
  if (address === undefined) throw new Error('there is no address to choose from')
  chosen.set(by, address)
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
