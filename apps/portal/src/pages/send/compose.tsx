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

/** A send as somebody has written it. */
export interface Draft {
  readonly text: string
  readonly numbers: string
  /** `2026-11-25T14:00` in gateway time, as browsers write it; blank: at once. */
  readonly time: string
}

export const draftOf = (fields: Fields): Draft => ({
  text: fields.text('text'),
  numbers: fields.text('numbers'),
  time: fields.trimmed('time'),
})

/** `2026-11-25T14:00` in gateway time, as browsers write it. Undefined: it is blank. */
export function readTime(time: string): Instant | undefined | 'unusable' {
  if (time === '') return undefined
  return parseMinute(time.replace(/[-T:]/g, '').slice(0, 12)) ?? 'unusable'
}

/** The text of a send, with how it will be sent, which is counted while it is typed. */
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
  /** Id of the draft that is being changed. */
  readonly draft?: string | undefined
}

/** Begins the text with one that was kept. */
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

/** The first step of a send: what, to whom and when. */
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
          hint={`With the country code, one a line or with commas between them, up to ${count(typedMax)}.`}
        />
        <FileField
          name="file"
          label="Or a file with them (CSV)"
          accept=".csv,.txt,.tsv,text/csv,text/plain"
          problems={problems}
          hint={`As a spreadsheet saves it, up to ${count(bulkSendLimits.rowsMax)} rows. Its first row names the columns, and the text may have their fields: “Dear {name}”. The file is kept until it is sent, a day at most.`}
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
        Texts that you send again and again can be kept as <Link to="/templates">templates</Link>. What you prepared and
        did not send is among your <Link to="/drafts">drafts</Link>.
      </p>
    </>
  ),
})
