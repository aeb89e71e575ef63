import { readIdempotencyKey } from '@gateway/core/client-requests'
import { parseMessageId, type ScheduledChange, type SentMessageDetails } from '@gateway/core/messages'
import { Form, Hidden, Link, Main, Notice, ProblemSummary, TextField } from '../../components.tsx'
import { newFormKey, type Problems } from '../../forms.ts'
import { minuteOf } from '../../format.ts'
import { forHolders, type HolderVisit, type View } from '../../page.ts'
import { REFUSAL } from '../../words.ts'
import { readTime, textProblems, TextToSend, timeProblems } from '../send/draft-fields.tsx'
import { waitsForItsTime } from './message-table.tsx'

/** Returns the message of the path if it belongs to the account and still waits for its scheduled time. */
async function waitingMessage({
  gateway,
  account,
  now,
  parameters,
}: HolderVisit): Promise<SentMessageDetails | undefined> {
  const id = parseMessageId(parameters.id ?? '')
  const sentMessage = id === undefined ? undefined : await gateway.queries.showSent(account, id)
  return sentMessage !== undefined && waitsForItsTime(sentMessage, now) ? sentMessage : undefined
}

const view = (
  { id, number }: SentMessageDetails,
  { text, time }: { readonly text: string; readonly time: string },
  problems: Problems = {},
  isPast = false,
): View => ({
  title: 'Change a message',
  place: 'messages',
  status: Object.keys(problems).length > 0 ? 422 : 200,
  main: (
    <>
      <h1>Change the message to {number}</h1>
      <p>The message is cancelled and its credits are returned. A new message takes its place and is charged.</p>
      <ProblemSummary problems={problems} />
      {isPast && (
        <Notice tone="wait">
          <strong>The time that you chose has passed.</strong> Nothing has changed yet. Choose another time, or go on to
          send the message at once.
        </Notice>
      )}
      <Form to={`/messages/${id}/change`} class="panel">
        {isPast && <Hidden name="atOnce" value={time} />}
        <Hidden name="key" value={newFormKey()} />
        <TextToSend text={text} problems={problems} />
        <TextField
          name="time"
          label="Time"
          type="datetime-local"
          value={time}
          problems={problems}
          hint="In GMT+2. Leave it empty to send at once."
        />
        <Main>{isPast ? 'Change the message and send it at once' : 'Change the message'}</Main>
      </Form>
      <div class="actions">
        <Link to={`/messages/${id}`}>Keep the message as it is</Link>
      </div>
    </>
  ),
})

const whyNot = (why: Extract<ScheduledChange, { outcome: 'refused' }>['why']): string =>
  why === 'invalid-sender'
    ? 'Your account has no sender for this number.'
    : `${REFUSAL[why]}. The message waits as before.`

/** `/messages/<id>/change`: changes the text or time of a scheduled message. */
export const messageChange = forHolders({
  path: '/messages/:id/change',
  isForm: true,
  changes: 'changeScheduled',
  async show(visit) {
    const sentMessage = await waitingMessage(visit)
    if (sentMessage === undefined) {
      // After a step back, the message may already be cancelled or sent. Its page shows which.
      const id = parseMessageId(visit.parameters.id ?? '')
      const shown = id === undefined ? undefined : await visit.gateway.queries.showSent(visit.account, id)
      return shown === undefined ? 'not-found' : { goTo: `/messages/${shown.id}` }
    }
    return view(sentMessage, {
      text: sentMessage.text,
      time: sentMessage.scheduled === undefined ? '' : minuteOf(sentMessage.scheduled),
    })
  },
  async submit(visit, fields) {
    const { gateway, account, now, parameters } = visit
    const id = parseMessageId(parameters.id ?? '')
    const sentMessage = id === undefined ? undefined : await gateway.queries.showSent(account, id)
    if (id === undefined || sentMessage === undefined) return 'not-found'
    const [text, time] = [fields.text('text'), fields.trimmed('time')]
    const problems = { ...textProblems(text, undefined), ...timeProblems(time) }
    const due = readTime(time)
    const key = readIdempotencyKey(fields.text('key'))
    if (Object.keys(problems).length > 0 || due === 'unusable' || key === undefined || key === 'unusable')
      return view(sentMessage, { text, time }, problems)
    // A past time must be confirmed. Another past time must be confirmed again.
    if (due !== undefined && due <= now && fields.text('atOnce') !== time)
      return view(sentMessage, { text, time }, {}, true)
    const changed = await gateway.commands.changeScheduled(account, id, { text, due }, key)
    if (changed.outcome === 'changed') return { goTo: `/messages/${changed.id}?done=changed` }
    if (changed.outcome === 'refused') return view(sentMessage, { text, time }, { text: whyNot(changed.why) })
    return { goTo: `/messages/${id}?done=${changed.outcome === 'cancelled' ? 'not-again' : changed.outcome}` }
  },
})
