import type { AccountId } from '@gateway/core/accounts'
import { templateLimits, type Templates } from '@gateway/core/bulk-sends'
import { sql, type Transaction } from 'kysely'
import type { Context } from '../context.ts'
import { hasRow } from '../query-parts.ts'
import type { Tables } from '../tables.ts'

export function postgresTemplates({ pools: { kysely } }: Context): Templates {
  const ofAccount = (transaction: Transaction<Tables>, account: AccountId) =>
    transaction.selectFrom('template').select(['id', 'name']).where('account_id', '=', account).execute()

  /**
   * Runs changes of an account's templates one after the other, because each compares names and counts templates. Locks
   * the account for that.
   */
  const inTurn = <T>(account: AccountId, work: (transaction: Transaction<Tables>) => Promise<T>): Promise<T> =>
    kysely.transaction().execute(async (transaction) => {
      await transaction.selectFrom('account').select('id').where('id', '=', account).forNoKeyUpdate().execute()
      return work(transaction)
    })

  return {
    list: (account) =>
      kysely
        .selectFrom('template')
        .select(['id', 'name', 'text'])
        .where('account_id', '=', account)
        .orderBy(sql`name collate "C"`)
        .execute(),
    add: (account, { name, text }) =>
      inTurn(account, async (transaction) => {
        const templates = await ofAccount(transaction, account)
        if (templates.some((template) => template.name === name)) return 'name-taken'
        if (templates.length >= templateLimits.perAccountMax) return 'too-many'
        const template = { account_id: account, name, text }
        const added = transaction.insertInto('template').values(template).returning('id')
        return (await added.executeTakeFirstOrThrow()).id
      }),
    change: (account, id, { name, text }) =>
      inTurn(account, async (transaction) => {
        const templates = await ofAccount(transaction, account)
        if (!templates.some((template) => template.id === id)) return 'no-such-template'
        if (templates.some((template) => template.name === name && template.id !== id)) return 'name-taken'
        await transaction.updateTable('template').set({ name, text }).where('id', '=', id).execute()
        return 'changed'
      }),
    remove: (account, id) =>
      hasRow(kysely.deleteFrom('template').where('account_id', '=', account).where('id', '=', id).returning('id')),
  }
}
