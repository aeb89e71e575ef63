import { plus, type Cause, type Credits, type Instant } from '@gateway/core'
import type { AccountRow } from './rows.ts'

/** Enters a movement and what it makes of the balance, which it returns. */
export function enter(row: AccountRow, amount: Credits, cause: Cause, at: Instant): Credits {
  row.balance = plus(row.balance, amount)
  row.entries.push({ amount, cause, at })
  return row.balance
}
