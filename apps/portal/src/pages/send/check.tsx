import { fieldsOf } from '@gateway/core/bulk-sends'
import type { Body, Quote } from '@gateway/core/messages'
import type { Instant } from '@gateway/core/time'
import { Form, Hidden, Main, Notice, Panel, Second, Table } from '../../components.tsx'
import { newFormKey } from '../../forms.ts'
import { count, counted, when } from '../../format.ts'
import type { Download, View } from '../../page.ts'
import { REFUSAL } from '../../words.ts'
import { DraftFields, type Draft } from './compose.tsx'
import { byReason } from './live-quote.tsx'
import { WhatItCosts } from './what-it-costs.tsx'

export interface Checked {
  readonly draft: Draft
  readonly body: Body
  readonly due: Instant | undefined
  readonly now: Instant
  readonly quote: Quote<string>
  /** How many more times numbers were in the list. */
  readonly repeated: number
}

const willNot = (howMany: number): string => `${counted(howMany, 'number')} will not be sent to`

/** The second step of a send: what it will do, before it does. */
export function check({ draft, body, due, now, quote, repeated }: Checked): View {
  const recipients = quote.texts.flat()
  const refused = recipients.filter((one) => 'refused' in one)
  const accepted = recipients.length - refused.length
  const fields = fieldsOf(draft.text).map((name) => `{${name}}`)
  const later = due === undefined ? 'now' : `at ${when(due, now)}`
  return {
    title: 'Check, then send',
    place: 'send',
    main: (
      <>
        <h1>Check, then send</h1>
        <p>Nothing has been sent or charged yet.</p>
        <WhatItCosts messages={accepted} parts={[body.parts, body.parts]} of={quote} />
        {refused.length > 0 && (
          <Panel title={willNot(refused.length)}>
            <Table
              caption="Why, and which"
              rows={byReason(refused)}
              empty=""
              columns={[
                { head: 'Reason', cell: ({ reason }) => REFUSAL[reason] },
                { head: 'Numbers', number: true, cell: ({ numbers }) => count(numbers.length) },
                { head: 'Which', cell: ({ numbers }) => <Which numbers={numbers} /> },
              ]}
            />
            <Form to="/send" gives="file">
              <DraftFields draft={draft} />
              <Hidden name="step" value="refused" />
              <Second>Download {refused.length === 1 ? 'it' : `these ${count(refused.length)}`} as CSV</Second>
            </Form>
          </Panel>
        )}
        {repeated > 0 && (
          <Notice tone="idle">
            {counted(repeated, 'repetition')} in the list {repeated === 1 ? 'is' : 'are'} left out: each number gets one
            message.
          </Notice>
        )}
        {fields.length > 0 && (
          <Notice tone="wait">
            The text has {fields.join(', ')}, which is sent as it stands: only the columns of a file fill fields in.
          </Notice>
        )}
        <Panel title="How it reads">
          <blockquote class="text">{body.text}</blockquote>
          <p class="hint">
            {counted(Array.from(body.text).length, 'character')}, {counted(body.parts, 'part')}, sent {later}.
            {body.text !== draft.text &&
              ' Characters that would make it dearer were replaced by others that look alike.'}
            {body.encoding === 'ucs-2' &&
              ' It has characters that need more room: a part has 70 of them, or 67 of several.'}
          </p>
        </Panel>
        <div class="actions">
          {accepted > 0 && (
            <Form to="/send">
              <DraftFields draft={draft} />
              <Hidden name="step" value="send" />
              <Hidden name="key" value={newFormKey()} />
              <Main>
                Send {counted(accepted, 'message')} {later}
              </Main>
            </Form>
          )}
          <Form to="/send">
            <DraftFields draft={draft} />
            <Hidden name="step" value="change" />
            <Second>Change it</Second>
          </Form>
        </div>
      </>
    ),
  }
}

/** The numbers that get no message, each with its reason, as a file. */
export const refusedFile = ({ texts }: Quote<string>): Download => ({
  fileName: 'not-sent.csv',
  rows: [
    ['Number', 'Reason'],
    ...texts.flat().flatMap((one) => ('refused' in one ? [[{ text: one.number }, REFUSAL[one.refused]]] : [])),
  ],
})

const shownMax = 3

const Which = ({ numbers }: { readonly numbers: readonly string[] }) =>
  numbers.length <= shownMax ? (
    <span class="text">{numbers.join(', ')}</span>
  ) : (
    <details>
      <summary class="text">
        {numbers.slice(0, shownMax).join(', ')} and {count(numbers.length - shownMax)} more
      </summary>
      <span class="text">{numbers.join(', ')}</span>
    </details>
  )
