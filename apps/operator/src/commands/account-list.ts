import type { AccountWithBalance } from '@gateway/core'
import { command } from '../command.ts'
import type { Run } from '../context.ts'
import { mapped, type Row } from '../output.ts'
import { accountCells, accountHead, accountJson } from '../show.ts'

export const accountList = (run: Run) =>
  command('list', 'list all accounts with their credits').action(() =>
    run(async ({ backOffice, output }) => {
      await output.rows(accountHead, mapped(backOffice.listAccounts(), row))
    }),
  )

const row = ({ account, balance }: AccountWithBalance): Row => ({
  json: accountJson(account, balance),
  cells: accountCells(account, balance),
})
