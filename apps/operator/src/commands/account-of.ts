import type { Account, AccountId, BackOffice } from '@gateway/core'
import { Refused } from '../context.ts'

export async function accountOf(backOffice: Pick<BackOffice, 'findAccount'>, id: AccountId): Promise<Account> {
  const found = await backOffice.findAccount(id)
  if (found === undefined) throw noSuchAccount(id)
  return found.account
}

export const noSuchAccount = (id: AccountId): Refused => new Refused(`There is no account ${id}.`)
