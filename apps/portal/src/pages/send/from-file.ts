import { bulkSendLimits, draftProblem, type BulkRow } from '@gateway/core/bulk-sends'
import { bodyOf } from '@gateway/core/messages'
import type { Instant } from '@gateway/core/time'
import { newFormKey, type Problems } from '../../forms.ts'
import type { Answer, HolderVisit } from '../../page.ts'
import { inCalls, numbersFrom, readList, rowsOf, withoutColumn } from '../../read-list.ts'
import { LIST_PROBLEM } from './file-preview.tsx'
import { compose, readTime, type Draft } from './compose.tsx'

/** Returns the errors of a text and a time. `columns` is undefined if the text has no fields. */
export function problemsOf(text: string, time: string, columns: readonly string[] | undefined): Problems {
  const body = bodyOf(text)
  const problem = columns !== undefined ? draftProblem(text, columns) : typeof body === 'string' ? body : []
  const missing = typeof problem === 'string' ? [] : problem
  const named = missing.map((name) => `“${name}”`).join(', ')
  return {
    ...(problem === 'no-message' && { text: 'Enter a text.' }),
    ...(problem === 'too-long' && { text: 'The text is too long: up to 918 characters can be sent.' }),
    ...(missing.length > 0 && { text: `The file has no column ${named}. It has ${columns?.join(', ') ?? ''}.` }),
    ...(readTime(time) === 'unusable' && { time: 'Enter a time such as 2026-11-30 14:00.' }),
  }
}

/**
 * Stores the list of a file as a draft and redirects to its check. The numbers are read from `column` if it is given.
 */
export async function draftFromFile(
  visit: HolderVisit,
  draft: Draft,
  file: Buffer,
  column: number | undefined,
): Promise<Answer> {
  if (draft.numbers.trim() !== '') return compose(draft, { file: 'Enter numbers or choose a file, not both.' })
  const list = await readList(file)
  if (typeof list === 'string') return compose(draft, { file: LIST_PROBLEM[list] })
  const due = readTime(draft.time)
  if (due === 'unusable') return compose(draft, problemsOf(draft.text, draft.time, list.columns))
  // A field in the text that the file lacks is not refused here, because the next page shows the text and the columns.
  const isChosen = column !== undefined && column < list.columns.length
  const guessed = list.isCertain ? list.rows : withoutColumn(list.rows)
  const rows = isChosen ? numbersFrom(column, list.rows) : guessed
  return store(visit, draft, due, { columns: list.columns, rows })
}

export const draftFromNumbers = (
  visit: HolderVisit,
  draft: Draft,
  /** Numbers as typed, including repetitions. */
  numbers: readonly string[],
  due: Instant | undefined,
): Promise<Answer> => store(visit, draft, due, { columns: [], rows: rowsOf(numbers) })

/** Error text for an account that has reached the maximum number of drafts. */
export const tooManyDrafts = `You have ${bulkSendLimits.draftsMax} drafts, which is the maximum. Delete one under Sends, Drafts.`

async function store(
  { gateway, account }: HolderVisit,
  draft: Draft,
  scheduled: Instant | undefined,
  { columns, rows }: { readonly columns: readonly string[]; readonly rows: readonly BulkRow[] },
): Promise<Answer> {
  const { text } = draft
  const id = await gateway.commands.draftBulkSend(
    account,
    { columns, text, scheduled, key: newFormKey() },
    inCalls(rows),
  )
  if (id === 'too-many-drafts') return compose(draft, { [columns.length > 0 ? 'file' : 'numbers']: tooManyDrafts })
  return { goTo: `/send/${id}` }
}
