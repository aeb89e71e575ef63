import { parseMinute, type AccountId, type ImportedOptOut, type Instant } from '@gateway/core'
import { readAccountId } from '../arguments.ts'
import { command } from '../command.ts'
import type { Run } from '../context.ts'
import { unguarded } from '../csv.ts'
import { importRows, tellImport, type BadRow } from '../import-rows.ts'
import { parseTime } from '../show.ts'
import { accountOf } from './account-of.ts'
import { numberOfRow } from './number-block.ts'

export const optoutImport = (run: Run) =>
  command(
    'import',
    'opt the numbers of a file out of the messages of an account; nothing is sent to confirm it',
    `gateway optout import 3 --file optouts.csv

The file is CSV (UTF-8) with the columns number, since and text, in this order or as
its first line names them; only the number must be there. since: as export writes it
(2026-10-18T08:00:00.000Z) or CCYYMMDDHHmm at GMT+2; without it, now. text: with what
was asked; without it, an entry as made by hand. A number that has opted out already
stays as it is, so that a file can be read again. Exit code 1: some rows were refused.`,
  )
    .argument('<account>', "the account's id", readAccountId)
    .requiredOption('--file <path>', "the file; '-' reads standard input")
    .action((id: AccountId, { file }: { readonly file: string }) =>
      run(async (context) => {
        const { backOffice, ports, output } = context
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
): ImportedOptOut | BadRow {
  const read = numberOfRow(number)
  if ('wrong' in read) return read
  const time = since.trim() === '' ? undefined : timeOf(since.trim())
  if (time === 'wrong') return { wrong: 'since is no time such as 2026-10-18T08:00:00.000Z or 202610181000' }
  if (time !== undefined && time > now) return { wrong: 'since is in the future' }
  if (text.includes('\0')) return { wrong: 'the text has a character that no text can have' }
  if (text.length > textMax) return { wrong: `the text has more than ${textMax} characters` }
  return { number: read.number, since: time, text: unguarded(text) }
}

const timeOf = (text: string): Instant | 'wrong' => parseMinute(text) ?? parseTime(text) ?? 'wrong'
