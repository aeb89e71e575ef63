import type { ConversationLine, ShownConversation } from '@gateway/core/inbox'
import { Form, Hidden, Link, Main, Panel, ProblemSummary, Second, State, TextArea, When } from '../../components.tsx'
import { newFormKey, type Problems } from '../../forms.ts'
import { counted } from '../../format.ts'
import { forHolders, type Answer, type HolderVisit } from '../../page.ts'
import { sendOne } from '../../send-one.ts'
import { TextSize } from '../../text-size.tsx'
import { conversationPath, readPlace } from './address.ts'

const linesMax = 50

interface EnteredAnswer {
  readonly text: string
  readonly problems: Problems
}

const nothingEntered: EnteredAnswer = { text: '', problems: {} }

async function view(visit: HolderVisit, { text, problems }: EnteredAnswer = nothingEntered): Promise<Answer> {
  const { gateway, account, parameters, query } = visit
  const from = parameters['from'] ?? ''
  const place = readPlace(query)
  const found = await gateway.queries.showConversation(account, from, place, linesMax)
  if (found === undefined) return 'not-found'
  const isLatest = place.received === undefined && place.sent === undefined
  const hasProblems = Object.keys(problems).length > 0
  return {
    title: from,
    place: 'inbox',
    live: isLatest && !hasProblems,
    ...(hasProblems && { status: 422 as const }),
    main: (
      <>
        <h1 class="text">{from}</h1>
        <ProblemSummary problems={problems} />
        {found.next !== undefined && (
          <p>
            <Link to={conversationPath(from, found.next)}>Older</Link>
          </p>
        )}
        <Panel live="conversation">
          <ol class="conversation" aria-label={`Messages from and to ${from}, the latest last`}>
            {found.lines.toReversed().map((line) => (
              <Line
                key={`${'sent' in line ? 's' : 'r'}${'sent' in line ? line.sent.id : line.received.id}`}
                line={line}
              />
            ))}
          </ol>
          {isLatest && found.unread > 0 && <MarkAsRead from={from} found={found} />}
        </Panel>
        {isLatest ? (
          <AnswerForm from={from} found={found} text={text} problems={problems} />
        ) : (
          <p>
            <Link to={conversationPath(from)}>Latest messages</Link>
          </p>
        )}
        <div class="actions">
          <Link to="/inbox">Inbox</Link>
        </div>
      </>
    ),
  }
}

/** One message of a conversation: its text, its time, and for a sent message its state. */
const Line = ({ line }: { readonly line: ConversationLine }) =>
  'received' in line ? (
    <li class="theirs">
      <p class="text">{line.received.text}</p>
      <p class="hint">
        <When at={line.at} />
        {line.received.shortCode !== undefined && `, to your code ${line.received.shortCode}`}
        {line.received.answers !== undefined && (
          <>
            , about <Link to={`/messages/${line.received.answers}`}>message {line.received.answers}</Link>
          </>
        )}
      </p>
    </li>
  ) : (
    <li class="ours">
      <p class="text">{line.text}</p>
      <p class="hint">
        {line.sent.confirmation ? 'Automatic confirmation' : 'You'}, <When at={line.at} />{' '}
        <State status={line.status} scheduled={line.sent.place.place === 'scheduled'} />{' '}
        {!line.sent.confirmation && <Link to={`/messages/${line.sent.id}`}>message {line.sent.id}</Link>}
      </p>
    </li>
  )

interface ConversationProps {
  readonly from: string
  readonly found: ShownConversation
}

/** Form that marks the conversation as read. Scripts submit it as soon as the page is visible. */
const MarkAsRead = ({ from, found }: ConversationProps) => (
  <Form to={conversationPath(from)} class="seen">
    <Hidden name="arrived" value={String(found.arrived)} />
    <Second name="step" value="read">
      Mark {counted(found.unread, 'message')} as read
    </Second>
  </Form>
)

const AnswerForm = ({ from, found, text, problems }: ConversationProps & EnteredAnswer) =>
  found.number === undefined ? (
    <p class="soft">This sender is not a number that you can write to.</p>
  ) : (
    <section class="panel" id="answer" data-island="answer">
      <h2>Answer</h2>
      <Form to={conversationPath(from)}>
        <TextArea
          name="text"
          label="Text"
          hint={<TextSize text={text} />}
          value={text}
          rows={3}
          problems={problems}
          island="counter"
        />
        <Hidden name="step" value="answer" />
        <Hidden name="key" value={newFormKey()} />
        <Hidden name="arrived" value={String(found.arrived)} />
        <Main>Send the answer</Main>
        <p class="hint">The answer is sent and charged at once.</p>
      </Form>
    </section>
  )

/** `/inbox/<number>`: shows the messages from and to a person, with a form to answer. */
export const conversation = forHolders({
  path: '/inbox/:from',
  show: (visit) => view(visit),
  changes: 'sendMessages',
  async submit(visit, fields) {
    const { gateway, account, parameters } = visit
    const from = parameters['from'] ?? ''
    const found = await gateway.queries.showConversation(account, from, {}, 1)
    if (found === undefined) return 'not-found'
    if (fields.text('step') === 'answer') {
      const text = fields.text('text')
      const sent = await sendOne(visit, from, { text }, fields.text('key'))
      if (typeof sent === 'object') return view(visit, { text, problems: { text: sent.problem } })
    }
    // A person who answers has read the messages on the page.
    await gateway.commands.markRead(account, from, fields.number('arrived') ?? 0)
    return { goTo: conversationPath(from) }
  },
})
