import { readWrittenNumber, type Msisdn } from '@gateway/core/messages'
import type { BlockReason } from '@gateway/core/suppressions'
import { InvalidArgumentError, Option } from 'commander'
import { numberProblem, readNumber, readStoredNumber } from '../arguments.ts'
import { command, Refused, type Context, type Run } from '../command.ts'
import { importRows, printImport } from '../import-rows.ts'
import type { Row } from '../output.ts'
import { timeJson, timeText } from '../show.ts'

/** Lists of blocked numbers, by the word that the operator types. */
export const blockReasons = {
  blacklisted: 'blacklist',
  'do-not-contact': 'do-not-contact',
} as const satisfies Record<string, BlockReason>

export type BlockWord = keyof typeof blockReasons

export const blockWords = Object.keys(blockReasons) as BlockWord[]

/** Creates the option `--reason`. Accepts `blacklist` for `blacklisted`, because the list has that name. */
const reasonOption = (description: string): Option =>
  new Option('--reason <list>', description).choices(blockWords).argParser((text) => {
    const word = blockWords.find((each) => each === text || blockReasons[each] === text)
    if (word === undefined) throw new InvalidArgumentError(`Allowed choices are ${blockWords.join(', ')}.`)
    return word
  })

interface Options {
  readonly reason: BlockWord
  readonly file?: string
}

export const numberBlock = (run: Run) =>
  command(
    'block',
    'put a number, or all numbers of a file, on the blacklist or the do-not-contact list',
    `gateway number block 27825550101 --reason blacklisted
  gateway number block --file complaints.csv --reason do-not-contact

The file is CSV (UTF-8) with the number in its first column, or in the column named
'number' in its first line. A number that is already on the list is not changed, so
that a file can be imported again. Exit code 1: some rows were refused.`,
  )
    .argument('[number]', 'in international form', readNumber)
    .option('--file <path>', "a file of numbers; '-' reads standard input")
    .addOption(reasonOption('the list').makeOptionMandatory())
    .action((number: Msisdn | undefined, { reason, file }: Options) => {
      if ((number === undefined) === (file === undefined))
        throw new Refused('Name either one number or a file of numbers.', 2)
      return run((context) =>
        number === undefined ? blockFile(context, file ?? '-', reason) : blockOne(context, number, reason),
      )
    })

async function blockOne({ backOffice, output }: Context, number: Msisdn, reason: BlockWord): Promise<void> {
  const kind: BlockReason = blockReasons[reason]
  const added = await backOffice.commands.blockNumber(number, kind)
  output.result(
    { number, reason, added: added === 'added' ? 1 : 0 },
    added === 'added' ? `${number} is blocked (${reason}).` : `${number} was already blocked (${reason}).`,
  )
}

async function blockFile(context: Context, file: string, reason: BlockWord): Promise<void> {
  const imported = await importRows(context, {
    file,
    columns: ['number'],
    parse: (cells) => numberOfRow(cells.number),
    store: (rows) =>
      context.backOffice.commands.blockNumbers(
        rows.map(({ number }) => number),
        blockReasons[reason],
      ),
  })
  printImport(context.output, { reason }, imported)
}

/** Reads the number of a row. `written` is the number as written in the row, if it was corrected. */
export function numberOfRow(
  text = '',
): { readonly number: Msisdn; readonly written?: string } | { readonly wrong: string } {
  const { number, changed, unread } = readWrittenNumber(text)
  if (number === undefined)
    return { wrong: numberProblem(unread) + (unread === 'no-number' ? '' : `: “${shownNumber(text)}”`) }
  return changed ? { number, written: text } : { number }
}

const shownMax = 40
const shownNumber = (text: string): string => {
  const characters = Array.from(text.trim())
  return characters.length > shownMax ? `${characters.slice(0, shownMax).join('')}…` : characters.join('')
}

export const numberUnblock = (run: Run) =>
  command('unblock', 'remove a number from the lists')
    .argument('<number>', 'in international form', readStoredNumber)
    .addOption(reasonOption('only from this list'))
    .action((number: Msisdn, { reason }: { readonly reason?: BlockWord }) =>
      run(async ({ backOffice, output }) => {
        const words = reason === undefined ? blockWords : [reason]
        const removed = await backOffice.commands.unblockNumber(
          number,
          words.map((word) => blockReasons[word]),
        )
        if (removed.length === 0) throw new Refused(`${number} was not blocked.`)
        output.result({ number, unblocked: removed.length }, `${number} is no longer blocked.`)
      }),
    )

export const numberList = (run: Run) =>
  command('list', 'list the blocked numbers')
    .addOption(reasonOption('only this list'))
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
    for await (const { number, since } of backOffice.queries.listBlockedNumbers(blockReasons[reason])) {
      yield { json: { number, reason, since: timeJson(since) }, cells: [number, reason, timeText(since)] }
    }
  }
}
