import type { AccountId, SenderAddress } from '@gateway/core'
import { readAccountId, readCode } from '../arguments.ts'
import { command } from '../command.ts'
import { Refused, type Run } from '../context.ts'
import { noSuchAccount } from './account-of.ts'

export const shortcodeAssign = (run: Run) =>
  command(
    'assign',
    'give a short or long code to an account: its messages leave from it, and what is sent to it is its own',
    'gateway shortcode assign 31022 3',
  )
    .argument('<code>', 'the code, 3 to 15 digits', readCode)
    .argument('<account>', "the account's id", readAccountId)
    .action((code: SenderAddress, account: AccountId) =>
      run(async ({ backOffice, output }) => {
        const assigned = await backOffice.assignShortCode(code, account)
        if (assigned === 'no-such-account') throw noSuchAccount(account)
        if (assigned === 'taken') throw new Refused(`${code} belongs to another account; release it first.`)
        const text = assigned === 'assigned' ? 'belongs' : 'belonged already'
        output.result(
          { shortCode: code, account, assigned: assigned === 'assigned' },
          `${code} ${text} to account ${account}.`,
        )
      }),
    )
