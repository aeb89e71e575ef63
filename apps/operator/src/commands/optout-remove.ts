import type { AccountId, Msisdn } from '@gateway/core'
import { readAccountId, readNumber } from '../arguments.ts'
import { command } from '../command.ts'
import { Refused, type Run } from '../context.ts'
import { accountOf } from './account-of.ts'

export const optoutRemove = (run: Run) =>
  command('remove', 'let an account write to a number again that had opted out, whoever had made the entry')
    .argument('<account>', "the account's id", readAccountId)
    .argument('<number>', 'in international form', readNumber)
    .action((id: AccountId, number: Msisdn) =>
      run(async ({ backOffice, gateway, output }) => {
        if (!(await gateway.removeOptOut(await accountOf(backOffice, id), number))) {
          throw new Refused(`${number} had not opted out of the messages of account ${id}.`)
        }
        output.result({ account: id, number, removed: true }, `Account ${id} can write to ${number} again.`)
      }),
    )
