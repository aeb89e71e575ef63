import type { AccountId, Accounts, AccountWithBalance } from '@gateway/core'
import { notifyOthers } from '../changes.ts'
import type { Context } from '../context.ts'
import type { Pools } from '../pools.ts'
import { selectAccounts, withBalance } from './account-row.ts'
import { changeAccount } from './change-account.ts'
import { issueKey, keysOf, revokeKey, setKeyFrom } from './api-keys.ts'
import { openAccount } from './open-account.ts'
import { rememberedAccounts } from './remembered-accounts.ts'

export function postgresAccounts(context: Context): Accounts {
  const { pools, changes } = context
  const { kysely } = pools

  async function find(id: AccountId): Promise<AccountWithBalance | undefined> {
    const row = await selectAccounts(pools).where('account.id', '=', id).executeTakeFirst()
    return row && withBalance(row)
  }

  async function subAccounts(main: AccountId): Promise<readonly AccountWithBalance[]> {
    const rows = await selectAccounts(pools).where('account.parent_id', '=', main).orderBy('account.id').execute()
    return rows.map(withBalance)
  }

  async function setLocked(id: AccountId, locked: boolean): Promise<boolean> {
    const changed = kysely.updateTable('account').set({ locked }).where('id', '=', id)
    return (await changed.returning(notifyOthers.as('told')).execute()).length > 0
  }

  async function setPassword(id: AccountId, password: string | undefined): Promise<boolean> {
    const changed = kysely
      .updateTable('directory')
      .set({ password_hash: password ?? null })
      .where('account_id', '=', id)
    return (await changed.returning(notifyOthers.as('told')).execute()).length > 0
  }
  return {
    ...rememberedAccounts(context),
    find,
    list: () => listed(pools),
    subAccounts,
    open: (opened, now) => changes.around(openAccount(kysely, opened, now)),
    change: (id, change) => changes.around(changeAccount(kysely, id, change)),
    setLocked: (id, locked) => changes.around(setLocked(id, locked)),
    setPassword: (id, password) => changes.around(setPassword(id, password)),
    issueKey: (id, key, now) => issueKey(kysely, id, key, now),
    keys: (id) => keysOf(kysely, id),
    setKeyFrom: (key, from) => changes.around(setKeyFrom(kysely, key, from)),
    revokeKey: (key, now) => changes.around(revokeKey(kysely, key, now)),
  }
}

const pageRows = 1000

async function* listed(pools: Pools): AsyncIterable<AccountWithBalance> {
  for (let after = 0; ;) {
    const rows = await selectAccounts(pools)
      .where('account.id', '>', after)
      .orderBy('account.id')
      .limit(pageRows)
      .execute()
    yield* rows.map(withBalance)
    const last = rows.at(-1)
    if (last === undefined || rows.length < pageRows) return
    after = last.id
  }
}
