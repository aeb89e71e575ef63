import { bulkSendLimits, type BulkSend, type BulkSendId } from '@gateway/core/bulk-sends'
import { Form, Hidden, Link, Notice, Panel, Second, Table, When } from '../../components.tsx'
import { count } from '../../format.ts'
import { forHolders } from '../../page.ts'
import { shortText } from './sends.tsx'

const pageSize = 25

const readId = (text: string): BulkSendId | undefined =>
  /^[1-9][0-9]{0,14}$/.test(text) ? (Number(text) as BulkSendId) : undefined

/** `/drafts`: lists sends that were prepared but not sent, the latest first. `?before=` continues the list. */
export const drafts = forHolders({
  path: '/drafts',
  async show({ gateway, account, query }) {
    const before = readId(query.get('before') ?? '')
    const found = await gateway.queries.listBulkDrafts(account, { before, limit: pageSize + 1 })
    const shown = found.slice(0, pageSize)
    const last = shown.at(-1)
    return {
      title: 'Drafts',
      place: 'sends',
      main: (
        <>
          <h1>Drafts</h1>
          {query.get('done') === 'deleted' && <Notice>The draft was deleted. None of its messages were sent.</Notice>}
          <p>
            Sends that were prepared but not sent. Each draft is kept until you delete it, for at most{' '}
            {bulkSendLimits.draftDays} days. Drafts are neither sent nor charged.
          </p>
          <Panel>
            <Table
              caption={before === undefined ? 'Drafts, the latest first' : 'Older'}
              rows={shown}
              empty={
                <>
                  Sends that you prepare but do not send are listed here. <Link to="/send">Send messages</Link>
                </>
              }
              columns={[
                {
                  head: 'Text',
                  cell: ({ id, text }) => (
                    <Link to={`/send/${id}`}>{text.trim() === '' ? 'No text yet' : shortText(text)}</Link>
                  ),
                },
                { head: 'Prepared', cell: ({ created }) => <When at={created} /> },
                { head: 'Numbers', number: true, cell: ({ recipients }) => count(recipients) },
                { head: 'Change', cell: (draft) => <Delete draft={draft} /> },
              ]}
            />
          </Panel>
          <div class="actions">
            {before !== undefined && <Link to="/drafts">Latest</Link>}
            {found.length > pageSize && last !== undefined && <Link to={`/drafts?before=${last.id}`}>Older</Link>}
            <Link to="/sends">Sends</Link>
          </div>
        </>
      ),
    }
  },
  changes: 'discardBulkSend',
  async submit({ gateway, account }, fields) {
    const id = readId(fields.text('draft'))
    const isDeleted = id !== undefined && (await gateway.commands.discardBulkSend(account, id))
    return { goTo: `/drafts${isDeleted ? '?done=deleted' : ''}` }
  },
})

const Delete = ({ draft: { id, text } }: { readonly draft: Pick<BulkSend, 'id' | 'text'> }) => (
  <Form to="/drafts">
    <Hidden name="draft" value={String(id)} />
    <Second>
      Delete<span class="unseen"> the draft “{shortText(text)}”</span>
    </Second>
  </Form>
)
