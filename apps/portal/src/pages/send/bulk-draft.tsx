import {
  draftProblem,
  fieldsOf,
  type BulkQuote,
  type BulkRow,
  type BulkSend,
  type BulkSendId,
} from '@gateway/core/bulk-sends'
import { bodyOf } from '@gateway/core/messages'
import type { Instant } from '@gateway/core/time'
import { Form, Link, Main, Notice, Panel, ProblemSummary, Table, TextField } from '../../components.tsx'
import type { Problems } from '../../forms.ts'
import { count, counted, minuteOf, when, withYear } from '../../format.ts'
import { ListFields } from '../../list-fields.tsx'
import { forHolders, type HolderVisit, type View } from '../../page.ts'
import { TextSize } from '../../text-size.tsx'
import { ROW_REFUSAL } from '../../words.ts'
import { ChangedNumbers } from './changed-numbers.tsx'
import { readTime, TextToSend } from './compose.tsx'
import { problemsOf } from './from-file.ts'
import { needsColumn, numberColumnOf, ownBulkSend } from './own-bulk-send.ts'
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
    const quote = await visit.gateway.queries.quoteBulkSend(visit.account, send.id)
    if (quote === undefined) return 'not-found'
    const column = numberColumnOf(send, rows)
    return check(send, quote, column, visit.now)
  },
  changes: 'startBulkSend',
  async submit(visit) {
    const send = await ownBulkSend(visit)
    if (send === undefined) return 'not-found'
    const isUndecided =
      send.state === 'draft' && needsColumn(await visit.gateway.queries.bulkRows(visit.account, send.id, 0))
    if (isUndecided) return { goTo: `/send/${send.id}/columns` }
    const isStarted = await visit.gateway.commands.startBulkSend(visit.account, send.id)
    // A short send is accepted before its page is shown. If this fails, the send continues in the background.
    if (isStarted) await visit.gateway.commands.sendNextCall(send.id)
    // If the send was not started, the page of the started send redirects back to the check.
    return { goTo: `/send/${send.id}/sent` }
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

function check(send: BulkSend, quote: BulkQuote, column: number | undefined, now: Instant): View {
  const { messages, partsMin, partsMax, refused, changed } = quote
  const numbersIn = column === undefined ? undefined : send.columns[column]
  const isTyped = send.columns.length === 0
  const { scheduled } = send
  const isPast = scheduled !== undefined && scheduled <= now
  const later = scheduled !== undefined && !isPast ? `at ${when(scheduled, now)}` : isPast ? 'at once' : 'now'
  return {
    title: 'Check, then send',
    place: 'send',
    main: (
      <>
        <h1>Check, then send</h1>
        <p>Nothing has been sent or charged yet.</p>
        {isPast && <PastTime at={scheduled} />}
        <WhatItCosts messages={messages} parts={[partsMin, partsMax]} of={quote} />
        {refused.length > 0 && (
          <NotSent
            id={send.id}
            rows={refused}
            title={`${counted(refused.length, isTyped ? 'number' : 'row')} will not be sent to`}
          />
        )}
        {isTyped && <FieldsAsTheyStand text={send.text} />}
        <ChangedNumbers id={send.id} rows={changed} column={column} />
        <Panel title="Preview">
          {isTyped ? <TypedText text={send.text} /> : <Examples of={quote.examples} />}
          <p class="hint">
            Sent {later}. {!isTyped && <Link to={`/send/${send.id}/text`}>Change the text or the time</Link>}
          </p>
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
              <Main>
                Send {counted(messages, 'message')} {later}
              </Main>
            </Form>
          )}
          {isTyped ? <Link to={`/send?draft=${send.id}`}>Change it</Link> : <Link to="/send">Choose another list</Link>}
        </div>
      </>
    ),
  }
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

function TypedText({ text }: { readonly text: string }) {
  const body = bodyOf(text)
  return (
    <>
      <blockquote class="text">{typeof body === 'string' ? text : body.text}</blockquote>
      <p class="hint">
        <TextSize text={text} />
      </p>
    </>
  )
}

const Examples = ({ of }: { readonly of: BulkQuote['examples'] }) => (
  <>
    {of.map(({ row, text, parts }) => (
      <div key={row.row}>
        <blockquote class="text">{text}</blockquote>
        <p class="hint">
          To {row.number} (row {count(row.row)}): {counted(Array.from(text).length, 'character')},{' '}
          {counted(parts, 'part')}.
        </p>
      </div>
    ))}
  </>
)

/** `/send/<id>/text`: changes the text or time of a draft from a file. */
export const bulkText = forHolders({
  path: '/send/:id/text',
  isForm: true,
  async show(visit) {
    const send = await ownBulkSend(visit)
    if (send === undefined) return 'not-found'
    if (send.state !== 'draft') return { goTo: `/send/${send.id}/sent` }
    const time = send.scheduled === undefined ? '' : minuteOf(send.scheduled)
    const problems = visit.query.get('why') === 'problem' ? problemsOf(send.text, time, send.columns) : {}
    return textForm(visit, send, { text: send.text, time }, problems)
  },
  changes: 'startBulkSend',
  async submit(visit, fields) {
    const send = await ownBulkSend(visit)
    if (send === undefined) return 'not-found'
    const [text, time] = [fields.text('text'), fields.trimmed('time')]
    const problems = problemsOf(text, time, send.columns)
    const scheduled = readTime(time)
    if (Object.keys(problems).length > 0 || scheduled === 'unusable')
      return textForm(visit, send, { text, time }, problems)
    await visit.gateway.commands.changeBulkSend(visit.account, send.id, { text, scheduled })
    return { goTo: `/send/${send.id}` }
  },
})

async function textForm(
  { gateway, account }: HolderVisit,
  { id, columns }: BulkSend,
  { text, time }: { readonly text: string; readonly time: string },
  problems: Problems,
): Promise<View> {
  const list = { columns, rows: (await gateway.queries.bulkRows(account, id, 0)).slice(0, 1) }
  return {
    title: 'Change the text',
    place: 'send',
    status: Object.keys(problems).length > 0 ? 422 : 200,
    main: (
      <>
        <h1>Change the text or the time</h1>
        <ProblemSummary problems={problems} />
        <Form to={`/send/${id}/text`} class="panel">
          <TextToSend text={text} problems={problems} />
          {columns.length > 0 && (
            <div data-island="fields" data-list={JSON.stringify(list)}>
              <ListFields of={list} text={text} />
            </div>
          )}
          <TextField
            name="time"
            label="Time (optional)"
            type="datetime-local"
            value={time}
            problems={problems}
            hint="In GMT+2. Leave it empty to send at once."
          />
          <Main>Check before sending</Main>
        </Form>
      </>
    ),
  }
}
