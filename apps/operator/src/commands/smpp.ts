import {
  alphabets0,
  alphabets1,
  smppDefaults,
  type Alphabet0,
  type Alphabet1,
  type RepliesBy,
  type ShownBind,
  type SmppCredential,
  type SmppCredentialId,
  type SmppSettings,
  type SmppSettingsRefusal,
} from '@gateway/core/smpp-customers'
import { Option, type Command } from 'commander'
import {
  readAccount,
  readNetworks,
  readPort,
  readReceiptOffset,
  readRepliesBy,
  readSmppCredentialId,
  readSmppLimit,
  type AccountName,
} from '../arguments.ts'
import { command, Refused, yesOption, type Run } from '../command.ts'
import type { Json, Row } from '../output.ts'
import { timeJson, timeText } from '../show.ts'
import { customerSheet } from '../smpp-sheet.ts'
import { accountOf, noSuchAccount } from './account.ts'

interface SettingOptions {
  readonly from?: readonly string[]
  readonly binds?: number
  readonly window?: number
  readonly perSecond?: number
  readonly alphabet0?: Alphabet0
  readonly alphabet1?: Alphabet1
  readonly country?: string
  readonly idempotent?: boolean
  readonly receiptOffset?: number
}

/** Adds the options of the settings of a credential. */
function withSettings(to: Command): Command {
  const usual = (value: string | number) => `default: ${value}`
  return to
    .option(
      '--from <networks>',
      "only addresses or networks that may bind, separated by ','; 'any' for all",
      readNetworks,
    )
    .option('--binds <number>', `maximum number of binds; ${usual(smppDefaults.binds)}`, readSmppLimit('binds'))
    .option(
      '--window <number>',
      `maximum number of requests of one bind without a response; ${usual(smppDefaults.window)}`,
      readSmppLimit('window'),
    )
    .option(
      '--per-second <number>',
      `maximum number of submissions per second; ${usual(smppDefaults.perSecond)}`,
      readSmppLimit('perSecond'),
    )
    .addOption(new Option('--alphabet0 <name>', 'alphabet of data_coding 0; default: gsm').choices(alphabets0))
    .addOption(new Option('--alphabet1 <name>', 'alphabet of data_coding 1; default: ascii').choices(alphabets1))
    .option('--country <code>', 'calling code that completes numbers of TON national; default: they are refused')
    .option('--idempotent', 'answer a repeated user_message_reference with the first result')
    .option('--no-idempotent', 'accept a repeated user_message_reference as another message (default)')
    .option('--receipt-offset <offset>', 'offset of dates in receipts from UTC; default: +00:00', readReceiptOffset)
}

const settingsOf = ({ idempotent: isIdempotent, receiptOffset: receiptOffsetMinutes, ...others }: SettingOptions) =>
  Object.fromEntries(
    Object.entries({ ...others, isIdempotent, receiptOffsetMinutes }).filter(([, value]) => value !== undefined),
  ) as Partial<SmppSettings>

const REFUSALS = {
  'binds-out-of-range': 'The number of binds is out of range.',
  'window-out-of-range': 'The window is out of range.',
  'rate-out-of-range': 'The rate is out of range.',
  'unknown-country': 'No country has this calling code.',
  'offset-out-of-range': 'The offset is out of range.',
  'unknown-alphabet': 'There is no such alphabet.',
} as const satisfies Record<SmppSettingsRefusal, string>

const isSettingsRefusal = (result: string): result is SmppSettingsRefusal => result in REFUSALS
const noSuchCredential = (id: SmppCredentialId): Refused => new Refused(`There is no SMPP credential ${id}.`)

const credentialJson = (credential: SmppCredential): Record<string, Json> => ({
  id: credential.id,
  account: credential.account,
  systemId: credential.systemId,
  networks: credential.from,
  binds: credential.binds,
  window: credential.window,
  perSecond: credential.perSecond,
  alphabet0: credential.alphabet0,
  alphabet1: credential.alphabet1,
  country: credential.country ?? null,
  idempotent: credential.isIdempotent,
  receiptOffsetMinutes: credential.receiptOffsetMinutes,
  created: timeJson(credential.created),
  rotated: timeJson(credential.rotated),
})

const secretText = ({ systemId }: SmppCredential, password: string): string =>
  `system_id: ${systemId}\npassword:  ${password}`

export const smppAdd = (run: Run) =>
  withSettings(
    command(
      'add',
      'add a credential with which a customer binds; its password is shown only once and stored only as a hash',
      'gateway smpp add --account 3 --from 192.0.2.0/24 --per-second 100',
    ).requiredOption('--account <account>', "the account's id or login", readAccount),
  ).action(({ account: name, ...options }: SettingOptions & { readonly account: AccountName }) =>
    run(async ({ accountId, backOffice, output }) => {
      const account = await accountId(name)
      const added = await backOffice.commands.addSmppCredential(account, settingsOf(options))
      if (added === 'no-such-account') throw noSuchAccount(account)
      if (typeof added === 'string') throw new Refused(REFUSALS[added])
      const { credential, password } = added
      output.result(
        { ...credentialJson(credential), password },
        `SMPP credential ${credential.id} of account ${account}, its password shown only now:\n${secretText(credential, password)}`,
      )
    }),
  )

const head = ['ID', 'ACCOUNT', 'SYSTEM ID', 'BINDS', 'WINDOW', 'PER SECOND', 'ALPHABETS', 'FROM']

export const smppList = (run: Run) =>
  command('list', 'list the SMPP credentials of all accounts or of one account')
    .option('--account <account>', 'only this account', readAccount)
    .action(({ account: name }: { readonly account?: AccountName }) =>
      run(async ({ accountId, backOffice, output }) => {
        const account = name && (await accountId(name))
        if (account !== undefined) await accountOf(backOffice, account)
        await output.rows(head, (await backOffice.queries.listSmppCredentials(account)).map(credentialRow))
      }),
    )

const credentialRow = (credential: SmppCredential): Row => {
  const { id, account, systemId, binds, window, perSecond, alphabet0, alphabet1, from } = credential
  const limits = [binds, window, perSecond].map(String)
  const cells = [String(id), String(account), systemId, ...limits, `${alphabet0}, ${alphabet1}`, from.join(', ')]
  return { json: credentialJson(credential), cells }
}

interface ShowOptions {
  readonly host: string
  readonly port: number
  readonly tlsPort?: number
}

export const smppShow = (run: Run) =>
  command(
    'show',
    'show a credential as a sheet for the customer: addresses, limits, alphabets, form of receipts',
    'gateway smpp show 1 --host sms.example.com --tls-port 3550',
  )
    .argument('<id>', "the credential's id, as 'smpp list' shows it", readSmppCredentialId)
    .option('--host <name>', 'the host that customers connect to', 'sms.example.com')
    .option('--port <port>', 'the port without TLS', readPort, 2775)
    .option('--tls-port <port>', 'the port with TLS, if there is one', readPort)
    .action((id: SmppCredentialId, { host, port, tlsPort }: ShowOptions) =>
      run(async ({ backOffice, output }) => {
        const credential = await backOffice.queries.findSmppCredential(id)
        if (credential === undefined) throw noSuchCredential(id)
        const replies = await backOffice.queries.repliesBy(credential.account)
        const sheet = customerSheet(credential, { host, port, tlsPort, replies })
        output.one({ ...credentialJson(credential), host, port, tlsPort: tlsPort ?? null, replies }, sheet)
      }),
    )

export const smppSet = (run: Run) =>
  withSettings(
    command(
      'set',
      'change limits, alphabets and networks of a credential; a changed rate counts within a second',
      'gateway smpp set 1 --alphabet0 latin1',
    ).argument('<id>', "the credential's id, as 'smpp list' shows it", readSmppCredentialId),
  ).action((id: SmppCredentialId, options: SettingOptions) =>
    run(async ({ backOffice, output }) => {
      const settings = settingsOf(options)
      if (Object.keys(settings).length === 0) throw new Refused('Say what to change.', 2)
      const changed = await backOffice.commands.changeSmppCredential(id, settings)
      if (changed === 'no-such-credential') throw noSuchCredential(id)
      if (typeof changed === 'string') throw new Refused(isSettingsRefusal(changed) ? REFUSALS[changed] : changed)
      output.result(credentialJson(changed), `SMPP credential ${id} is changed.`)
    }),
  )

export const smppRotate = (run: Run) =>
  command('rotate', 'create a new password, shown only once; binds with the previous one are closed')
    .argument('<id>', "the credential's id, as 'smpp list' shows it", readSmppCredentialId)
    .action((id: SmppCredentialId) =>
      run(async ({ backOffice, output }) => {
        const rotated = await backOffice.commands.rotateSmppCredential(id)
        if (rotated === 'no-such-credential') throw noSuchCredential(id)
        const { credential, password } = rotated
        output.result(
          { ...credentialJson(credential), password },
          `The new password of SMPP credential ${id}, shown only now:\n${secretText(credential, password)}`,
        )
      }),
    )

export const smppRemove = (run: Run) =>
  command('remove', 'remove a credential; its binds are closed, and its waiting receipts go to the other binds')
    .argument('<id>', "the credential's id, as 'smpp list' shows it", readSmppCredentialId)
    .option(...yesOption)
    .action((id: SmppCredentialId, options: { readonly yes?: true }) =>
      run(async ({ backOffice, confirm, output }) => {
        await confirm(`Remove SMPP credential ${id}? Its customer is disconnected. This cannot be undone.`, options)
        if (!(await backOffice.commands.removeSmppCredential(id))) throw noSuchCredential(id)
        output.result({ id, state: 'removed' }, `SMPP credential ${id} is removed.`)
      }),
    )

const bindHead = [
  'ACCOUNT',
  'SYSTEM ID',
  'MODE',
  'FROM',
  'SINCE (GMT+2)',
  'SUBMITTED',
  'OUTSIDE ALPHABET',
  'LAST ERROR',
]

export const smppBinds = (run: Run) =>
  command('binds', 'list the binds of customers in all processes')
    .option('--account <account>', 'only this account', readAccount)
    .action(({ account: name }: { readonly account?: AccountName }) =>
      run(async ({ accountId, backOffice, output }) => {
        const account = name && (await accountId(name))
        if (account !== undefined) await accountOf(backOffice, account)
        await output.rows(bindHead, (await backOffice.queries.listSmppBinds(account)).map(bindRow))
      }),
    )

const bindRow = (bind: ShownBind): Row => {
  const { account, systemId, mode, remote, since, submissions, strayTexts, lastError, version, credential } = bind
  const lastErrorText = lastError ?? ''
  return {
    json: {
      ...{ account, credential, systemId, mode, remote, version: `0x${version.toString(16)}` },
      ...{ since: timeJson(since), submissions, textsOutsideAlphabet: strayTexts, lastError: lastError ?? null },
    },
    cells: [
      ...[String(account), systemId, mode, remote, timeText(since), String(submissions), String(strayTexts)],
      lastErrorText,
    ],
  }
}

export const smppReplies = (run: Run) =>
  command(
    'replies',
    'set who gets the replies to an account: its SMPP binds, its webhooks, or neither, so that it polls',
    'gateway smpp replies 3 webhook',
  )
    .argument('<account>', "the account's id or login", readAccount)
    .argument('<by>', 'smpp, webhook or polling', readRepliesBy)
    .action((name: AccountName, by: RepliesBy) =>
      run(async ({ accountId, backOffice, output }) => {
        const account = await accountId(name)
        await accountOf(backOffice, account)
        if (!(await backOffice.commands.setRepliesBy(account, by)))
          throw new Refused(`Account ${account} has no SMPP credential, so its replies go to its webhooks.`)
        output.result({ account, replies: by }, `Replies to account ${account} go by ${by}.`)
      }),
    )
