import type { BulkRow, BulkSend, BulkSendId } from '@gateway/core/bulk-sends'
import { Link, Panel, Table } from '../../components.tsx'
import { count, counted } from '../../format.ts'
import { forHolders } from '../../page.ts'
import { numberColumnOf, ownBulkSend, storedRows } from './own-bulk-send.ts'

const shownMax = 50

/** Returns the number of a row as written in the list. `column` is undefined for a typed list. */
const writtenOf = ({ fields }: BulkRow, column: number | undefined): string => fields[column ?? 0] ?? ''

/**
 * Panel of the numbers from which digits were dropped. Shows each number as written and as used for the send, and links
 * to a file with the full list.
 */
export function ChangedNumbers({
  id,
  rows,
  column,
}: {
  readonly id: BulkSendId
  readonly rows: readonly BulkRow[]
  readonly column: number | undefined
}) {
  if (rows.length === 0) return null
  return (
    <Panel title={`${counted(rows.length, 'number')} ${rows.length === 1 ? 'was' : 'were'} cleaned up`}>
      <p>
        Check that these are the right people. Zeros that are not part of a number were removed, and the country code of
        your account was added where there was none.
      </p>
      <Table
        caption={rows.length > shownMax ? `The first ${shownMax} of them` : 'As written, and as sent to'}
        rows={rows.slice(0, shownMax)}
        empty=""
        columns={[
          { head: 'Row', number: true, cell: ({ row }) => count(row) },
          { head: 'As written', cell: (row) => <span class="text">{writtenOf(row, column)}</span> },
          { head: 'Sent to', cell: ({ number }) => number },
        ]}
      />
      <p class="hint">
        <Link to={`/send/${id}/changed`}>
          Download {rows.length === 1 ? 'it' : `these ${count(rows.length)}`} as CSV
        </Link>
      </p>
    </Panel>
  )
}

/** `/send/<id>/changed`: a file with each number of a draft that was read differently from how it is written. */
export const bulkChanged = forHolders({
  path: '/send/:id/changed',
  isFile: true,
  async show(visit) {
    const send = await ownBulkSend(visit)
    if (send?.state !== 'draft') return 'not-found'
    const column = numberColumnOf(send, await visit.gateway.queries.bulkRows(visit.account, send.id, 0), visit.account)
    async function* changed(of: BulkSend) {
      yield ['Row', 'As written', 'Sent to']
      for await (const row of storedRows(visit, of))
        if (row.changed === true && row.refused === undefined) yield [row.row, writtenOf(row, column), row.number]
    }
    return { fileName: `changed-${send.id}.csv`, rows: changed(send) }
  },
})
