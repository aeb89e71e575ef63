import { credits, plus, type AccountId, type Credits, type Instant, type Ledger, type LedgerCheck } from '@gateway/core'
import { atomic } from './atomic.ts'
import { enter } from './money.ts'
import type { MemoryStore } from './store.ts'

export const memoryLedger = (store: MemoryStore): Ledger => ({
  balance: atomic((id) => store.accounts.get(id)?.balance),
  topUp: atomic((id, amount, why, now) => topUp(store, id, amount, why, now)),
  check: atomic(() => check(store)),
})

function topUp(store: MemoryStore, id: AccountId, amount: Credits, why: string, now: Instant) {
  const row = store.accounts.get(id)
  if (row === undefined) return 'no-such-account'
  const balance = row.balance + amount
  return balance >= 0 && Number.isSafeInteger(balance) ? enter(row, amount, why, now) : 'out-of-range'
}

function check(store: MemoryStore): LedgerCheck {
  const rows = [...store.accounts.values()].map(({ account, balance, entries }) => ({
    account: account.id,
    balance,
    entries: sum(entries.map(({ amount }) => amount)),
  }))
  return {
    accounts: rows.length,
    balances: sum(rows.map(({ balance }) => balance)),
    differences: rows.filter(({ balance, entries }) => balance !== entries),
  }
}

const sum = (amounts: readonly Credits[]): Credits => amounts.reduce(plus, credits(0))
