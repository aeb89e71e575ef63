import type { BlockReason, Msisdn } from '@gateway/core'
import { Argument, Option, type Command } from 'commander'
import { readNumber } from '../arguments.ts'
import { command } from '../command.ts'
import type { Run } from '../context.ts'
import { blockReasons, blockWords, type BlockWord } from './block-reasons.ts'

export const numberBlock = (run: Run): Command =>
  command(
    'block',
    'put a number on the blacklist or the do-not-contact list',
    'gateway number block 27825550101 --reason blacklisted',
  )
    .addArgument(new Argument('<number>', "in international form without '+'").argParser(readNumber))
    .addOption(new Option('--reason <list>', 'which list').choices(blockWords).makeOptionMandatory())
    .action((number: Msisdn, { reason }: { readonly reason: BlockWord }) =>
      run(async ({ backOffice, output }) => {
        const kind: BlockReason = blockReasons[reason]
        const added = await backOffice.blockNumber(number, kind)
        output.result(
          { number, reason, added: added === 'added' },
          added === 'added' ? `${number} is blocked (${reason}).` : `${number} was blocked already (${reason}).`,
        )
      }),
    )
