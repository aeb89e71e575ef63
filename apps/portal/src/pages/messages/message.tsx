import { OUTCOME, parseMessageId, type SentMessageDetails } from '@gateway/core/messages'
import type { Instant } from '@gateway/core/time'
import { incidentText } from '@gateway/wire'
import type { ComponentChildren } from 'preact'
import { Form, Link, Notice, Panel, Second, State } from '../../components.tsx'
import { amount, capitalized, counted, exactly, iso } from '../../format.ts'
import { forHolders, type View } from '../../page.ts'
import { specificationWords, stateWords } from '../../words.ts'
import { mayChange, waitsForItsTime } from './message-table.tsx'

type Step = readonly [at: Instant | undefined, content: ComponentChildren]

/** Returns the steps of a message in order of time. The last one is its present state. */
function stepsOf({
  accepted,
  scheduled,
  parts,
  cost,
  reference,
  options,
  from,
  status,
  trace,
}: SentMessageDetails): readonly Step[] {
  const { place, incidents, refundByHand, bind } = trace
  const now = stateWords(status, scheduled !== undefined && place.place === 'scheduled')
  const decided = place.place === 'decided' ? place : undefined
  const isRefunded = decided?.refunded === true
  const accepting = (
    <>
      Accepted: {counted(parts, 'part')}, {amount(cost)} credits charged
      {from !== undefined && `, from ${from}`}
      {reference !== undefined && `, reference ${reference}`}
      {options.category !== undefined && `, category ${options.category}`}
      {bind !== undefined && `, over SMPP by ${bind.systemId ?? 'a removed credential'}`}
      {bind?.remote !== undefined && ` (${bind.remote})`}.
    </>
  )
  const steps: Step[] = [
    [accepted, accepting],
    ...(scheduled === undefined ? [] : [[scheduled, 'To be sent at this time.'] as const]),
    ...incidents.map(({ at, name: incident }) => [at, `${capitalized(incidentText(incident))}.`] as const),
  ]
  if (decided?.carrier !== undefined && decided.reference !== undefined) {
    steps.push([decided.stored, `The carrier accepted it as ${decided.reference}.`])
  }
  const finalStep = (
    <>
      <strong>{capitalized(now.word)}.</strong> {now.meaning} <span class="soft">{specificationWords(status)}</span>
    </>
  )
  // Omit the final step if the carrier has the message, because the previous step already says so.
  if (decided === undefined || decided.code !== OUTCOME.sent) steps.push([decided?.at, finalStep])
  if (refundByHand !== undefined)
    steps.push([refundByHand.at, `${amount(cost)} credits were returned: ${refundByHand.why}`])
  else if (isRefunded) steps.push([decided.at, `${amount(cost)} credits were returned.`])
  const known = steps.filter(([at]) => at !== undefined).sort(([a = 0], [b = 0]) => a - b)
  return [...known, ...steps.filter(([at]) => at === undefined)]
}

/** List of the steps of a message. */
export const Story = ({ of }: { readonly of: SentMessageDetails }) => (
  <ol class="story">
    {stepsOf(of).map(([at, text], i) => (
      <li key={i}>
        {at !== undefined && (
          <>
            <time datetime={iso(at)}>{exactly(at)}</time>
            <br />
          </>
        )}
        {text}
      </li>
    ))}
  </ol>
)

function view(sentMessage: SentMessageDetails, now: Instant, done: string | null): View {
  const { id, number, text, status } = sentMessage
  const waits = waitsForItsTime(sentMessage, now)
  return {
    title: `Message ${id}`,
    place: 'messages',
    live: mayChange([sentMessage], now),
    main: (
      <>
        {done === 'cancelled' && <Notice>The message was cancelled, and its credits were returned.</Notice>}
        {done === 'changed' && <Notice>The message was changed. This new message takes its place.</Notice>}
        {done === 'not-again' && (
          <Notice tone="bad">
            The message was cancelled and its credits were returned, but the changed message could not be accepted.
            Write it again.
          </Notice>
        )}
        {done === 'sent' && (
          <Notice tone="wait">Nothing was changed, because the message was already on its way.</Notice>
        )}
        <h1 id="heading" data-live="">
          Message {id} to {number} <State status={status} scheduled={waits} />
        </h1>
        <Panel live="story">
          <blockquote class="text">{text}</blockquote>
          <Story of={sentMessage} />
        </Panel>
        <div class="actions" id="actions" data-live="">
          {waits && <Link to={`/messages/${id}/change`}>Change the text or the time</Link>}
          {waits && (
            <Form to={`/messages/${id}`}>
              <Second>Cancel this message</Second>
            </Form>
          )}
          <Link to={`/send?to=${number}`}>Write to {number}</Link>
          <Link to={`/messages?q=${number}`}>All messages to {number}</Link>
        </div>
      </>
    ),
  }
}

/** `/messages/<id>`: shows the history of one message, and cancels it while it waits for its scheduled time. */
export const message = forHolders({
  path: '/messages/:id',
  async show({ gateway, account, now, parameters, query }) {
    const id = parseMessageId(parameters.id ?? '')
    const sentMessage = id === undefined ? undefined : await gateway.queries.showSent(account, id)
    return sentMessage === undefined ? 'not-found' : view(sentMessage, now, query.get('done'))
  },
  changes: 'deleteScheduled',
  async submit({ gateway, account, parameters }) {
    const id = parseMessageId(parameters.id ?? '')
    const [deletion] = id === undefined ? [] : await gateway.commands.deleteScheduled(account, [id])
    if (id === undefined || deletion === undefined) return 'not-found'
    if (deletion.outcome !== 'not-found') {
      return { goTo: `/messages/${id}?done=${deletion.outcome === 'deleted' ? 'cancelled' : 'sent'}` }
    }
    // The message may have been cancelled already. The page of the message shows that.
    return (await gateway.queries.showSent(account, id)) === undefined ? 'not-found' : { goTo: `/messages/${id}` }
  },
})
