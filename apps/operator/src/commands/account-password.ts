import type { AccountId } from '@gateway/core'
import { Option } from 'commander'
import { readAccountId } from '../arguments.ts'
import { command } from '../command.ts'
import { Refused, type Run } from '../context.ts'
import { givenPassword } from '../given-password.ts'
import { noSuchAccount } from './account-of.ts'

interface Options {
  readonly password?: string
  readonly generate?: true
}

export const accountPassword = (run: Run) =>
  command(
    'password',
    "set an account's password; without an option it is asked for, or read from a pipe",
    'gateway account password 3 < password.txt',
  )
    .argument('<id>', "the account's id", readAccountId)
    .addOption(
      new Option('--password <password>', "the new password; '-', the default, reads it from standard input").conflicts(
        'generate',
      ),
    )
    .option('--generate', 'make a random password and print it, this once')
    .action((id: AccountId, options: Options) =>
      run(async ({ backOffice, ports, output, input }) => {
        const password = options.generate
          ? ports.secrets.newPassword()
          : await givenPassword(options.password ?? '-', { input, output })
        const set = await backOffice.setPassword(id, password)
        if (set === 'no-such-account') throw noSuchAccount(id)
        if (set === 'invalid-password') throw new Refused('A password is 1 to 255 characters and more than spaces.')
        const shown = options.generate ? { password } : {}
        output.result(
          { id, ...shown },
          `The password of account ${id} is set.${options.generate ? ` It is ${password}` : ''}`,
        )
      }),
    )
