import { Option } from 'commander'
import { command } from '../command.ts'
import type { Context, Run } from '../context.ts'
import type { Row } from '../output.ts'
import { timeJson, timeText } from '../show.ts'
import { blockReasons, blockWords, type BlockWord } from './block-reasons.ts'

export const numberList = (run: Run) =>
  command('list', 'list the blocked numbers')
    .addOption(new Option('--reason <list>', 'only this list').choices(blockWords))
    .action(({ reason }: { readonly reason?: BlockWord }) =>
      run(async ({ backOffice, output }) => {
        await output.rows(
          ['NUMBER', 'REASON', 'SINCE (GMT+2)'],
          rows(backOffice, reason === undefined ? blockWords : [reason]),
        )
      }),
    )

async function* rows(backOffice: Context['backOffice'], words: readonly BlockWord[]): AsyncIterable<Row> {
  for (const reason of words) {
    for await (const { number, since } of backOffice.listBlockedNumbers(blockReasons[reason])) {
      yield { json: { number, reason, since: timeJson(since) }, cells: [number, reason, timeText(since)] }
    }
  }
}
