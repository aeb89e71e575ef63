import { bulkSendLimits, type BulkRow } from '@gateway/core/bulk-sends'
import type { OwnSenders } from '@gateway/core/messages'
import { newFormKey, type Problems } from '../../forms.ts'
import type { GoTo, HolderVisit } from '../../page.ts'
import { inCalls, numbersFrom, readList, rowsOf, withoutColumn } from '../../read-list.ts'
import { readRecipients } from '../../recipients.ts'
import { numberProblems, readSending, textProblems, type Draft } from './draft-fields.tsx'
import { LIST_PROBLEM } from './file-preview.tsx'

/** Redirect to the check of a stored draft, or the errors because of which nothing was stored. */
type Stored = GoTo | { readonly problems: Problems }

/**
 * Stores the list of a file as a draft and redirects to its check. The numbers are read from `column` if it is given.
 */
export async function storeFile(
  visit: HolderVisit,
  draft: Draft,
  own: OwnSenders,
  file: Buffer,
  column: number | undefined,
): Promise<Stored> {
  if (draft.numbers.trim() !== '') return { problems: { file: 'Enter numbers or choose a file, not both.' } }
  const list = await readList(file, visit.account.callingCode)
  if (typeof list === 'string') return { problems: { file: LIST_PROBLEM[list] } }
  // A field in the text that the file lacks is not refused here, because the next page shows the text and the columns.
  const { problems } = readSending(draft, own)
  if (Object.keys(problems).length > 0) return { problems }
  const isChosen = column !== undefined && column < list.columns.length
  const guessed = list.isCertain ? list.rows : withoutColumn(list.rows)
  const rows = isChosen ? numbersFrom(column, list.rows, visit.account.callingCode) : guessed
  return store(visit, draft, own, { columns: list.columns, rows })
}

/** Returns the errors of a draft whose numbers are typed. */
export const typedProblems = ({ account }: HolderVisit, draft: Draft, own: OwnSenders): Problems => ({
  ...textProblems(draft.text, undefined),
  ...numberProblems(draft.numbers, account.callingCode),
  ...readSending(draft, own).problems,
})

/** Returns the rows of typed numbers, repetitions included. */
export const typedRows = ({ account: { callingCode } }: HolderVisit, { numbers }: Draft): readonly BulkRow[] =>
  rowsOf(readRecipients(numbers, callingCode).all, callingCode)

/** Same as `storeFile`, for typed numbers. */
export async function storeTyped(visit: HolderVisit, draft: Draft, own: OwnSenders): Promise<Stored> {
  const problems = typedProblems(visit, draft, own)
  if (Object.keys(problems).length > 0) return { problems }
  return store(visit, draft, own, { columns: [], rows: typedRows(visit, draft) })
}

async function store(
  { gateway, account }: HolderVisit,
  draft: Draft,
  own: OwnSenders,
  { columns, rows }: { readonly columns: readonly string[]; readonly rows: readonly BulkRow[] },
): Promise<Stored> {
  const { problems: _none, ...sending } = readSending(draft, own)
  const newSend = { columns, text: draft.text, ...sending, key: newFormKey() }
  const id = await gateway.commands.draftBulkSend(account, newSend, inCalls(rows))
  if (id !== 'too-many-drafts') return { goTo: `/send/${id}` }
  const { draftsMax } = bulkSendLimits
  const tooMany = `You have ${draftsMax} drafts, which is the maximum. Delete one under Sends, Drafts.`
  return { problems: { [columns.length > 0 ? 'file' : 'numbers']: tooMany } }
}
