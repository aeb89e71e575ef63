import type { AccountId } from '@gateway/core/accounts'
import type { TemplateId, Templates } from '@gateway/core/bulk-sends'
import type { Context } from '../context.ts'
import type { Connections } from '../connections.ts'
import { addTemplate, changeTemplate, listTemplates, lockTemplates, removeTemplate } from '../sql/templates.ts'

export function postgresTemplates({ pools: { ordinary } }: Context): Templates {
  /** Runs changes of an account's templates one after the other, because names and their number are compared. */
  const inTurn = <T>(account: AccountId, work: (connection: Pick<Connections, 'run'>) => Promise<T>): Promise<T> =>
    ordinary.transaction(async (connection) => {
      await connection.run(lockTemplates, { account })
      return work(connection)
    })

  return {
    list: async (account) =>
      (await ordinary.run(listTemplates, { account })).map(({ id, name, text }) => ({
        id: id as TemplateId,
        name,
        text,
      })),
    add: (account, { name, text }) =>
      inTurn(account, async (connection) => {
        const [row] = await connection.run(addTemplate, { account, name, text })
        if (row === undefined) throw new Error('adding a template returned no row')
        if (row.id !== null) return row.id as TemplateId
        return row.isTaken ? 'name-taken' : 'too-many'
      }),
    change: (account, id, { name, text }) =>
      inTurn(account, async (connection) => {
        const [row] = await connection.run(changeTemplate, { account, id, name, text })
        if (row === undefined) return 'no-such-template'
        return row.id === null ? 'name-taken' : 'changed'
      }),
    remove: async (account, id) => (await ordinary.run(removeTemplate, { account, id })).length > 0,
  }
}
