import type { Account } from '@gateway/core/accounts'
import { bulkSendLimits } from '@gateway/core/bulk-sends'
import type { OwnSenders } from '@gateway/core/messages'
import { FileField, Form, Hidden, Link, Main, ProblemSummary } from '../../components.tsx'
import type { Problems } from '../../forms.ts'
import { count } from '../../format.ts'
import type { View } from '../../page.ts'
import { Numbers, SendingFields, TextToSend, type Draft } from './draft-fields.tsx'
import { FilePreview } from './file-preview.tsx'
import { LiveQuote } from './live-quote.tsx'
import { noTemplates, Templates, type TemplateChoice } from './templates-choice.tsx'

const fileTypes =
  '.xlsx,.xlsm,.csv,.txt,.tsv,text/csv,text/plain,application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'

/** First step of a send: text, recipients, sender, time and options. */
export const compose = (
  { callingCode: country }: Pick<Account, 'callingCode'>,
  draft: Draft,
  own: OwnSenders,
  problems: Problems = {},
  choice: TemplateChoice = noTemplates,
): View => ({
  title: 'Send messages',
  place: 'send',
  status: Object.keys(problems).length > 0 ? 422 : 200,
  main: (
    <>
      <h1>Send messages</h1>
      <ProblemSummary problems={problems} />
      <Templates of={choice} to={draft.numbers} />
      <Form to="/send" class="panel" takesFile>
        <Hidden name="step" value="check" />
        <TextToSend text={draft.text} problems={problems} />
        <Numbers numbers={draft.numbers} country={country} problems={problems} />
        <FileField
          name="file"
          label="Or a file of numbers (Excel or CSV)"
          accept={fileTypes}
          problems={problems}
          hint={`The first sheet of a workbook (.xlsx), or a CSV file, with at most ${count(bulkSendLimits.rowsMax)} rows. The first row names the columns, which the text can use as fields: “Dear {name}”. The list is kept until it is sent, for at most ${bulkSendLimits.draftDays} days.`}
        />
        <FilePreview />
        <SendingFields draft={draft} own={own} problems={problems} />
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
