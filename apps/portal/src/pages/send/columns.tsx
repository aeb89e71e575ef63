import type { BulkRow, BulkSend } from '@gateway/core/bulk-sends'
import { Choice, Form, Link, Main, Notice, Panel, ProblemSummary, Table } from '../../components.tsx'
import type { Problems } from '../../forms.ts'
import { forHolders, type HolderVisit } from '../../page.ts'
import { inCalls, numbersFrom } from '../../read-list.ts'
import { needsColumn, numberColumnOf, ownBulkSend, storedRows } from './own-bulk-send.ts'

/** Number of rows shown as an example of each column. */
const shownRows = 3

/** Returns the draft of the path if it comes from a file. Typed numbers have no columns. */
async function ownList(visit: HolderVisit): Promise<BulkSend | 'sent' | undefined> {
  const send = await ownBulkSend(visit)
  if (send !== undefined && send.state !== 'draft') return 'sent'
  return send !== undefined && send.columns.length > 0 ? send : undefined
}

/**
 * `/send/<id>/columns`: chooses the column of a file that has the numbers, and stores the list again with that column.
 */
export const bulkColumns = forHolders({
  path: '/send/:id/columns',
  isForm: true,
  changes: 'changeBulkSend',
  async show(visit) {
    const send = await ownList(visit)
    if (send === 'sent') return { goTo: `/send/${visit.parameters.id ?? ''}/sent` }
    if (send === undefined) return 'not-found'
    const rows = await visit.gateway.queries.bulkRows(visit.account, send.id, 0)
    const problems: Problems = visit.query.get('why') === 'none' ? { column: 'Choose the column of the numbers.' } : {}
    const first = rows.slice(0, shownRows)
    const isUndecided = needsColumn(rows)
    return {
      title: 'Choose the column of the numbers',
      place: 'send',
      main: (
        <>
          <h1>Choose the column of the numbers</h1>
          {isUndecided && (
            <Notice tone="wait">
              Several columns of your file could be the numbers, or the heading of the only such column means something
              else. Nothing is sent until you choose.
            </Notice>
          )}
          <ProblemSummary problems={problems} />
          <Form to={`/send/${send.id}/columns`} class="panel">
            <Choice
              name="column"
              label="Column of the numbers"
              problems={problems}
              value={isUndecided ? '' : String(numberColumnOf(send, rows, visit.account) ?? 0)}
              options={[
                ...(isUndecided ? [['', 'Choose the column…'] as const] : []),
                ...send.columns.map((name, at) => [String(at), name] as const),
              ]}
            />
            <Main>Use this column</Main>
          </Form>
          <Panel>
            <Table
              caption="The first rows of your file"
              rows={first}
              empty=""
              columns={send.columns.map((head, at) => ({
                head,
                cell: ({ fields }: BulkRow) => <span class="text">{fields[at] ?? ''}</span>,
              }))}
            />
          </Panel>
          <div class="actions">
            {isUndecided ? (
              <Link to="/send">Choose another list</Link>
            ) : (
              <Link to={`/send/${send.id}`}>Back to the check</Link>
            )}
          </div>
        </>
      ),
    }
  },
  async submit(visit, fields) {
    const send = await ownList(visit)
    if (send === 'sent') return { goTo: `/send/${visit.parameters.id ?? ''}/sent` }
    if (send === undefined) return 'not-found'
    const column = /^[0-9]{1,2}$/.test(fields.text('column')) ? Number(fields.text('column')) : send.columns.length
    if (column >= send.columns.length) return { goTo: `/send/${send.id}/columns?why=none` }
    const rows: BulkRow[] = []
    for await (const row of storedRows(visit, send)) rows.push(row)
    const { gateway, account } = visit
    const calls = inCalls(numbersFrom(column, rows, account.callingCode))
    await gateway.commands.changeBulkSend(account, send.id, send, calls)
    return { goTo: `/send/${send.id}` }
  },
})
