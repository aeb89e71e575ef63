import type { SenderAddress } from '@gateway/core/messages'
import { readAccount, readCode, type AccountName } from '../arguments.ts'
import { command, Refused, type Run } from '../command.ts'
import { noSuchAccount } from './account.ts'

export const shortcodeAssign = (run: Run) =>
  command(
    'assign',
    'assign a short or long code to an account: its messages are sent from the code, and it gets the messages to the code',
    'gateway shortcode assign 31022 3',
  )
    .argument('<code>', 'the code, 3 to 15 digits', readCode)
    .argument('<account>', "the account's id or login", readAccount)
    .action((code: SenderAddress, name: AccountName) =>
      run(async ({ accountId, backOffice, output }) => {
        const account = await accountId(name)
        const assigned = await backOffice.commands.assignShortCode(code, account)
        if (assigned === 'no-such-account') throw noSuchAccount(account)
        if (assigned === 'taken') throw new Refused(`${code} belongs to another account. Release it first.`)
        const text = assigned === 'assigned' ? 'belongs' : 'belonged already'
        output.result(
          { shortCode: code, account, assigned: assigned === 'assigned' },
          `${code} ${text} to account ${account}.`,
        )
      }),
    )

export const shortcodeRelease = (run: Run) =>
  command('release', 'remove a code from its account; people can still reply to messages sent from it')
    .argument('<code>', 'the code', readCode)
    .action((code: SenderAddress) =>
      run(async ({ backOffice, output }) => {
        if (!(await backOffice.commands.releaseShortCode(code))) throw new Refused(`${code} belongs to no account.`)
        output.result({ shortCode: code, released: true }, `${code} no longer belongs to an account.`)
      }),
    )

export const shortcodeList = (run: Run) =>
  command('list', 'list the codes and their accounts').action(() =>
    run(async ({ backOffice, output }) => {
      const codes = await backOffice.queries.listShortCodes()
      await output.rows(
        ['CODE', 'ACCOUNT'],
        codes.map(({ code, account }) => ({ json: { shortCode: code, account }, cells: [code, String(account)] })),
      )
    }),
  )
