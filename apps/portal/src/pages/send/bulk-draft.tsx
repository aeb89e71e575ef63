import {
  draftProblem,
  fieldsOf,
  type BulkQuote,
  type BulkRow,
  type BulkSend,
  type BulkSendId,
} from '@gateway/core/bulk-sends'
import { isNameOfSender, parseMessageId, type OwnSenders } from '@gateway/core/messages'
import type { Instant } from '@gateway/core/time'
import { Form, Hidden, Link, Main, Notice, Panel, Table } from '../../components.tsx'
import type { Problems } from '../../forms.ts'
import { count, counted, when, withYear } from '../../format.ts'
import { forHolders, type Answer, type HolderVisit, type View } from '../../page.ts'
import { ROW_REFUSAL } from '../../words.ts'
import { ChangedNumbers } from './changed-numbers.tsx'
import { operatorsNumber, validityWords } from './draft-fields.tsx'
import { isTyped, needsColumn, numberColumnOf, ownBulkSend } from './own-bulk-send.ts'
import { TestMessage, Texts } from './preview.tsx'
import { sendTest } from './send-test.ts'
import { WhatItCosts } from './what-it-costs.tsx'

/**
 * `/send/<id>`: shows what a send will do and cost, before it starts. Submitting the page starts the send once. A later
 * visit or submission leads to the page of the started send.
 */
export const bulkDraft = forHolders({
  path: '/send/:id',
  async show(visit) {
    const send = await ownBulkSend(visit)
    if (send === undefined) return 'not-found'
    if (send.state !== 'draft') return { goTo: `/send/${send.id}/sent` }
    if (draftProblem(send.text, send.columns).length > 0) return { goTo: `/send/${send.id}/text?why=problem` }
    const rows = await visit.gateway.queries.bulkRows(visit.account, send.id, 0)
    if (needsColumn(rows)) return { goTo: `/send/${send.id}/columns` }
    const row = visit.query.get('row') ?? ''
    return checkOf(visit, send, { rows, chosenRow: /^[1-9][0-9]{0,6}$/.test(row) ? Number(row) : undefined })
  },
  changes: 'startBulkSend',
  async submit(visit, fields) {
    const send = await ownBulkSend(visit)
    if (send === undefined) return 'not-found'
    const rows = send.state === 'draft' ? await visit.gateway.queries.bulkRows(visit.account, send.id, 0) : []
    if (needsColumn(rows)) return { goTo: `/send/${send.id}/columns` }
    if (send.state === 'draft' && fields.text('step') === 'test') {
      const sent = await sendTest(visit, send, fields)
      const chosenRow = fields.number('row')
      if (typeof sent !== 'object') return { goTo: `/send/${send.id}?row=${chosenRow ?? ''}&test=${sent}` }
      return checkOf(visit, send, {
        rows,
        chosenRow,
        number: fields.text('number'),
        problems: { number: sent.problem },
      })
    }
    const revision = /^[0-9]{1,9}$/.test(fields.text('revision')) ? Number(fields.text('revision')) : -1
    const isStarted = await visit.gateway.commands.startBulkSend(visit.account, send.id, revision)
    // A short send is accepted before its page is shown. If this fails, the send continues in the background.
    if (isStarted) await visit.gateway.commands.sendNextCall(send.id)
    const isDraft = !isStarted && (await ownBulkSend(visit))?.state === 'draft'
    return { goTo: isDraft ? `/send/${send.id}?why=changed` : `/send/${send.id}/sent` }
  },
})

/** Counts the refused rows by reason, the most frequent reason first. */
export function byReason(rows: readonly BulkRow[]) {
  const counts = new Map<NonNullable<BulkRow['refused']>, { numbers: number; readonly some: BulkRow[] }>()
  for (const row of rows) {
    if (row.refused === undefined) continue
    const same = counts.get(row.refused)
    if (same === undefined) {
      counts.set(row.refused, { numbers: 1, some: [row] })
      continue
    }
    same.numbers++
    if (same.some.length < shownMax) same.some.push(row)
  }
  return [...counts].map(([reason, group]) => ({ reason, ...group })).sort((a, b) => b.numbers - a.numbers)
}

/** Maximum number of rows shown for each reason. The file has all of them. */
const shownMax = 3

const Which = ({ rows, of }: { readonly rows: readonly BulkRow[]; readonly of: number }) => (
  <span class="text">
    {rows.map(({ row, number }) => `row ${count(row)}: “${number}”`).join(', ')}
    {of > rows.length && ` and ${count(of - rows.length)} more`}
  </span>
)

/** Panel of the numbers that get no message and why, with a link to the full list as a file. */
export const NotSent = ({ id, rows, title }: { id: BulkSendId; rows: readonly BulkRow[]; title: string }) => (
  <Panel title={title}>
    <Table
      caption="Reasons and number of rows"
      rows={byReason(rows)}
      empty=""
      columns={[
        { head: 'Reason', cell: ({ reason }) => ROW_REFUSAL[reason] },
        { head: 'Numbers', number: true, cell: ({ numbers }) => count(numbers) },
        { head: 'Which', cell: ({ some, numbers }) => <Which rows={some} of={numbers} /> },
      ]}
    />
    <p class="hint">
      <Link to={`/send/${id}/refused`}>Download {rows.length === 1 ? 'it' : `these ${count(rows.length)}`} as CSV</Link>
    </p>
  </Panel>
)

interface CheckRequest {
  /** Rows of the first call. */
  readonly rows: readonly BulkRow[]
  /** Line of a row whose message is shown. */
  readonly chosenRow: number | undefined
  /** Number that was entered for a test. */
  readonly number?: string
  /** Errors of a test. */
  readonly problems?: Problems
}

async function checkOf(visit: HolderVisit, send: BulkSend, request: CheckRequest): Promise<Answer> {
  const { gateway, account, query, now } = visit
  const { rows, chosenRow, number = '', problems = {} } = request
  const quote = await gateway.queries.quoteBulkSend(account, send.id, chosenRow)
  if (quote === undefined) return 'not-found'
  const own = await gateway.queries.listOwnSenders(account)
  const test = { number, problems, sent: await testOf(visit) }
  return check({ send, quote, own, column: numberColumnOf(send, rows, account), chosenRow, test, now, query })
}

/** Returns the test message that the address names, if the account has it. */
async function testOf({ gateway, account, query }: HolderVisit) {
  const id = parseMessageId(query.get('test') ?? '')
  if (id === undefined) return undefined
  const [status] = await gateway.queries.queryStatus(account, [id])
  return status === undefined || status === 'not-found' ? undefined : { id, number: status.number }
}

interface Checked extends Pick<HolderVisit, 'now' | 'query'> {
  readonly send: BulkSend
  readonly quote: BulkQuote
  readonly own: OwnSenders
  /** Index of the column that the numbers were read from, or undefined for a typed list. */
  readonly column: number | undefined
  readonly chosenRow: number | undefined
  readonly test: Omit<Parameters<typeof TestMessage>[0], 'send' | 'row'>
}

function check({ send, quote, own, column, chosenRow, test, now, query }: Checked): View {
  const { messages, partsMin, partsMax, refused, changed } = quote
  const numbersIn = column === undefined ? undefined : send.columns[column]
  const { scheduled } = send
  const testRow = quote.chosen?.parts === undefined ? quote.examples[0] : quote.chosen
  const isPast = scheduled !== undefined && scheduled <= now
  const later = scheduled !== undefined && !isPast ? `at ${when(scheduled, now)}` : isPast ? 'at once' : 'now'
  return {
    title: 'Check, then send',
    place: 'send',
    status: Object.keys(test.problems).length > 0 ? 422 : 200,
    main: (
      <>
        <h1>Check, then send</h1>
        <p>Nothing has been sent or charged yet.</p>
        {query.get('why') === 'changed' && (
          <Notice tone="wait">
            This send was changed in another window after you opened it here. Check it again. Nothing was sent.
          </Notice>
        )}
        {isPast && <PastTime at={scheduled} />}
        <WhatItCosts messages={messages} parts={[partsMin, partsMax]} of={quote} />
        {refused.length > 0 && (
          <NotSent
            id={send.id}
            rows={refused}
            title={`${counted(refused.length, isTyped(send) ? 'number' : 'row')} will not be sent to`}
          />
        )}
        {isTyped(send) && <FieldsAsTheyStand text={send.text} />}
        <ChangedNumbers id={send.id} rows={changed} column={column} />
        <Panel title="Preview">
          <Texts send={send} quote={quote} chosenRow={chosenRow} />
          <Sending send={send} senders={quote.senders} own={own} later={later} />
          {numbersIn !== undefined && (
            <p class="hint">
              The numbers are in the column <span class="text">“{numbersIn}”</span>.{' '}
              <Link to={`/send/${send.id}/columns`}>Choose another column</Link>
            </p>
          )}
        </Panel>
        <div class="actions">
          {messages > 0 && (
            <Form to={`/send/${send.id}`}>
              <Hidden name="revision" value={String(send.revision)} />
              <Main>
                Send {counted(messages, 'message')} {later}
              </Main>
            </Form>
          )}
          <Link to={`/send/${send.id}/text`}>Change it</Link>
          {!isTyped(send) && <Link to="/send">Choose another list</Link>}
        </div>
        {testRow !== undefined && <TestMessage send={send} row={testRow.row.row} {...test} />}
      </>
    ),
  }
}

/** States from whom, when and how a send goes out. */
function Sending({
  send: { options = {} },
  senders,
  own,
  later,
}: {
  readonly send: BulkSend
  readonly senders: BulkQuote['senders']
  readonly own: OwnSenders
  readonly later: string
}) {
  const { validity, flash, category } = options
  return (
    <p class="hint">
      {senders.size > 0 && `Sent ${later} from ${sendersInWords(senders, own)}.`}
      {validity !== undefined && ` Given up if it is not delivered within ${validityWords(validity)}.`}
      {flash === true && ' Shown at once on the screen, and not kept on the phone.'}
      {category !== undefined && (
        <>
          {' '}
          Category: <span class="text">{category}</span>.
        </>
      )}
    </p>
  )
}

/** Names the senders of a send, such as `ACME (3 messages, nobody can reply) and 27825550199 (1 message)`. */
function sendersInWords(senders: BulkQuote['senders'], { usual }: OwnSenders): string {
  const named = [...senders].map(([from, messages]) => {
    const sender = from ?? usual
    const notes = [
      ...(senders.size > 1 ? [counted(messages, 'message')] : []),
      ...(sender !== undefined && isNameOfSender(sender) ? ['nobody can reply'] : []),
    ]
    return `${sender ?? operatorsNumber}${notes.length === 0 ? '' : ` (${notes.join(', ')})`}`
  })
  return named.join(' and ')
}

/** Warns that the chosen time is in the past. */
const PastTime = ({ at }: { readonly at: Instant }) => (
  <Notice tone="wait">
    <strong>The time that you chose has passed:</strong> {withYear(at)}. If you continue, the messages are sent at once.
  </Notice>
)

/** Warns that fields such as `{name}` are not filled in if the numbers were typed instead of read from a file. */
function FieldsAsTheyStand({ text }: { readonly text: string }) {
  const fields = fieldsOf(text).map((name) => `{${name}}`)
  if (fields.length === 0) return null
  return (
    <Notice tone="wait">
      The text has {fields.join(', ')}, which is sent unchanged: only the columns of a file fill in fields.
    </Notice>
  )
}
