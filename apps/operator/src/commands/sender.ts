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
  unwritable: 'Carriers take senders in ASCII only: write it without other characters.',
} as const

export const senderAdd = (run: Run) =>
  command(
    'add',
    'let an account name a sender, or say anew how it may: what is left out is as without it',
    'gateway sender add 3 Acme --default-for 27 --carriers one\n  gateway sender add 3 31022 --to 27 --refuse',
  )
    .argument('<account>', "the account's id or login", readAccount)
    .argument('<sender>', '3 to 15 digits, or a name of 1 to 11 characters, to which nobody can reply', readSenderName)
    .option('--to <prefixes>', "only for numbers that begin so, separated by ','", readPrefixes)
    .option(
      '--default-for <prefixes>',
      `used for numbers that begin so where a send names none; '${defaultPrefix}' for all others`,
      readPrefixes,
    )
    .option(
      '--carriers <names>',
      "only over these carriers, with which it is registered, separated by ','",
      readCarriers,
    )
    .option('--refuse', 'where a number or carrier does not allow it, refuse the message; otherwise another is used')
    .action((name: AccountName, sender: SenderAddress, { to, defaultFor, carriers, refuse }: AddOptions) =>
      run(async ({ accountId, backOffice, output }) => {
        const account = await accountId(name)
        const allowed: AllowedSender = {
          ...{ account, sender, destinations: to ?? [], defaultFor: defaultFor ?? [], carriers: carriers ?? [] },
          otherwise: refuse === true ? 'refuse' : 'replace',
        }
        const added = await backOffice.allowSender(allowed)
        if (added === 'no-such-account') throw noSuchAccount(account)
        if (added === 'invalid-prefix' || added === 'unwritable') throw new Refused(WORDS[added])
        const replies = isNameOfSender(sender) ? ' Nobody can reply to it: opt-outs have to come in another way.' : ''
        const done = added === 'added' ? 'may use' : 'may now otherwise use'
        output.result(
          jsonOf(allowed),
          `Account ${account} ${done} ${sender}. Every process knows it within 5 seconds.${replies}`,
        )
      }),
    )

export const senderRemove = (run: Run) =>
  command('remove', 'let an account name a sender no more; what was accepted with it keeps it')
    .argument('<account>', "the account's id or login", readAccount)
    .argument('<sender>', 'the sender', readSenderName)
    .action((name: AccountName, sender: SenderAddress) =>
      run(async ({ accountId, backOffice, output }) => {
        const account = await accountId(name)
        if (!(await backOffice.disallowSender(account, sender)))
          throw new Refused(`Account ${account} was not allowed ${sender}.`)
        output.result({ account, sender, removed: true }, `Account ${account} may not use ${sender} any more.`)
      }),
    )

const head = ['ACCOUNT', 'SENDER', 'TO', 'DEFAULT FOR', 'CARRIERS', 'OTHERWISE']

export const senderList = (run: Run) =>
  command('list', 'list the senders that accounts may name')
    .option('--account <account>', 'only those of this account', readAccount)
    .action(({ account: name }: { readonly account?: AccountName }) =>
      run(async ({ accountId, backOffice, output }) => {
        const account = name && (await accountId(name))
        const all = await backOffice.listAllowedSenders()
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
