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
import { importRows, tellImport, type BadRow } from '../import-rows.ts'
import { each, mapped, type Row, type CsvRow } from '../output.ts'
import { counted, timeJson, timeText, parseTime } from '../show.ts'
import { accountOf } from './account.ts'
import { numberOfRow } from './number.ts'

export const optoutAdd = (run: Run) =>
  command(
    'add',
    'opt a number out of the messages of an account; nothing is sent to confirm it',
    'gateway optout add 3 27825550101',
  )
    .argument('<account>', "the account's id or login", readAccount)
    .argument('<number>', 'in international form', readNumber)
    .action((name: AccountName, number: Msisdn) =>
      run(async ({ accountId, backOffice, gateway, change, output }) => {
        const id = await accountId(name)
        const account = await accountOf(backOffice, id)
        const given = { number: withoutSomeDigits(number) }
        const added = await change({ action: 'addOptOut', account: id, given }, () =>
          gateway.addOptOut(account, number),
        )
        const messages = `messages of account ${id}`
        output.result(
          { account: id, number, added: added === 'added' ? 1 : 0 },
          added === 'added'
            ? `${number} gets no more ${messages}.`
            : `${number} had opted out of the ${messages} already.`,
        )
      }),
    )

export const optoutRemove = (run: Run) =>
  command('remove', 'let an account write to a number again that had opted out, whoever had made the entry')
    .argument('<account>', "the account's id or login", readAccount)
    .argument('<number>', 'in international form', readStoredNumber)
    .option(...yesOption)
    .action((name: AccountName, number: Msisdn, asked: { readonly yes?: true }) =>
      run(async ({ accountId, backOffice, gateway, change, confirm, output }) => {
        const id = await accountId(name)
        const account = await accountOf(backOffice, id)
        await confirm(`Let account ${id} write to ${number} again, which has opted out?`, asked)
        const given = { number: withoutSomeDigits(number) }
        const remove = () => gateway.removeOptOut(account, number)
        if (!(await change({ action: 'removeOptOut', account: id, given }, remove))) {
          throw new Refused(`${number} had not opted out of the messages of account ${id}.`)
        }
        output.result({ account: id, number, removed: true }, `Account ${id} can write to ${number} again.`)
      }),
    )

export const optoutList = (run: Run) =>
  command('list', 'list who has opted out of the messages of an account, and with which words')
    .argument('<account>', "the account's id or login", readAccount)
    .action((name: AccountName) =>
      run(async ({ accountId, backOffice, gateway, output }) => {
        const id = await accountId(name)
        const optOuts = each(gateway.listOptOuts(await accountOf(backOffice, id)))
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
    'opt the numbers of a file out of the messages of an account; nothing is sent to confirm it',
    `gateway optout import 3 --file optouts.csv

The file is CSV (UTF-8) with the columns number, since and text, in this order or as
its first line names them, with commas, semicolons or tabs between; only the number must
be there. since: a time of ISO 8601 (2026-10-18T08:00:00Z, 2026-10-18 10:00, 2026-10-18)
or CCYYMMDDHHmm; without a zone it is at GMT+2, and without it, now. text: with what
was asked; without it, an entry as made by hand. A number that has opted out already
stays as it is, so that a file can be read again. Exit code 1: some rows were refused.`,
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
          store: (entries) => backOffice.importOptOuts(account, entries),
        })
        tellImport(output, { account: id }, imported)
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
  if (time === 'wrong') return { wrong: 'since is no time such as 2026-10-18T08:00:00.000Z or 202610181000' }
  if (time !== undefined && time > now) return { wrong: 'since is in the future' }
  if (text.includes('\0')) return { wrong: 'the text has a character that no text can have' }
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
    'write the opt-outs of an account as CSV, as import reads them: number, since, text',
    'gateway optout export 3 --file optouts.csv',
  )
    .argument('<account>', "the account's id or login", readAccount)
    .option('--file <path>', "the file; '-' is standard output", '-')
    .option('--force', 'replace the file if it is there')
    .action((name: AccountName, { file, force, json }: Options) =>
      run(async ({ accountId, backOffice, gateway, output }) => {
        const id = await accountId(name)
        const optOuts = each(gateway.listOptOuts(await accountOf(backOffice, id)))
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

/** Only its owner can read a file that is new: numbers of people are in it. */
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
    if (code === 'EEXIST') throw new Refused(`${file} is there already; --force replaces it.`)
    throw new Refused(`${file} cannot be written, and is not complete: ${message}.`)
  }
  return rows
}
