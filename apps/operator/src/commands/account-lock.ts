import type { AccountId } from '@gateway/core'
import { Argument, type Command } from 'commander'
import { readAccountId } from '../arguments.ts'
import { command } from '../command.ts'
import { Refused, type Run } from '../context.ts'

export const accountLock = (run: Run): Command =>
  command('lock', 'lock an account: it reads, but neither sends nor transfers')
    .addArgument(new Argument('<id>', "the account's id").argParser(readAccountId))
    .action((id: AccountId) =>
      run(async ({ backOffice, output }) => {
        if ((await backOffice.lockAccount(id)) !== 'locked') throw new Refused(`There is no account ${id}.`)
        output.result({ id, locked: true }, `Account ${id} is locked.`)
      }),
    )
