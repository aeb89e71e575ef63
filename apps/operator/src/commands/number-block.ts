import type { BlockReason, Msisdn } from '@gateway/core'
import { Option } from 'commander'
import { numberOf, readNumber } from '../arguments.ts'
import { command } from '../command.ts'
import { Refused, type Context, type Run } from '../context.ts'
import { unguarded } from '../csv.ts'
import { importRows, tellImport } from '../import-rows.ts'
import { blockReasons, blockWords, type BlockWord } from './block-reasons.ts'

interface Options {
  readonly reason: BlockWord
  readonly file?: string
}

export const numberBlock = (run: Run) =>
  command(
    'block',
    'put a number, or those of a file, on the blacklist or the do-not-contact list',
    `gateway number block 27825550101 --reason blacklisted
  gateway number block --file complaints.csv --reason do-not-contact

The file is CSV (UTF-8) with the number in its first column, or in the column that
its first line calls 'number'. A number that is on the list already stays as it is,
so that a file can be read again. Exit code 1: some rows were refused.`,
  )
    .argument('[number]', 'in international form', readNumber)
    .option('--file <path>', "the numbers of this file; '-' reads standard input")
    .addOption(new Option('--reason <list>', 'which list').choices(blockWords).makeOptionMandatory())
    .action((number: Msisdn | undefined, { reason, file }: Options) => {
      if ((number === undefined) === (file === undefined)) throw new Refused('Name one number, or a file of them.', 2)
      return run((context) =>
        number === undefined ? blockFile(context, file ?? '-', reason) : blockOne(context, number, reason),
      )
    })

async function blockOne({ backOffice, output }: Context, number: Msisdn, reason: BlockWord): Promise<void> {
  const kind: BlockReason = blockReasons[reason]
  const added = await backOffice.blockNumber(number, kind)
  output.result(
    { number, reason, added: added === 'added' ? 1 : 0 },
    added === 'added' ? `${number} is blocked (${reason}).` : `${number} was blocked already (${reason}).`,
  )
}

async function blockFile(context: Context, file: string, reason: BlockWord): Promise<void> {
  const imported = await importRows(context, {
    file,
    columns: ['number'],
    parse: (cells) => numberOfRow(cells.number),
    store: (rows) =>
      context.backOffice.blockNumbers(
        rows.map(({ number }) => number),
        blockReasons[reason],
      ),
  })
  tellImport(context.output, { reason }, imported)
}

/** The number of a row; a spreadsheet may have put `'` before its `+`. */
export function numberOfRow(text: string | undefined): { readonly number: Msisdn } | { readonly wrong: string } {
  const number = numberOf(unguarded(text ?? ''))
  return number === undefined ? { wrong: 'no mobile number in international form' } : { number }
}
