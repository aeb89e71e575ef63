import { formatCredits, type AccountId, type Credits, type Msisdn } from '@gateway/core'
import { readAccountId, readCredits, readNumber } from '../arguments.ts'
import { command } from '../command.ts'
import { Refused, type Run } from '../context.ts'
import { givenPassword } from '../given-password.ts'
import { creditsJson } from '../show.ts'

interface Options {
  readonly login: string
  readonly password?: string
  readonly parent?: AccountId
  readonly credits?: Credits
  readonly trial?: true
  readonly ownNumber?: Msisdn
  readonly transactional?: true
  readonly firstName?: string
  readonly surname?: string
}

const WORDS = {
  'invalid-login': 'A login is 1 to 64 printable ASCII characters without spaces.',
  'invalid-password': 'A password is 1 to 255 characters and more than spaces.',
  'negative-credits': 'An account cannot begin with less than 0.0 credits.',
  'login-taken': 'There is an account with this login already.',
  'no-such-parent': 'There is no account with the id given as --parent.',
  'parent-is-sub-account': 'The account given as --parent is itself a sub account; sub accounts have none.',
} as const

export const accountOpen = (run: Run) =>
  command(
    'open',
    'open a main or sub account',
    'gateway account open --login acme --credits 500 --password -   (asks for the password, or reads it from a pipe)',
  )
    .requiredOption('--login <login>', 'its user name, unique in any letter case')
    .option(
      '--password <password>',
      "its password for the legacy interfaces; '-' reads it from standard input, where nobody else sees it",
    )
    .option('--parent <id>', 'open it as a sub account of this main account', readAccountId)
    .option('--credits <amount>', 'credits that it begins with', readCredits)
    .option('--trial', 'a trial account: it cannot send to its own number')
    .option('--own-number <number>', 'the own number of a trial account', readNumber)
    .option('--transactional', 'its messages may pass the do-not-contact list')
    .option('--first-name <name>', 'for lists of sub accounts')
    .option('--surname <name>', 'for lists of sub accounts')
    .action((options: Options) => {
      if ((options.trial === undefined) !== (options.ownNumber === undefined)) {
        throw new Refused('--trial and --own-number go together.', 2)
      }
      return run(async ({ backOffice, output, input }) => {
        const { password: given } = options
        const password = given === undefined ? undefined : await givenPassword(given, { input, output })
        const opened = await backOffice.openAccount({
          ...options,
          password,
          trial: options.ownNumber === undefined ? undefined : { ownNumber: options.ownNumber },
        })
        if (typeof opened === 'string') throw new Refused(WORDS[opened])
        const credits = options.credits
        output.result(
          { id: opened, login: options.login, balance: credits === undefined ? 0 : creditsJson(credits) },
          `Account ${opened} (${options.login}) is open with ${credits === undefined ? '0.0' : formatCredits(credits)} credits.`,
        )
      })
    })
