import type { AccountId } from '@gateway/core'
import { Argument, type Command } from 'commander'
import { readAccountId } from '../arguments.ts'
import { command } from '../command.ts'
import { Refused, type Run } from '../context.ts'

export const accountUnlock = (run: Run): Command =>
  command('unlock', 'unlock an account')
    .addArgument(new Argument('<id>', "the account's id").argParser(readAccountId))
    .action((id: AccountId) =>
      run(async ({ backOffice, output }) => {
        if ((await backOffice.unlockAccount(id)) !== 'unlocked') throw new Refused(`There is no account ${id}.`)
        output.result({ id, locked: false }, `Account ${id} is unlocked.`)
      }),
    )
