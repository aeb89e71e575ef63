import { bulkSendLimits, type Template } from '@gateway/core/bulk-sends'
import { parseMinute, type Instant } from '@gateway/core/time'
import {
  Choice,
  FileField,
  Form,
  Hidden,
  Link,
  Main,
  ProblemSummary,
  Second,
  TextArea,
  TextField,
} from '../../components.tsx'
import type { Fields, Problems } from '../../forms.ts'
import { count } from '../../format.ts'
import type { View } from '../../page.ts'
import { typedMax } from '../../recipients.ts'
import { TextSize } from '../../text-size.tsx'
import { FilePreview } from './file-preview.tsx'
import { LiveQuote } from './live-quote.tsx'

/** Fields of a send as they were entered. */
export interface Draft {
  readonly text: string
  readonly numbers: string
  /** Scheduled time in gateway time as browsers write it, such as `2026-11-25T14:00`. Blank means at once. */
  readonly time: string
}

export const draftOf = (fields: Fields): Draft => ({
  text: fields.text('text'),
  numbers: fields.text('numbers'),
  time: fields.trimmed('time'),
})

/** Reads a time such as `2026-11-25T14:00` in gateway time. Returns undefined if it is blank. */
export function readTime(time: string): Instant | undefined | 'unusable' {
  if (time === '') return undefined
  return parseMinute(time.replace(/[-T:]/g, '').slice(0, 12)) ?? 'unusable'
}

/** Text field of a send. Its hint shows the length and the number of parts, and is updated while typing. */
export const TextToSend = ({ text, problems }: { readonly text: string; readonly problems: Problems }) => (
  <TextArea
    name="text"
    label="Text"
    rows={5}
    value={text}
    problems={problems}
    hint={<TextSize text={text} />}
    island="counter"
  />
)

interface TemplateChoice {
  readonly templates: readonly Template[]
  readonly chosen: Template | undefined
  /** Id of the draft that is being edited. */
  readonly draft?: string | undefined
}

/** Form that fills the text in from a stored template. */
const Templates = ({
  of: { templates, chosen, draft },
  numbers,
}: {
  readonly of: TemplateChoice
  readonly numbers: string
}) => (
  <form method="get" class="search">
    {draft !== undefined && <Hidden name="draft" value={draft} />}
    {draft === undefined && numbers !== '' && <Hidden name="to" value={numbers} />}
    <Choice
      name="template"
      label="Template"
      value={chosen === undefined ? '' : String(chosen.id)}
      options={[['', 'None'], ...templates.map(({ id, name }) => [String(id), name] as const)]}
    />
    <Second>Use</Second>
  </form>
)

/** First step of a send: text, recipients and time. */
export const compose = (
  { text, numbers, time }: Draft,
  problems: Problems = {},
  choice: TemplateChoice = { templates: [], chosen: undefined },
): View => ({
  title: 'Send messages',
  place: 'send',
  status: Object.keys(problems).length > 0 ? 422 : 200,
  main: (
    <>
      <h1>Send messages</h1>
      <ProblemSummary problems={problems} />
      {choice.templates.length > 0 && <Templates of={choice} numbers={numbers} />}
      <Form to="/send" class="panel" takesFile>
        <Hidden name="step" value="check" />
        <TextToSend text={text} problems={problems} />
        <TextArea
          name="numbers"
          label="Numbers"
          rows={6}
          value={numbers}
          problems={problems}
          hint={`With the country code, one per line or separated by commas, at most ${count(typedMax)}.`}
        />
        <FileField
          name="file"
          label="Or a file of numbers (CSV)"
          accept=".csv,.txt,.tsv,text/csv,text/plain"
          problems={problems}
          hint={`As a spreadsheet saves it, at most ${count(bulkSendLimits.rowsMax)} rows. Its first row names the columns, which the text can use as fields: “Dear {name}”. The list is kept until it is sent, for at most a day.`}
        />
        <FilePreview />
        <TextField
          name="time"
          label="Time (optional)"
          type="datetime-local"
          value={time}
          problems={problems}
          hint="In GMT+2. Leave it empty to send at once."
        />
        <LiveQuote />
        <Main>Check before sending</Main>
        <p class="hint">Nothing is sent or charged yet.</p>
      </Form>
      <p class="hint">
        Texts that you send repeatedly can be kept as <Link to="/templates">templates</Link>. Sends that you prepared
        but did not send are among your <Link to="/drafts">drafts</Link>.
      </p>
    </>
  ),
})
