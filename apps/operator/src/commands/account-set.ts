import type { AccountId, Msisdn } from '@gateway/core'
import { Option } from 'commander'
import { readAccountId, readNetworks, readNumber } from '../arguments.ts'
import { command } from '../command.ts'
import { Refused, type Run } from '../context.ts'
import { changeAndShow } from './change-and-show.ts'

interface Options {
  readonly login?: string
  readonly firstName?: string
  readonly surname?: string
  readonly trial?: 'on' | 'off'
  readonly ownNumber?: Msisdn
  readonly transactional?: 'on' | 'off'
  readonly from?: readonly string[]
}

const onOrOff = (flags: string, description: string): Option => new Option(flags, description).choices(['on', 'off'])

export const accountSet = (run: Run) =>
  command(
    'set',
    'change what an account is called and what it may; the rest stays as it is',
    'gateway account set 3 --trial off --transactional on',
  )
    .argument('<id>', "the account's id", readAccountId)
    .option('--login <login>', 'another user name, unique in any letter case; the old one opens nothing any more')
    .option('--first-name <name>', "for lists of sub accounts; '' for none")
    .option('--surname <name>', "for lists of sub accounts; '' for none")
    .addOption(onOrOff('--trial <on|off>', 'off: end its trial; on: it cannot send to its own number'))
    .option('--own-number <number>', 'the own number of a trial account, with --trial on', readNumber)
    .addOption(onOrOff('--transactional <on|off>', 'whether its messages may pass the do-not-contact list'))
    .option(
      '--from <networks>',
      "addresses or networks from which alone its password may be used, separated by ','; 'any' for no such limit",
      readNetworks,
    )
    .action((id: AccountId, options: Options) => {
      const { login, firstName, surname, trial, ownNumber, transactional, from } = options
      if (Object.keys(options).every((name) => name === 'json')) throw new Refused('Say what to change: see --help.', 2)
      if ((trial === 'on') !== (ownNumber !== undefined))
        throw new Refused('--trial on and --own-number go together.', 2)
      return run((context) =>
        changeAndShow(context, id, {
          login,
          firstName,
          surname,
          trial: ownNumber === undefined ? (trial === 'off' ? null : undefined) : { ownNumber },
          transactional: transactional === undefined ? undefined : transactional === 'on',
          from,
        }),
      )
    })
