import { fieldsOf, type BulkQuote, type BulkSend, type QuotedRow } from '@gateway/core/bulk-sends'
import { bodyOf, type MessageId } from '@gateway/core/messages'
import { Form, Hidden, Link, Notice, Second, TextField } from '../../components.tsx'
import { newFormKey, type Problems } from '../../forms.ts'
import { amount, count, counted } from '../../format.ts'
import { TextSize } from '../../text-size.tsx'
import { ROW_REFUSAL } from '../../words.ts'
import { isTyped } from './own-bulk-send.ts'

interface ShownRow {
  readonly message: QuotedRow
  /** Reasons why the row is shown, such as `longest`. */
  readonly labels: readonly string[]
}

/** Returns the messages to show: the chosen one, the first ones, the longest and the dearest, each once. */
function shownRows({ text }: BulkSend, { chosen, examples, longest, dearest, messages, cost }: BulkQuote) {
  const rows = new Map<number, ShownRow>()
  const add = (message: QuotedRow | undefined, label?: string): void => {
    if (message === undefined) return
    const labels = [...(rows.get(message.row.row)?.labels ?? []), ...(label === undefined ? [] : [label])]
    rows.set(message.row.row, { message, labels })
  }
  if (chosen?.parts !== undefined) add(chosen, 'the row that you chose')
  for (const example of examples) add(example)
  if (fieldsOf(text).length > 0 && messages > 1) add(longest, 'the longest message')
  if (dearest !== undefined && dearest.cost * messages > cost) add(dearest, 'the dearest message')
  return [...rows.values()]
}

const ShownMessage = ({ message: { row, text, parts, cost }, labels }: ShownRow) => (
  <div>
    <blockquote class="text">{text}</blockquote>
    <p class="hint">
      To {row.number} (row {count(row.row)}): {counted(Array.from(text).length, 'character')}, {counted(parts, 'part')},{' '}
      {amount(cost)} credits.{labels.length > 0 && ` This is ${labels.join(' and ')}.`}
    </p>
  </div>
)

interface PreviewProps {
  readonly send: BulkSend
  readonly quote: BulkQuote
  /** Line that the reader has asked for. */
  readonly chosenRow: number | undefined
}

/** The texts as the recipients get them. */
export function Texts({ send, quote, chosenRow }: PreviewProps) {
  if (isTyped(send)) return <TypedText text={send.text} />
  const { chosen } = quote
  return (
    <>
      {chosenRow !== undefined && chosen === undefined && (
        <p>Row {count(chosenRow)} of the list is not there or blank.</p>
      )}
      {chosen !== undefined && chosen.parts === undefined && (
        <div>
          <blockquote class="text">{chosen.text}</blockquote>
          <p class="hint">
            Row {count(chosen.row.row)} gets no message. {ROW_REFUSAL[chosen.row.refused ?? 'unknown']}.
          </p>
        </div>
      )}
      {shownRows(send, quote).map((shown) => (
        <ShownMessage key={shown.message.row.row} {...shown} />
      ))}
      <form method="get" class="search">
        <TextField
          name="row"
          label="Show the message of row"
          value={chosenRow === undefined ? '' : String(chosenRow)}
        />
        <Second>Show</Second>
      </form>
    </>
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

interface TestProps {
  readonly send: BulkSend
  /** Row whose text is sent. */
  readonly row: number
  /** Number as it was entered. */
  readonly number: string
  readonly problems: Problems
  /** Test that was sent before. */
  readonly sent: { readonly id: MessageId; readonly number: string } | undefined
}

/** Form that sends the text of one row to a number of the reader's own. */
export const TestMessage = ({ send, row, number, problems, sent }: TestProps) => (
  <>
    {sent !== undefined && (
      <Notice>
        The test was sent to {sent.number}: <Link to={`/messages/${sent.id}`}>message {sent.id}</Link>.
      </Notice>
    )}
    <Form to={`/send/${send.id}`} class="panel">
      <h2>Try it on your own phone</h2>
      <Hidden name="step" value="test" />
      <Hidden name="row" value={String(row)} />
      <Hidden name="key" value={newFormKey()} />
      <TextField
        name="number"
        label="Your number"
        value={number}
        problems={problems}
        hint={`The text${isTyped(send) ? '' : ` of row ${count(row)}`} is sent to this number at once, and charged. Nobody of the list gets it.`}
      />
      <Second>Send a test</Second>
    </Form>
  </>
)
