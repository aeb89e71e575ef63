import type { Command } from 'commander'
import { command } from '../command.ts'
import type { Context, Run } from '../context.ts'
import type { Row } from '../output.ts'
import { accountCells, accountHead, accountJson } from '../show.ts'

export const accountList = (run: Run): Command =>
  command('list', 'list all accounts with their credits').action(() =>
    run(async ({ backOffice, output }) => {
      await output.rows(accountHead, rows(backOffice))
    }),
  )

async function* rows(backOffice: Context['backOffice']): AsyncIterable<Row> {
  for await (const { account, balance } of backOffice.listAccounts()) {
    yield { json: accountJson(account, balance), cells: accountCells(account, balance) }
  }
}
