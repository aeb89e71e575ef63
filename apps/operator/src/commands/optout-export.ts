import { createWriteStream } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { manualOptOutText, type AccountId, type OptOut } from '@gateway/core'
import { readAccountId } from '../arguments.ts'
import { command } from '../command.ts'
import { Refused, type Context, type Run } from '../context.ts'
import { csvLine } from '../csv.ts'
import { each, mapped, type CsvRow, type Row } from '../output.ts'
import { timeJson } from '../show.ts'
import { accountOf } from './account-of.ts'

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
    .argument('<account>', "the account's id", readAccountId)
    .option('--file <path>', "the file; '-' is standard output", '-')
    .option('--force', 'replace the file if it is there')
    .action((id: AccountId, { file, force, json }: Options) =>
      run(async ({ backOffice, gateway, output }) => {
        const optOuts = each(gateway.listOptOuts(await accountOf(backOffice, id)))
        if (file !== '-') {
          const rows = await writeFile(file, optOuts, { output, flags: force ? 'w' : 'wx' })
          output.result({ account: id, file, written: rows }, `${rows} opt-outs are in ${file}.`)
        } else if (json) await output.rows(head, mapped(optOuts, row))
        else await output.csv(head, mapped(optOuts, csvRow))
      }),
    )

const csvRow = ({ number, since, reply }: OptOut): CsvRow => [
  number,
  timeJson(since) ?? '',
  reply === undefined ? manualOptOutText : { text: reply.text },
]

const row = ({ number, since, reply }: OptOut): Row => ({
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
