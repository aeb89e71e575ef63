import type { BackOffice } from '@gateway/core'
import type { Account, AccountId, AccountWithBalance, AccountChange, ClosedAccount } from '@gateway/core/accounts'
import { formatCredits, type Credits } from '@gateway/core/credits'
import type { CallingCode, Msisdn } from '@gateway/core/messages'
import { Option } from 'commander'
import {
  readAccount,
  readCallingCode,
  readCredits,
  readNumber,
  readNetworks,
  readPerSecond,
  type AccountName,
} from '../arguments.ts'
import { Refused, command, yesOption, type Run, type Context } from '../command.ts'
import { mapped, type Row } from '../output.ts'
import { counted, creditsJson, accountCells, accountHead, accountJson, accountLines } from '../show.ts'

export async function accountOf({ queries }: Pick<BackOffice, 'queries'>, id: AccountId): Promise<Account> {
  const found = await queries.findAccount(id)
  if (found === undefined) throw noSuchAccount(id)
  return found.account
}

export const noSuchAccount = (id: AccountId): Refused => new Refused(`There is no account ${id}.`)

interface OpenOptions {
  readonly keepPassword?: true
  readonly login: string
  readonly password?: string
  readonly parent?: AccountName
  readonly credits?: Credits
  readonly trial?: true
  readonly ownNumber?: Msisdn
  readonly transactional?: true
  readonly firstName?: string
  readonly surname?: string
}

/** Sentences for the reasons why a password is refused. */
export const PASSWORD_WORDS = {
  'invalid-password': 'A password is 1 to 255 characters and more than spaces.',
  'too-short': 'A password has at least 10 characters.',
  'too-common': 'Many people use this password, so it is guessed first. Choose another one.',
} as const

const keepOption = [
  '--keep-password',
  'accept a short or common password, because programs of the account already use it',
] as const

const OPEN_WORDS = {
  'invalid-login': 'A login is 1 to 64 printable ASCII characters without spaces.',
  ...PASSWORD_WORDS,
  'negative-credits': 'The initial credits cannot be negative.',
  'login-taken': 'An account with this login already exists.',
  'no-such-parent': 'There is no account with the id given as --parent.',
  'parent-is-sub-account': 'The account given as --parent is itself a sub account; sub accounts have none.',
} as const

export const accountOpen = (run: Run) =>
  command(
    'open',
    'open a main or sub account',
    'gateway account open --login acme --credits 500 --password -   (asks for the password, or reads it from a pipe)',
  )
    .requiredOption('--login <login>', 'its user name, unique regardless of letter case')
    .option(
      '--password <password>',
      "its password for the legacy interfaces; '-' asks for it or reads it from a pipe, so that nobody else sees it",
    )
    .option(...keepOption)
    .option('--parent <account>', 'open it as a sub account of this main account', readAccount)
    .option('--credits <amount>', 'its initial credits', readCredits)
    .option('--trial', 'a trial account: it cannot send to its own number')
    .option('--own-number <number>', 'the own number of a trial account', readNumber)
    .option('--transactional', 'its messages may pass the do-not-contact list')
    .option('--first-name <name>', 'for lists of sub accounts')
    .option('--surname <name>', 'for lists of sub accounts')
    .action((options: OpenOptions) => {
      if ((options.trial === undefined) !== (options.ownNumber === undefined)) {
        throw new Refused('--trial and --own-number go together.', 2)
      }
      return run(async ({ accountId, backOffice, output, input }) => {
        const { password: option, parent } = options
        const password = option === undefined ? undefined : await readPassword(option, { input, output })
        const opened = await backOffice.commands.openAccount(
          {
            ...options,
            password,
            parent: parent && (await accountId(parent)),
            trial: options.ownNumber === undefined ? undefined : { ownNumber: options.ownNumber },
          },
          { isImported: options.keepPassword },
        )
        if (typeof opened === 'string') throw new Refused(OPEN_WORDS[opened])
        const credits = options.credits
        output.result(
          { id: opened, login: options.login, balance: credits === undefined ? 0 : creditsJson(credits) },
          `Account ${opened} (${options.login}) is open with ${credits === undefined ? '0.0' : formatCredits(credits)} credits.`,
        )
      })
    })

export const accountList = (run: Run) =>
  command('list', 'list all accounts with their credits').action(() =>
    run(async ({ backOffice, output }) => {
      await output.rows(accountHead, mapped(backOffice.queries.listAccounts(), row))
    }),
  )

const row = ({ account, balance }: AccountWithBalance): Row => ({
  json: accountJson(account, balance),
  cells: accountCells(account, balance),
})

export const accountShow = (run: Run) =>
  command('show', 'show one account, by its id or by its login', 'gateway account show acme')
    .argument('[account]', 'its id, or its login in any letter case; digits are an id if an account has it')
    .option('--login <login>', 'by this login, even if it consists of digits')
    .action((name: string | undefined, { login }: { readonly login?: string }) => {
      if ((name === undefined) === (login === undefined))
        throw new Refused('Name one account: its id, or its login.', 2)
      return run(async ({ backOffice, output }) => {
        const found =
          login === undefined
            ? await backOffice.queries.findAccountByName(name ?? '')
            : await backOffice.queries.findAccountByLogin(login)
        if (found === undefined) throw new Refused(`There is no account ${login ?? name}.`)
        output.one(accountJson(found.account, found.balance), accountLines(found.account, found.balance))
      })
    })

interface SetOptions {
  readonly login?: string
  readonly firstName?: string
  readonly surname?: string
  readonly trial?: 'on' | 'off'
  readonly ownNumber?: Msisdn
  readonly transactional?: 'on' | 'off'
  readonly from?: readonly string[]
  readonly callingCode?: CallingCode | 'none'
}

const onOrOff = (flags: string, description: string): Option => new Option(flags, description).choices(['on', 'off'])

export const accountSet = (run: Run) =>
  command(
    'set',
    'change the names and rights of an account; options that are not given change nothing',
    'gateway account set 3 --trial off --transactional on',
  )
    .argument('<account>', "the account's id or login", readAccount)
    .option('--login <login>', 'another user name, unique regardless of letter case; the old one stops working')
    .option('--first-name <name>', "for lists of sub accounts; '' for none")
    .option('--surname <name>', "for lists of sub accounts; '' for none")
    .addOption(onOrOff('--trial <on|off>', 'off: end its trial; on: it cannot send to its own number'))
    .option('--own-number <number>', 'the own number of a trial account, with --trial on', readNumber)
    .addOption(onOrOff('--transactional <on|off>', 'whether its messages may pass the do-not-contact list'))
    .option(
      '--from <networks>',
      "only addresses or networks from which its password may be used, separated by ','; 'any' removes the limit",
      readNetworks,
    )
    .option(
      '--calling-code <code>',
      "country of numbers without a country code in lists of the portal, such as 43; 'none' removes it",
      readCallingCode,
    )
    .action((name: AccountName, options: SetOptions) => {
      const { login, firstName, surname, trial, ownNumber, transactional, from, callingCode } = options
      if (Object.keys(options).every((name) => name === 'json')) throw new Refused('Say what to change: see --help.', 2)
      if ((trial === 'on') !== (ownNumber !== undefined))
        throw new Refused('--trial on and --own-number go together.', 2)
      return run(async (context) =>
        changeAndShow(context, await context.accountId(name), {
          login,
          firstName,
          surname,
          trial: ownNumber === undefined ? (trial === 'off' ? null : undefined) : { ownNumber },
          transactional: transactional === undefined ? undefined : transactional === 'on',
          from,
          callingCode: callingCode === 'none' ? null : callingCode,
        }),
      )
    })

interface LimitOptions {
  readonly requests?: number | 'none'
  readonly recipients?: number | 'none'
}

const limitOf = (option: number | 'none' | undefined): number | null | undefined => (option === 'none' ? null : option)

export const accountLimit = (run: Run) =>
  command(
    'limit',
    'limit requests and recipients of an account per second, over all interfaces and processes',
    'gateway account limit 3 --requests 50 --recipients 1000',
  )
    .argument('<account>', "the account's id or login", readAccount)
    .option('--requests <number>', "requests per second; 'none' removes the limit", readPerSecond)
    .option('--recipients <number>', "recipients of sends per second; 'none' removes the limit", readPerSecond)
    .action((name: AccountName, { requests, recipients }: LimitOptions) => {
      if (requests === undefined && recipients === undefined)
        throw new Refused('Say what to limit: --requests, --recipients, or both.', 2)
      return run(async (context) =>
        changeAndShow(context, await context.accountId(name), {
          requestsPerSecond: limitOf(requests),
          recipientsPerSecond: limitOf(recipients),
        }),
      )
    })

const CHANGE_WORDS = {
  'invalid-login': 'A login is 1 to 64 printable ASCII characters without spaces.',
  'login-taken': 'Another account has this login.',
} as const

/** Changes an account and prints its new state. */
export async function changeAndShow(
  { backOffice, output }: Pick<Context, 'backOffice' | 'output'>,
  id: AccountId,
  change: AccountChange,
): Promise<void> {
  const changed = await backOffice.commands.changeAccount(id, change)
  const found = changed === 'changed' ? await backOffice.queries.findAccount(id) : undefined
  if (changed === 'no-such-account' || (changed === 'changed' && found === undefined)) {
    throw noSuchAccount(id)
  }
  if (changed !== 'changed') throw new Refused(CHANGE_WORDS[changed])
  if (found !== undefined) {
    output.result(accountJson(found.account, found.balance), accountLines(found.account, found.balance))
  }
}

export const accountLock = (run: Run) =>
  command('lock', 'lock an account: it can read, but neither send nor transfer')
    .argument('<account>', "the account's id or login", readAccount)
    .action((name: AccountName) =>
      run(async ({ accountId, backOffice, output }) => {
        const id = await accountId(name)
        if ((await backOffice.commands.lockAccount(id)) !== 'locked') throw noSuchAccount(id)
        output.result({ id, locked: true }, `Account ${id} is locked.`)
      }),
    )

export const accountUnlock = (run: Run) =>
  command('unlock', 'unlock an account')
    .argument('<account>', "the account's id or login", readAccount)
    .action((name: AccountName) =>
      run(async ({ accountId, backOffice, output }) => {
        const id = await accountId(name)
        if ((await backOffice.commands.unlockAccount(id)) !== 'unlocked') throw noSuchAccount(id)
        output.result({ id, locked: false }, `Account ${id} is unlocked.`)
      }),
    )

interface CloseOptions {
  readonly writeOff?: string
  readonly yes?: true
}

export const accountClose = (run: Run) =>
  command(
    'close',
    'close an account: lock it, end its keys, password, codes, webhooks and SMPP credentials, cancel its scheduled messages and return their credits',
    "gateway account close 3 --write-off 'contract ended'",
  )
    .argument('<account>', "the account's id or login", readAccount)
    .option('--write-off <why>', 'remove its remaining credits, with this reason in the ledger')
    .option(...yesOption)
    .action((name: AccountName, { writeOff, ...confirmation }: CloseOptions) =>
      run(async ({ accountId, backOffice, confirm, output }) => {
        const id = await accountId(name)
        const { login } = await accountOf(backOffice, id)
        await confirm(
          `Close account ${id} (${login})? Its keys, password, codes, webhooks and SMPP credentials end for good, ` +
            `and its scheduled messages are cancelled.`,
          confirmation,
        )
        const closed = await backOffice.commands.closeAccount(id, writeOff)
        if (closed === 'no-such-account') throw noSuchAccount(id)
        if (closed === 'no-reason') throw new Refused('State the reason with --write-off.', 2)
        if (closed === 'has-open-sub-accounts')
          throw new Refused(`Account ${id} has sub accounts that are not locked. Close them first.`)
        const { refunded, writtenOff, balance, ...counts } = closed
        const amounts = {
          refundedCredits: creditsJson(refunded),
          writtenOff: creditsJson(writtenOff),
          balance: creditsJson(balance),
        }
        output.result({ id, locked: true, ...counts, ...amounts }, closedText(id, closed))
      }),
    )

function closedText(id: AccountId, closed: ClosedAccount): string {
  const { keysRevoked, codesReleased, webhooksRemoved, smppCredentialsRemoved, messagesDeleted } = closed
  const { refunded, writtenOff, balance } = closed
  return [
    `Account ${id} is closed: it is locked and has no password.`,
    `Ended: ${counted(keysRevoked, 'key')}, ${counted(codesReleased, 'code')}, ${counted(webhooksRemoved, 'webhook')}, ` +
      `${counted(smppCredentialsRemoved, 'SMPP credential')}.`,
    `Scheduled messages deleted: ${messagesDeleted}, ${formatCredits(refunded)} credits returned.`,
    `Written off: ${formatCredits(writtenOff)} credits; ${formatCredits(balance)} remain.`,
  ].join('\n')
}

interface FactorOptions {
  readonly require?: 'on' | 'off'
  readonly forget?: true
}

export const accountFactor = (run: Run) =>
  command(
    'factor',
    'require a second factor of an account at the portal, or remove a lost one',
    'gateway account factor 3 --require on',
  )
    .argument('<account>', "the account's id or login", readAccount)
    .addOption(onOrOff('--require <on|off>', 'whether signing in needs a second factor'))
    .option('--forget', 'remove the second factor; signing in then needs only the password')
    .action((name: AccountName, { require, forget }: FactorOptions) =>
      run(async ({ accountId, backOffice, output }) => {
        const id = await accountId(name)
        await accountOf(backOffice, id)
        if (require !== undefined) await backOffice.commands.requireAccountFactor(id, require === 'on')
        if (forget === true) await backOffice.commands.resetAccountFactor(id)
        const { factor, isRequired } = await backOffice.queries.showAccountFactor(id)
        output.result(
          { id, hasFactor: factor !== undefined, isRequired },
          `Account ${id} has ${factor === undefined ? 'no' : 'a'} second factor; ` +
            `it is ${isRequired ? '' : 'not '}required.`,
        )
      }),
    )

interface PasswordOptions {
  readonly keepPassword?: true
  readonly password?: string
  readonly generate?: true
}

export const accountPassword = (run: Run) =>
  command(
    'password',
    "set an account's password; without an option, asks for it or reads it from a pipe",
    'gateway account password 3 < password.txt',
  )
    .argument('<account>', "the account's id or login", readAccount)
    .addOption(
      new Option('--password <password>', "the new password; '-', the default, reads it from standard input").conflicts(
        'generate',
      ),
    )
    .option('--generate', 'create a random password and print it; it is not shown again')
    .option(...keepOption)
    .action((name: AccountName, options: PasswordOptions) =>
      run(async ({ accountId, backOffice, ports, output, input }) => {
        const id = await accountId(name)
        const password = options.generate
          ? ports.secrets.newPassword()
          : await readPassword(options.password ?? '-', { input, output })
        const set = await backOffice.commands.setPassword(id, password, { isImported: options.keepPassword })
        if (set === 'no-such-account') throw noSuchAccount(id)
        if (set !== 'set') throw new Refused(PASSWORD_WORDS[set])
        const shown = options.generate ? { password } : {}
        output.result(
          { id, ...shown },
          `The password of account ${id} is set.${options.generate ? ` It is ${password}` : ''}`,
        )
      }),
    )

/**
 * Returns the password of an option; `-` asks for it. Warns about a password on the command line, which others can see.
 */
export async function readPassword(
  option: string,
  { input, output }: Pick<Context, 'input' | 'output'>,
): Promise<string> {
  if (option === '-') return input.password()
  output.note(
    "Everybody on this machine can see a password on the command line (ps). Use '--password -' to be asked for it.",
  )
  return option
}
