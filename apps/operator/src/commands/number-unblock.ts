import type { Msisdn } from '@gateway/core'
import { Option } from 'commander'
import { readNumber } from '../arguments.ts'
import { command } from '../command.ts'
import { Refused, type Run } from '../context.ts'
import { blockReasons, blockWords, type BlockWord } from './block-reasons.ts'

export const numberUnblock = (run: Run) =>
  command('unblock', 'take a number off the lists')
    .argument('<number>', 'in international form', readNumber)
    .addOption(new Option('--reason <list>', 'only off this list').choices(blockWords))
    .action((number: Msisdn, { reason }: { readonly reason?: BlockWord }) =>
      run(async ({ backOffice, output }) => {
        const words = reason === undefined ? blockWords : [reason]
        const removed = await backOffice.unblockNumber(
          number,
          words.map((word) => blockReasons[word]),
        )
        if (removed.length === 0) throw new Refused(`${number} was not blocked.`)
        output.result({ number, unblocked: removed.length }, `${number} is no longer blocked.`)
      }),
    )
