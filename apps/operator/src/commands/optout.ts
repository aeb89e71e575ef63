import { createWriteStream } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { withoutSomeDigits } from '@gateway/core/audit'
import type { Msisdn } from '@gateway/core/messages'
import { manualOptOutText, type OptOut, type ImportedOptOut } from '@gateway/core/suppressions'
import { parseMinute, type Instant } from '@gateway/core/time'
import { csvLine, unguarded } from '@gateway/wire'
import { readAccount, readNumber, readStoredNumber, type AccountName } from '../arguments.ts'
import { command, Refused, yesOption, type Run, type Context } from '../command.ts'
import { importRows, printImport, type BadRow } from '../import-rows.ts'
import { each, mapped, type Row, type CsvRow } from '../output.ts'
import { counted, timeJson, timeText, parseTime } from '../show.ts'
import { accountOf } from './account.ts'
import { numberOfRow } from './number.ts'

export const optoutAdd = (run: Run) =>
  command(
    'add',
    'opt a number out of the messages of an account, without a confirmation to the number',
    'gateway optout add 3 27825550101',
  )
    .argument('<account>', "the account's id or login", readAccount)
    .argument('<number>', 'in international form', readNumber)
    .action((name: AccountName, number: Msisdn) =>
      run(async ({ accountId, backOffice, gateway, change, output }) => {
        const id = await accountId(name)
        const account = await accountOf(backOffice, id)
        const detail = { number: withoutSomeDigits(number) }
        const added = await change({ action: 'addOptOut', account: id, given: detail }, () =>
          gateway.commands.addOptOut(account, number),
        )
        const messages = `messages of account ${id}`
        output.result(
          { account: id, number, added: added === 'added' ? 1 : 0 },
          added === 'added'
            ? `${number} gets no more ${messages}.`
            : `${number} had already opted out of the ${messages}.`,
        )
      }),
    )

export const optoutRemove = (run: Run) =>
  command('remove', 'remove an opt-out, whoever made it, so that the account can send to the number again')
    .argument('<account>', "the account's id or login", readAccount)
    .argument('<number>', 'in international form', readStoredNumber)
    .option(...yesOption)
    .action((name: AccountName, number: Msisdn, options: { readonly yes?: true }) =>
      run(async ({ accountId, backOffice, gateway, change, confirm, output }) => {
        const id = await accountId(name)
        const account = await accountOf(backOffice, id)
        await confirm(`Let account ${id} send to ${number} again, which has opted out?`, options)
        const detail = { number: withoutSomeDigits(number) }
        const remove = () => gateway.commands.removeOptOut(account, number)
        if (!(await change({ action: 'removeOptOut', account: id, given: detail }, remove))) {
          throw new Refused(`${number} had not opted out of the messages of account ${id}.`)
        }
        output.result({ account: id, number, removed: true }, `Account ${id} can send to ${number} again.`)
      }),
    )

export const optoutList = (run: Run) =>
  command('list', 'list the numbers that have opted out of the messages of an account, with the texts that they sent')
    .argument('<account>', "the account's id or login", readAccount)
    .action((name: AccountName) =>
      run(async ({ accountId, backOffice, gateway, output }) => {
        const id = await accountId(name)
        const optOuts = each(gateway.queries.listOptOuts(await accountOf(backOffice, id)))
        await output.rows(['NUMBER', 'SINCE (GMT+2)', 'ANSWERS', 'TEXT'], mapped(optOuts, listRow))
      }),
    )

const listRow = ({ number, since, reply }: OptOut): Row => ({
  json: {
    number,
    since: timeJson(since),
    arrival: reply?.id ?? null,
    answers: reply?.answers ?? null,
    text: reply?.text ?? manualOptOutText,
  },
  cells: [number, timeText(since), String(reply?.answers ?? ''), reply?.text ?? manualOptOutText],
})

export const optoutImport = (run: Run) =>
  command(
    'import',
    'opt the numbers of a file out of the messages of an account, without a confirmation to them',
    `gateway optout import 3 --file optouts.csv

The file is CSV (UTF-8) with the columns number, since and text, in this order or in the
order of its first line, separated by commas, semicolons or tabs. Only number is required.
since: a time of ISO 8601 (2026-10-18T08:00:00Z, 2026-10-18 10:00, 2026-10-18) or
CCYYMMDDHHmm; at GMT+2 if it has no zone; default: now. text: the text of the opt-out;
default: an opt-out made by hand. A number that has already opted out is not changed, so
that a file can be imported again. Exit code 1: some rows were refused.`,
  )
    .argument('<account>', "the account's id or login", readAccount)
    .requiredOption('--file <path>', "the file; '-' reads standard input")
    .action((name: AccountName, { file }: { readonly file: string }) =>
      run(async (context) => {
        const { backOffice, ports, output } = context
        const id = await context.accountId(name)
        const account = await accountOf(backOffice, id)
        const imported = await importRows(context, {
          file,
          columns: ['number', 'since', 'text'],
          parse: (cells) => optOutOf(cells, ports.clock.now()),
          store: (entries) => backOffice.commands.importOptOuts(account, entries),
        })
        printImport(output, { account: id }, imported)
      }),
    )

const textMax = 40_000

function optOutOf(
  { number, since = '', text = '' }: Readonly<Record<'number' | 'since' | 'text', string | undefined>>,
  now: Instant,
): (ImportedOptOut & { readonly written?: string }) | BadRow {
  const read = numberOfRow(number)
  if ('wrong' in read) return read
  const time = since.trim() === '' ? undefined : timeOf(since.trim())
  if (time === 'wrong') return { wrong: 'since is not a time such as 2026-10-18T08:00:00.000Z or 202610181000' }
  if (time !== undefined && time > now) return { wrong: 'since is in the future' }
  if (text.includes('\0')) return { wrong: 'the text contains the character U+0000' }
  if (text.length > textMax) return { wrong: `the text has more than ${textMax} characters` }
  return { ...read, since: time, text: unguarded(text) }
}

const timeOf = (text: string): Instant | 'wrong' => parseMinute(text) ?? parseTime(text) ?? 'wrong'

interface Options {
  readonly file: string
  readonly force?: true
  readonly json?: true
}

const head = ['number', 'since', 'text']

export const optoutExport = (run: Run) =>
  command(
    'export',
    'write the opt-outs of an account as CSV (number, since, text), which optout import can read',
    'gateway optout export 3 --file optouts.csv',
  )
    .argument('<account>', "the account's id or login", readAccount)
    .option('--file <path>', "the file; '-' for standard output", '-')
    .option('--force', 'replace the file if it exists')
    .action((name: AccountName, { file, force, json }: Options) =>
      run(async ({ accountId, backOffice, gateway, output }) => {
        const id = await accountId(name)
        const optOuts = each(gateway.queries.listOptOuts(await accountOf(backOffice, id)))
        if (file !== '-') {
          const rows = await writeFile(file, optOuts, { output, flags: force ? 'w' : 'wx' })
          output.result(
            { account: id, file, written: rows },
            `${counted(rows, 'opt-out')} ${rows === 1 ? 'is' : 'are'} in ${file}.`,
          )
        } else if (json) await output.rows(head, mapped(optOuts, exportRow))
        else await output.csv(head, mapped(optOuts, csvRow))
      }),
    )

const csvRow = ({ number, since, reply }: OptOut): CsvRow => [
  number,
  timeJson(since) ?? '',
  reply === undefined ? manualOptOutText : reply.text,
]

const exportRow = ({ number, since, reply }: OptOut): Row => ({
  json: { number, since: timeJson(since), text: reply?.text ?? manualOptOutText },
  cells: [],
})

/** Writes opt-outs to a file. A new file is readable only by its owner, because it contains numbers of people. */
async function writeFile(
  file: string,
  optOuts: AsyncIterable<OptOut>,
  { output, flags }: { readonly output: Context['output']; readonly flags: 'w' | 'wx' },
): Promise<number> {
  let rows = 0
  async function* lines() {
    yield csvLine(head)
    for await (const optOut of optOuts) {
      yield csvLine(csvRow(optOut))
      if (++rows % 1000 === 0) output.progress(`${rows} rows`)
    }
    output.progress('')
  }
  const stream = createWriteStream(file, { mode: 0o600, flags })
  try {
    await pipeline(Readable.from(lines()), stream)
  } catch (problem) {
    const { code, message } = problem as NodeJS.ErrnoException
    if (code === undefined || stream.errored === null) throw problem
    if (code === 'EEXIST') throw new Refused(`${file} already exists. Use --force to replace it.`)
    throw new Refused(`${file} could not be written completely: ${message}.`)
  }
  return rows
}
