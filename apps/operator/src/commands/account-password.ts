import type { AccountId } from '@gateway/core'
import { Argument, type Command } from 'commander'
import { readAccountId } from '../arguments.ts'
import { command } from '../command.ts'
import { Refused, type Run } from '../context.ts'

interface Options {
  readonly password?: string
  readonly generate?: true
}

export const accountPassword = (run: Run): Command =>
  command('password', "set an account's password; without an option it is read from standard input")
    .addArgument(new Argument('<id>', "the account's id").argParser(readAccountId))
    .option('--password <password>', "the new password; '-' reads it from standard input")
    .option('--generate', 'make a random password and print it, this once')
    .action((id: AccountId, options: Options) =>
      run(async ({ backOffice, ports, output, input }) => {
        if (options.generate && options.password !== undefined) {
          throw new Refused('--password and --generate exclude each other.', 2)
        }
        const typed = options.password === '-' ? undefined : options.password
        const password = options.generate
          ? ports.secrets.newPassword()
          : (typed ?? (await input.secret('New password: ')))
        const set = await backOffice.setPassword(id, password)
        if (set === 'no-such-account') throw new Refused(`There is no account ${id}.`)
        if (set === 'invalid-password') throw new Refused('A password is 1 to 255 characters and more than spaces.')
        const shown = options.generate ? { password } : {}
        output.result(
          { id, ...shown },
          `The password of account ${id} is set.${options.generate ? ` It is ${password}` : ''}`,
        )
      }),
    )
