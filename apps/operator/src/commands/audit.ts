import type { AuditEntry, AuditSequence, ListedChange } from '@gateway/core/audit'
import { formatCredits } from '@gateway/core/credits'
import { auditActionOf, auditWords } from '@gateway/wire'
import { readAccount, readAuditHash, readAuditSequence, readLimit, type AccountName } from '../arguments.ts'
import { command, Refused, type Run } from '../command.ts'
import { each, mapped, type Json } from '../output.ts'
import { timeJson, timeText } from '../show.ts'

interface Options {
  readonly account?: AccountName
  readonly by?: string
  readonly action?: string
  readonly before?: AuditSequence
  readonly limit: number
}

export const auditList = (run: Run) =>
  command('list', 'list the changes of operators, latest first', 'gateway audit list --account 3')
    .option('--account <account>', 'only changes of this account', readAccount)
    .option('--by <name>', 'only changes by names that contain this')
    .option('--action <action>', "only this action, as in the list or its --json: 'lock the account', lockAccount")
    .option('--before <entry>', 'only changes before this entry', readAuditSequence)
    .option('--limit <count>', 'maximum number of rows', readLimit, 50)
    .action(({ limit, account: name, action, ...search }: Options) =>
      run(async ({ accountId, backOffice, output }) => {
        const account = name && (await accountId(name))
        // The log may have actions of another version, which have no label.
        const named = action && (auditActionOf(action) ?? action)
        const changes = await backOffice.queries.listChanges({ ...search, account, action: named }, limit)
        await output.rows(
          ['ENTRY', 'TIME', 'BY', 'ACTION', 'ACCOUNT', 'ASKED FOR', 'OUTCOME'],
          changes.map((change) => ({ json: changeJson(change), cells: cellsOf(change) })),
        )
      }),
    )

function changeJson({ begun, ended }: ListedChange): Json {
  const { by, from, action, account, given: detail } = recordOf(begun)
  return {
    ...{ entry: begun.sequence, time: timeJson(begun.at), doneBy: by ?? null, madeFrom: from ?? null },
    ...{ action: action ?? null, account: account ?? null },
    detail: { given: detail ?? {}, ...(ended === undefined ? { outcome: null } : recordOf(ended)) },
  }
}

const recordOf = ({ record }: AuditEntry): Readonly<Record<string, Json>> => JSON.parse(record) as Record<string, Json>

const style = { credits: formatCredits, time: timeText } as const

function cellsOf(change: ListedChange): readonly string[] {
  const { begun } = change
  const { by, account = '' } = recordOf(begun)
  const { change: actionText, input: inputText, outcome } = auditWords(change, style)
  return [String(begun.sequence), timeText(begun.at), shown(by), actionText, shown(account), inputText, outcome]
}

const shown = (value: Json | undefined): string => (typeof value === 'string' ? value : JSON.stringify(value ?? null))

export const auditVerify = (run: Run) =>
  command(
    'verify',
    'verify the hash of every entry; exits with 1 if an entry was changed or removed',
    'gateway audit verify --expect 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  )
    .option('--expect <hash>', 'a last hash that you noted earlier; the log must contain it', readAuditHash)
    .action(({ expect }: { readonly expect?: string }) =>
      run(async ({ backOffice, output }) => {
        const { entries, hash, broken } = await backOffice.queries.verifyAuditLog()
        if (broken !== undefined)
          throw new Refused(`Entry ${broken} of ${entries} was changed or removed. The log is not intact.`)
        if (expect !== undefined && !(await hasHash(backOffice.queries.exportAuditLog(), expect)))
          throw new Refused(`No entry has the hash ${expect}: the log was rewritten or is a different one.`)
        output.one(
          { entryCount: entries, hash, whole: true },
          `${entries === 1 ? 'The 1 entry is' : `The ${entries} entries are`} intact. The last hash is ${hash}.`,
        )
      }),
    )

async function hasHash(entries: AsyncIterable<readonly AuditEntry[]>, expected: string): Promise<boolean> {
  for await (const { hash } of each(entries)) if (hash === expected) return true
  return false
}

export const auditExport = (run: Run) =>
  command('export', 'print every entry with its hash, oldest first', 'gateway audit export --json > audit.json').action(
    () =>
      run(async ({ backOffice, output }) => {
        const rows = mapped(each(backOffice.queries.exportAuditLog()), ({ sequence, at, ends, record, hash }) => ({
          json: { entry: sequence, time: timeJson(at), endedEntry: ends ?? null, record, hash },
          cells: [String(sequence), timeText(at), ends === undefined ? '' : String(ends), record, hash],
        }))
        await output.rows(['ENTRY', 'TIME', 'ENDS', 'RECORD', 'HASH'], rows)
      }),
  )
