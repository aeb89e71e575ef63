import type { AccountId } from '@gateway/core'
import { Argument, type Command } from 'commander'
import { readAccountId } from '../arguments.ts'
import { command } from '../command.ts'
import { Refused, type Run } from '../context.ts'
import { printable } from '../output.ts'
import { accountCells, accountHead, accountJson } from '../show.ts'

export const accountShow = (run: Run): Command =>
  command('show', 'show one account')
    .addArgument(new Argument('<id>', "the account's id").argParser(readAccountId))
    .action((id: AccountId) =>
      run(async ({ backOffice, output }) => {
        const found = await backOffice.findAccount(id)
        if (found === undefined) throw new Refused(`There is no account ${id}.`)
        const cells = accountCells(found.account, found.balance).map(printable)
        const lines = accountHead.map((name, at) => `${name.toLowerCase().padEnd(8)} ${cells[at] ?? ''}`.trimEnd())
        output.result(accountJson(found.account, found.balance), lines.join('\n'))
      }),
    )
