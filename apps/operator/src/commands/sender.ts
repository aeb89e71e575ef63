import type { CarrierId } from '@gateway/core/dispatch'
import { isNameOfSender, type AllowedSender, type SenderAddress } from '@gateway/core/messages'
import {
  defaultPrefix,
  readAccount,
  readCarriers,
  readPrefixes,
  readSenderName,
  type AccountName,
} from '../arguments.ts'
import { command, Refused, type Run } from '../command.ts'
import type { Row } from '../output.ts'
import { noSuchAccount } from './account.ts'

interface AddOptions {
  readonly to?: readonly string[]
  readonly defaultFor?: readonly string[]
  readonly carriers?: readonly CarrierId[]
  readonly refuse?: true
}

const WORDS = {
  'invalid-prefix': 'A prefix is 1 to 15 digits, the first not 0.',
  unwritable: 'A sender may only contain ASCII characters.',
} as const

export const senderAdd = (run: Run) =>
  command(
    'add',
    'allow an account to use a sender, or replace the conditions; omitted options return to their defaults',
    'gateway sender add 3 Acme --default-for 27 --carriers one\n  gateway sender add 3 31022 --to 27 --refuse',
  )
    .argument('<account>', "the account's id or login", readAccount)
    .argument(
      '<sender>',
      '3 to 15 digits, or a name of 1 to 11 characters (nobody can reply to a name)',
      readSenderName,
    )
    .option('--to <prefixes>', "only for numbers with these prefixes, separated by ','", readPrefixes)
    .option(
      '--default-for <prefixes>',
      `used for numbers with these prefixes if a send names no sender; '${defaultPrefix}' for all others`,
      readPrefixes,
    )
    .option(
      '--carriers <names>',
      "only over these carriers, where the sender is registered, separated by ','",
      readCarriers,
    )
    .option(
      '--refuse',
      'refuse a message whose number or carrier does not allow the sender; default: use another sender',
    )
    .action((name: AccountName, sender: SenderAddress, { to, defaultFor, carriers, refuse }: AddOptions) =>
      run(async ({ accountId, backOffice, output }) => {
        const account = await accountId(name)
        const allowed: AllowedSender = {
          ...{ account, sender, destinations: to ?? [], defaultFor: defaultFor ?? [], carriers: carriers ?? [] },
          otherwise: refuse === true ? 'refuse' : 'replace',
        }
        const added = await backOffice.commands.allowSender(allowed)
        if (added === 'no-such-account') throw noSuchAccount(account)
        if (added === 'invalid-prefix' || added === 'unwritable') throw new Refused(WORDS[added])
        const replies = isNameOfSender(sender)
          ? ' Nobody can reply to a name, so recipients need another way to opt out.'
          : ''
        const done = added === 'added' ? 'may use' : 'may now, with new conditions, use'
        output.result(
          jsonOf(allowed),
          `Account ${account} ${done} ${sender}. Every process applies it within 5 seconds.${replies}`,
        )
      }),
    )

export const senderRemove = (run: Run) =>
  command('remove', 'forbid an account to use a sender; accepted messages keep it')
    .argument('<account>', "the account's id or login", readAccount)
    .argument('<sender>', 'the sender', readSenderName)
    .action((name: AccountName, sender: SenderAddress) =>
      run(async ({ accountId, backOffice, output }) => {
        const account = await accountId(name)
        if (!(await backOffice.commands.disallowSender(account, sender)))
          throw new Refused(`Account ${account} was not allowed to use ${sender}.`)
        output.result({ account, sender, removed: true }, `Account ${account} may no longer use ${sender}.`)
      }),
    )

const head = ['ACCOUNT', 'SENDER', 'TO', 'DEFAULT FOR', 'CARRIERS', 'OTHERWISE']

export const senderList = (run: Run) =>
  command('list', 'list the senders that accounts may use')
    .option('--account <account>', 'only the senders of this account', readAccount)
    .action(({ account: name }: { readonly account?: AccountName }) =>
      run(async ({ accountId, backOffice, output }) => {
        const account = name && (await accountId(name))
        const all = await backOffice.queries.listAllowedSenders()
        await output.rows(head, all.filter((one) => account === undefined || one.account === account).map(rowOf))
      }),
    )

const prefixWord = (prefix: string): string => (prefix === '' ? defaultPrefix : prefix)

const jsonOf = ({ account, sender, destinations, defaultFor, carriers, otherwise }: AllowedSender) => ({
  ...{ account, sender, destinations: destinations.map(prefixWord), defaultFor: defaultFor.map(prefixWord) },
  ...{ carriers, otherwise },
})

const textOf = (some: readonly string[], none: string): string =>
  some.length === 0 ? none : some.map(prefixWord).join(',')

const rowOf = (one: AllowedSender): Row => ({
  json: jsonOf(one),
  cells: [
    ...[String(one.account), one.sender, textOf(one.destinations, 'all'), textOf(one.defaultFor, '-')],
    ...[textOf(one.carriers, 'all'), one.otherwise],
  ],
})
