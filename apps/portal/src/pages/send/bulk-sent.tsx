import type { Gateway } from '@gateway/core'
import type { BulkRow, BulkSend } from '@gateway/core/bulk-sends'
import { credits } from '@gateway/core/credits'
import {
  creditsOf,
  OUTCOME,
  sentCredits,
  type MessageId,
  type MessageStatus,
  type SentCredits,
} from '@gateway/core/messages'
import type { Cell } from '@gateway/wire'
import { Bar, Figures, Form, Hidden, Link, Notice, Panel, Second, State, Table } from '../../components.tsx'
import { amount, capitalized, count, counted, creditCells, creditFigures, creditHeads, when } from '../../format.ts'
import { forHolders, type HolderVisit } from '../../page.ts'
import { outcomeWords, ROW_REFUSAL, specificationWords, stateWords, type Tone } from '../../words.ts'
import { isSoon } from '../messages/message-table.tsx'
import { NotSent } from './bulk-draft.tsx'
import { ownBulkSend, storedRows } from './own-bulk-send.ts'
import { AcceptedBar } from './sends.tsx'

async function notSent(visit: HolderVisit, send: BulkSend): Promise<readonly BulkRow[]> {
  const rows: BulkRow[] = []
  for await (const row of storedRows(visit, send)) if (row.refused !== undefined) rows.push(row)
  return rows
}

/** `/send/<id>/sent`: shows the progress of a send, lets the sender stop it, and lists the refused rows at its end. */
export const bulkSent = forHolders({
  path: '/send/:id/sent',
  async show(visit) {
    const send = await ownBulkSend(visit)
    if (send === undefined) return 'not-found'
    if (send.state === 'draft') return { goTo: `/send/${send.id}` }
    const isEnded = send.state === 'ended'
    const remaining = send.recipients - send.accepted - send.refused
    const refused = isEnded || send.failedOver !== undefined ? await notSent(visit, send) : []
    const { scheduled } = send
    const isAhead = scheduled !== undefined && scheduled > visit.now
    const outcomes = isEnded ? await visit.gateway.queries.bulkOutcomes(visit.account, send.id) : []
    const returned = await visit.gateway.queries.returnedCredits(visit.account, [send.id])
    const spent = sentCredits(send.cost, returned.get(send.id) ?? credits(0))
    const first = await firstMessages(visit, send)
    const waiting = outcomes.find(({ code }) => code === undefined)?.messages ?? 0
    return {
      title: 'Sent',
      place: 'sends',
      live:
        !isEnded ||
        (isSoon(scheduled, visit.now) && outcomes.some(({ code }) => code === undefined || code === OUTCOME.sent)),
      main: (
        <>
          <div id="progress" data-live="">
            <h1>{isEnded ? `${counted(send.accepted, 'message')} accepted` : 'Sending'}</h1>
            <Progress
              send={send}
              remaining={remaining}
              inDoubt={refused.filter((row) => row.refused === 'failed-over').length}
              of={spent}
            />
          </div>
          <div id="due" data-live="">
            {isAhead && <p>The messages are to go out at {when(scheduled, visit.now)}.</p>}
          </div>
          <div id="outcomes" data-live="">
            {outcomes.length > 0 && <Outcomes of={outcomes} isAhead={isAhead} />}
          </div>
          <div id="not-sent" data-live="">
            {isEnded && refused.length > 0 && (
              <NotSent id={send.id} rows={refused} title={notSentTitle(send, refused.length)} />
            )}
          </div>
          <div id="stop" data-live="">
            {send.state === 'running' && (
              <Form to={`/send/${send.id}/sent`}>
                <Hidden name="step" value="stop" />
                <Second>Stop</Second>
                <p class="hint">Messages that were accepted stay accepted. Nothing more is sent or charged.</p>
              </Form>
            )}
          </div>
          <div id="messages" data-live="">
            {first.length > 0 && <Messages of={first} accepted={send.accepted} isAhead={isAhead} />}
          </div>
          <div id="cancel" data-live="">
            {isEnded && isAhead && waiting > 0 && (
              <Form to={`/send/${send.id}/sent`}>
                <Hidden name="step" value="cancel" />
                <Second>Cancel {counted(waiting, 'message')}</Second>
                <p class="hint">These messages are not sent, and their credits are returned.</p>
              </Form>
            )}
          </div>
          <div class="actions" id="further" data-live="">
            {isEnded && <Link to={`/send/${send.id}/results`}>Download the results as CSV</Link>}
            <Link class="button second" to="/send">
              Send more messages
            </Link>
            <Link to="/messages">All messages</Link>
          </div>
        </>
      ),
    }
  },
  changes: 'stopBulkSend',
  async submit(visit, fields) {
    const send = await ownBulkSend(visit)
    if (send === undefined) return 'not-found'
    const step = fields.text('step')
    if (step === 'stop') await visit.gateway.commands.stopBulkSend(visit.account, send.id)
    if (step === 'cancel') await visit.gateway.commands.cancelBulkSend(visit.account, send.id)
    return { goTo: `/send/${send.id}/sent` }
  },
})

interface FirstMessage {
  readonly id: MessageId
  readonly status: Exclude<MessageStatus, 'not-found'>
}

const notSentTitle = ({ columns, failedOver }: BulkSend, rows: number): string => {
  const noMessage = `${counted(rows, columns.length === 0 ? 'number' : 'row')} got no message`
  return failedOver === undefined ? `${noMessage} and cost nothing` : `${noMessage} that is known here`
}

const shownMax = 50

/** Returns the first accepted messages, as many as a page shows. */
async function firstMessages({ gateway, account }: HolderVisit, { id }: BulkSend): Promise<readonly FirstMessage[]> {
  const ids = (await gateway.queries.bulkIds(account, id, 0)).slice(0, shownMax)
  const statuses = ids.length === 0 ? [] : await gateway.queries.queryStatus(account, ids)
  return ids.flatMap((message, at): FirstMessage[] => {
    const status = statuses[at]
    return status === undefined || status === 'not-found' ? [] : [{ id: message, status }]
  })
}

const Messages = ({
  of,
  accepted,
  isAhead,
}: {
  readonly of: readonly FirstMessage[]
  readonly accepted: number
  readonly isAhead: boolean
}) => (
  <Panel>
    <Table
      caption={accepted > of.length ? `The first ${of.length} of ${count(accepted)} messages` : 'Messages'}
      rows={of}
      empty=""
      columns={[
        { head: 'To', cell: ({ id, status }) => <Link to={`/messages/${id}`}>{status.number}</Link> },
        { head: 'Id', number: true, cell: ({ id }) => String(id) },
        { head: 'Net credits', number: true, cell: ({ status }) => amount(creditsOf(status).net) },
        { head: 'State', cell: ({ status }) => <State status={status} scheduled={isAhead} /> },
      ]}
    />
  </Panel>
)

interface ProgressProps {
  readonly send: BulkSend
  readonly remaining: number
  /** Number of rows that the lost database server may have accepted, if a failover stopped the send. */
  readonly inDoubt: number
  readonly of: SentCredits
}

const Progress = ({ send, remaining, inDoubt, of }: ProgressProps) => (
  <>
    {send.state === 'running' && (
      <p>This goes on by itself, also when you close the page. {counted(remaining, 'number')} remaining.</p>
    )}
    {send.failedOver !== undefined && <FailedOver rows={remaining + inDoubt} />}
    {send.isStopped && send.failedOver === undefined && (
      <Notice tone="wait">The send was stopped. The remaining numbers got no message.</Notice>
    )}
    {send.state === 'stopping' && (
      <Notice tone="wait">The send is being stopped. No further messages are accepted.</Notice>
    )}
    <Panel title="Progress">
      <AcceptedBar send={send} />
      <Figures
        of={[
          ['Accepted', count(send.accepted)],
          ['Not accepted', count(send.refused)],
          ['Remaining', count(remaining)],
          ...creditFigures(of),
        ]}
      />
    </Panel>
  </>
)

/** Notice that the promotion of a standby stopped the send, with the choice that the sender has. */
const FailedOver = ({ rows }: { readonly rows: number }) => (
  <Notice tone="wait">
    This send was stopped because the database failed over. {counted(rows, 'number')} not accepted here may have been
    sent by the server that was lost. To go on, download the numbers that got no message and send to them: some of them
    may get the message twice.
  </Notice>
)

/** Panel that counts the messages by state. */
function Outcomes({
  of,
  isAhead,
}: {
  readonly of: Awaited<ReturnType<Gateway['queries']['bulkOutcomes']>>
  readonly isAhead: boolean
}) {
  const byWord = new Map<string, { readonly word: string; readonly tone: Tone; value: number }>()
  for (const { code, messages } of of) {
    const { word, tone } = outcomeWords(code, isAhead)
    const same = byWord.get(word)
    if (same === undefined) byWord.set(word, { word, tone, value: messages })
    else same.value += messages
  }
  const order: readonly Tone[] = ['good', 'wait', 'bad', 'idle']
  const counts = [...byWord.values()].sort((a, b) => order.indexOf(a.tone) - order.indexOf(b.tone))
  return (
    <Panel title="Outcomes">
      <Bar of={counts} />
      <Figures of={counts.map(({ word, value }) => [capitalized(word), count(value)])} />
    </Panel>
  )
}

/**
 * `/send/<id>/results`: a file with the outcome of each accepted row, followed by the refused rows with their reasons.
 */
export const bulkResults = forHolders({
  path: '/send/:id/results',
  isFile: true,
  async show(visit) {
    const send = await ownBulkSend(visit)
    if (send === undefined || send.state === 'draft') return 'not-found'
    return { fileName: `results-${send.id}.csv`, rows: results(visit, send) }
  },
})

async function* results(visit: HolderVisit, send: BulkSend): AsyncIterable<readonly Cell[]> {
  const { gateway, account } = visit
  yield ['Number', 'Message', 'State', 'Code', ...creditHeads]
  for (let call = 0; call < send.calls; call++) {
    const ids = await gateway.queries.bulkIds(account, send.id, call)
    const statuses = ids.length === 0 ? [] : await gateway.queries.queryStatus(account, ids)
    for (const [at, id] of ids.entries()) {
      const status = statuses[at] ?? 'not-found'
      const number = status === 'not-found' ? '' : status.number
      yield [number, id, stateWords(status).word, specificationWords(status), ...creditCells(creditsOf(status))]
    }
  }
  for await (const { number, refused } of storedRows(visit, send))
    if (refused !== undefined) yield [number, '', ROW_REFUSAL[refused], '', ...creditCells(creditsOf('not-found'))]
}

/** `/send/<id>/refused`: a file with each row that gets or got no message, and the reason. */
export const bulkRefused = forHolders({
  path: '/send/:id/refused',
  isFile: true,
  async show(visit) {
    const send = await ownBulkSend(visit)
    if (send === undefined) return 'not-found'
    const quote = send.state === 'draft' ? await visit.gateway.queries.quoteBulkSend(visit.account, send.id) : undefined
    const rows = quote?.refused ?? (await notSent(visit, send))
    return {
      fileName: `not-sent-${send.id}.csv`,
      rows: [
        ['Row', 'Number', 'Reason', ...send.columns],
        ...rows.map(({ row, number, refused, fields }) => [
          row,
          ...[number, refused === undefined ? '' : ROW_REFUSAL[refused], ...fields.slice(0, send.columns.length)],
        ]),
      ],
    }
  },
})
