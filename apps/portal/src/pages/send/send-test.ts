import { fillIn, lacksValue, type BulkRow, type BulkSend } from '@gateway/core/bulk-sends'
import { readWrittenNumber, type MessageId } from '@gateway/core/messages'
import type { Fields } from '../../forms.ts'
import type { HolderVisit } from '../../page.ts'
import { sendOne } from '../../send-one.ts'
import { NUMBER_PROBLEM, ROW_REFUSAL } from '../../words.ts'
import { storedRows } from './own-bulk-send.ts'

/** Sends the text of one row of a draft to a number of the reader's own. Returns the id, or why nothing was sent. */
export async function sendTest(
  visit: HolderVisit,
  send: BulkSend,
  fields: Fields,
): Promise<MessageId | { readonly problem: string }> {
  const read = readWrittenNumber(fields.trimmed('number'))
  if (read.number === undefined) return { problem: NUMBER_PROBLEM[read.unread] }
  const { text, columns, sender, options } = send
  const row = await rowOf(visit, send, fields.number('row'))
  if (row === undefined) return { problem: 'The list has no such row.' }
  if (lacksValue(text, columns)(row)) return { problem: `${ROW_REFUSAL['missing-value']}.` }
  return sendOne(visit, read.number, { text: fillIn(text, columns, row), sender, options }, fields.text('key'))
}

async function rowOf(visit: HolderVisit, send: BulkSend, line: number | undefined): Promise<BulkRow | undefined> {
  for await (const row of storedRows(visit, send)) if (row.row === line) return row
  return undefined
}
