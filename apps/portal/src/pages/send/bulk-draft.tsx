import type { BulkQuote, BulkRow, BulkSend, BulkSendId, Instant } from '@gateway/core'
import { Figures, Form, Link, Main, Panel, ProblemSummary, Table, TextField } from '../../components.tsx'
import type { Problems } from '../../forms.ts'
import { amount, count, counted, when } from '../../format.ts'
import { forHolders, type HolderVisit, type View } from '../../page.ts'
import { ROW_REFUSAL } from '../../words.ts'
import { readTime, TextToSend } from './compose.tsx'
import { problemsOf } from './from-file.ts'

/** A stored send of the account that the path names. */
export async function ownBulkSend({ gateway, account, parameters }: HolderVisit): Promise<BulkSend | undefined> {
  const id = /^[1-9][0-9]{0,14}$/.test(parameters.id ?? '') ? Number(parameters.id) : undefined
  return id === undefined ? undefined : gateway.findBulkSend(account, id as BulkSendId)
}

/** `/send/<id>`: what a send to many will do, before it does; then it begins, once. */
export const bulkDraft = forHolders({
  path: '/send/:id',
  async show(visit) {
    const send = await ownBulkSend(visit)
    if (send === undefined) return 'not-found'
    if (send.state !== 'draft') return { goTo: `/send/${send.id}/sent` }
    const quote = await visit.gateway.quoteBulkSend(visit.account, send.id)
    return quote === undefined ? 'not-found' : check(send, quote, visit.now)
  },
  changes: 'startBulkSend',
  async submit(visit) {
    const send = await ownBulkSend(visit)
    if (send === undefined) return 'not-found'
    await visit.gateway.startBulkSend(visit.account, send.id)
    return { goTo: `/send/${send.id}/sent` }
  },
})

/** How many rows have each reason, the most frequent first. */
export function byReason(rows: readonly BulkRow[]) {
  const counts = new Map<NonNullable<BulkRow['refused']>, { numbers: number; first: BulkRow }>()
  for (const row of rows) {
    if (row.refused === undefined) continue
    const counted = counts.get(row.refused)
    if (counted === undefined) counts.set(row.refused, { numbers: 1, first: row })
    else counted.numbers++
  }
  return [...counts].map(([reason, its]) => ({ reason, ...its })).sort((a, b) => b.numbers - a.numbers)
}

/** Which numbers get no message and why, with all of them as a file. */
export const NotSent = ({ id, rows, title }: { id: BulkSendId; rows: readonly BulkRow[]; title: string }) => (
  <Panel title={title}>
    <Table
      caption="Why, and how many"
      rows={byReason(rows)}
      empty=""
      columns={[
        { head: 'Reason', cell: ({ reason }) => ROW_REFUSAL[reason] },
        { head: 'Numbers', number: true, cell: ({ numbers }) => count(numbers) },
        {
          head: 'Example',
          cell: ({ first }) => (
            <span class="text">
              row {count(first.row)}: “{first.number}”
            </span>
          ),
        },
      ]}
    />
    <p class="hint">
      <Link to={`/send/${id}/refused`}>Download {rows.length === 1 ? 'it' : `these ${count(rows.length)}`} as CSV</Link>
    </p>
  </Panel>
)

function check(send: BulkSend, quote: BulkQuote, now: Instant): View {
  const { messages, partsMin, partsMax, cost, wanted, balance, left, refused, examples } = quote
  const later = send.scheduled !== undefined && send.scheduled > now ? `at ${when(send.scheduled, now)}` : 'now'
  return {
    title: 'Check, then send',
    place: 'send',
    main: (
      <>
        <h1>Check, then send</h1>
        <p>Nothing has been sent or charged yet.</p>
        <Panel title="What it costs">
          <Figures
            of={[
              ['Messages', count(messages)],
              ['Parts each', partsMin === partsMax ? count(partsMin) : `${count(partsMin)} to ${count(partsMax)}`],
              ['Price', amount(cost)],
              ['Left afterwards', amount(left)],
            ]}
          />
          {wanted > balance && (
            <p class="problem">
              All of them would cost {amount(wanted)} credits, and you have {amount(balance)}:{' '}
              {counted(messages, 'message')} can be sent.
            </p>
          )}
        </Panel>
        {refused.length > 0 && (
          <NotSent id={send.id} rows={refused} title={`${counted(refused.length, 'row')} will not be sent to`} />
        )}
        <Panel title="How it reads">
          {examples.map(({ row, text, parts }) => (
            <div key={row.row}>
              <blockquote class="text">{text}</blockquote>
              <p class="hint">
                To {row.number} (row {count(row.row)}): {counted(Array.from(text).length, 'character')},{' '}
                {counted(parts, 'part')}.
              </p>
            </div>
          ))}
          <p class="hint">
            Sent {later}. <Link to={`/send/${send.id}/text`}>Change the text or the time</Link>
          </p>
        </Panel>
        <div class="actions">
          {messages > 0 && (
            <Form to={`/send/${send.id}`}>
              <Main>
                Send {counted(messages, 'message')} {later}
              </Main>
            </Form>
          )}
          <Link to="/send">Choose another list</Link>
        </div>
      </>
    ),
  }
}

/** `/send/<id>/text`: another text or time for a list that is stored. */
export const bulkText = forHolders({
  path: '/send/:id/text',
  async show(visit) {
    const send = await ownBulkSend(visit)
    if (send?.state !== 'draft') return 'not-found'
    return textForm(send, { text: send.text, time: '' })
  },
  changes: 'startBulkSend',
  async submit(visit, fields) {
    const send = await ownBulkSend(visit)
    if (send === undefined) return 'not-found'
    const [text, time] = [fields.text('text'), fields.trimmed('time')]
    const problems = problemsOf(text, time, send.columns)
    const scheduled = readTime(time)
    if (Object.keys(problems).length > 0 || scheduled === 'unusable') return textForm(send, { text, time }, problems)
    await visit.gateway.changeBulkSend(visit.account, send.id, { text, scheduled })
    return { goTo: `/send/${send.id}` }
  },
})

const textForm = (
  { id, columns }: BulkSend,
  { text, time }: { readonly text: string; readonly time: string },
  problems: Problems = {},
): View => ({
  title: 'Change the text',
  place: 'send',
  status: Object.keys(problems).length > 0 ? 422 : 200,
  main: (
    <>
      <h1>Change the text or the time</h1>
      <ProblemSummary problems={problems} />
      <Form to={`/send/${id}/text`} class="panel">
        <TextToSend text={text} problems={problems} />
        {columns.length > 0 && <p class="hint text">Fields: {columns.map((name) => `{${name}}`).join(', ')}</p>}
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
})
