import type { BulkRow, BulkSend } from '@gateway/core'
import { Bar, Figures, Form, Hidden, Link, Notice, Panel, Second } from '../../components.tsx'
import { amount, count, counted, when } from '../../format.ts'
import { forHolders, type HolderVisit } from '../../page.ts'
import { ROW_REFUSAL } from '../../words.ts'
import { NotSent, ownBulkSend } from './bulk-draft.tsx'

/** What is stored of all calls: of those that have ended what got no message. */
async function* storedRows({ gateway, account }: HolderVisit, { id, calls }: BulkSend): AsyncIterable<BulkRow> {
  for (let call = 0; call < calls; call++) yield* await gateway.bulkRows(account, id, call)
}

async function notSent(visit: HolderVisit, send: BulkSend): Promise<readonly BulkRow[]> {
  const rows: BulkRow[] = []
  for await (const row of storedRows(visit, send)) if (row.refused !== undefined) rows.push(row)
  return rows
}

/** `/send/<id>/sent`: how far a send to many is; it can be stopped, and at its end says what was not accepted. */
export const bulkSent = forHolders({
  path: '/send/:id/sent',
  async show(visit) {
    const send = await ownBulkSend(visit)
    if (send === undefined) return 'not-found'
    if (send.state === 'draft') return { goTo: `/send/${send.id}` }
    const isEnded = send.state === 'ended'
    const left = send.recipients - send.accepted - send.refused
    const refused = isEnded ? await notSent(visit, send) : []
    const { scheduled } = send
    return {
      title: 'Sent',
      place: 'send',
      live: !isEnded,
      main: (
        <>
          <div id="progress" data-live="">
            <h1>{isEnded ? `${counted(send.accepted, 'message')} accepted` : 'Sending'}</h1>
            <Progress send={send} left={left} />
          </div>
          {scheduled !== undefined && scheduled > visit.now && (
            <p>The messages are to go out at {when(scheduled, visit.now)}.</p>
          )}
          <div id="not-sent" data-live="">
            {isEnded && refused.length > 0 && (
              <NotSent
                id={send.id}
                rows={refused}
                title={`${counted(refused.length, 'row')} got no message and cost nothing`}
              />
            )}
          </div>
          <div id="stop" data-live="">
            {send.state === 'running' && (
              <Form to={`/send/${send.id}/sent`}>
                <Hidden name="step" value="stop" />
                <Second>Stop</Second>
                <p class="hint">What was accepted stays accepted. Nothing more is sent or charged.</p>
              </Form>
            )}
          </div>
          <div class="actions">
            <Link class="button second" to="/send">
              Send more messages
            </Link>
            <Link to="/messages">All messages</Link>
          </div>
        </>
      ),
    }
  },
  async submit(visit, fields) {
    const send = await ownBulkSend(visit)
    if (send === undefined) return 'not-found'
    if (fields.text('step') === 'stop') await visit.gateway.stopBulkSend(visit.account, send.id)
    return { goTo: `/send/${send.id}/sent` }
  },
})

const Progress = ({ send, left }: { readonly send: BulkSend; readonly left: number }) => (
  <>
    {send.state === 'running' && (
      <p>This goes on by itself, also when you close the page. {counted(left, 'number')} still to be done.</p>
    )}
    {send.state === 'stopping' && <Notice tone="wait">It is being stopped. Nothing more is begun.</Notice>}
    <Panel title="How far it is">
      <Bar
        of={[
          { tone: 'good', word: 'accepted', value: send.accepted },
          { tone: 'bad', word: 'not accepted', value: send.refused },
          { tone: 'idle', word: 'still to be done', value: left },
        ]}
      />
      <Figures
        of={[
          ['Accepted', count(send.accepted)],
          ['Not accepted', count(send.refused)],
          ['Still to be done', count(left)],
          ['Charged', amount(send.cost)],
        ]}
      />
    </Panel>
  </>
)

/** `/send/<id>/refused`: each row that gets or got no message, with its reason, as a file. */
export const bulkRefused = forHolders({
  path: '/send/:id/refused',
  isFile: true,
  async show(visit) {
    const send = await ownBulkSend(visit)
    if (send === undefined) return 'not-found'
    const quote = send.state === 'draft' ? await visit.gateway.quoteBulkSend(visit.account, send.id) : undefined
    const rows = quote?.refused ?? (await notSent(visit, send))
    const text = (field: string) => ({ text: field })
    return {
      fileName: `not-sent-${send.id}.csv`,
      rows: [
        ['Row', 'Number', 'Reason', ...send.columns].map(text),
        ...rows.map(({ row, number, refused, fields }) => [
          row,
          ...[number, refused === undefined ? '' : ROW_REFUSAL[refused], ...fields].map(text),
        ]),
      ],
    }
  },
})
