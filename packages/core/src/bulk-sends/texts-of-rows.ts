import type { TextToSend } from '../messages/screen-texts.ts'
import type { BulkRow, BulkSend, RowRefusal } from './bulk-sends.ts'
import { fillIn, lacksValue } from './fields.ts'

export const refusing = (row: BulkRow, refused: RowRefusal): BulkRow => ({ ...row, refused })

/** Refuses the rows that lack a value for a field of the text. */
export function refuseMissingValues({ text, columns }: BulkSend, rows: readonly BulkRow[]): readonly BulkRow[] {
  const isLacking = lacksValue(text, columns)
  return rows.map((row) => (row.refused === undefined && isLacking(row) ? refusing(row, 'missing-value') : row))
}

/** Groups the rows of a call that are to be sent by text, in the order of their first rows. */
export function textsOf(
  { text, columns, ...send }: BulkSend,
  rows: readonly BulkRow[],
): readonly TextToSend<BulkRow>[] {
  const byText = new Map<string, BulkRow[]>()
  for (const row of rows) {
    if (row.refused !== undefined) continue
    const own = fillIn(text, columns, row)
    const same = byText.get(own)
    if (same === undefined) byText.set(own, [row])
    else same.push(row)
  }
  const { scheduled, options, sender } = send
  return [...byText].map(([own, recipients]) => ({ text: own, recipients, scheduled, options, sender }))
}
