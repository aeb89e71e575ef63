import type { AccountId } from '@gateway/core'
import { readAccountId } from '../arguments.ts'
import { command } from '../command.ts'
import type { Run } from '../context.ts'
import { noSuchAccount } from './account-of.ts'

export const accountLock = (run: Run) =>
  command('lock', 'lock an account: it reads, but neither sends nor transfers')
    .argument('<id>', "the account's id", readAccountId)
    .action((id: AccountId) =>
      run(async ({ backOffice, output }) => {
        if ((await backOffice.lockAccount(id)) !== 'locked') throw noSuchAccount(id)
        output.result({ id, locked: true }, `Account ${id} is locked.`)
      }),
    )

export const accountUnlock = (run: Run) =>
  command('unlock', 'unlock an account')
    .argument('<id>', "the account's id", readAccountId)
    .action((id: AccountId) =>
      run(async ({ backOffice, output }) => {
        if ((await backOffice.unlockAccount(id)) !== 'unlocked') throw noSuchAccount(id)
        output.result({ id, locked: false }, `Account ${id} is unlocked.`)
      }),
    )
