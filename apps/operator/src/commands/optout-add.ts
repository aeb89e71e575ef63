import type { AccountId, Msisdn } from '@gateway/core'
import { readAccountId, readNumber } from '../arguments.ts'
import { command } from '../command.ts'
import type { Run } from '../context.ts'
import { accountOf } from './account-of.ts'

export const optoutAdd = (run: Run) =>
  command(
    'add',
    'opt a number out of the messages of an account; nothing is sent to confirm it',
    'gateway optout add 3 27825550101',
  )
    .argument('<account>', "the account's id", readAccountId)
    .argument('<number>', 'in international form', readNumber)
    .action((id: AccountId, number: Msisdn) =>
      run(async ({ backOffice, gateway, output }) => {
        const added = await gateway.addOptOut(await accountOf(backOffice, id), number)
        const messages = `messages of account ${id}`
        output.result(
          { account: id, number, added: added === 'added' ? 1 : 0 },
          added === 'added'
            ? `${number} gets no more ${messages}.`
            : `${number} had opted out of the ${messages} already.`,
        )
      }),
    )
