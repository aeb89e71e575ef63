import { credits, plus } from '@gateway/core/credits'
import { hasOutcome, type MessageId, type MessageStatus, type Refusal } from '@gateway/core/messages'
import type { Instant } from '@gateway/core/time'
import { Bar, Figures, Link, Notice, Panel, State, Table } from '../../components.tsx'
import { amount, capitalized, count, counted } from '../../format.ts'
import { forHolders, type HolderVisit } from '../../page.ts'
import { REFUSAL, stateWords, type Tone } from '../../words.ts'
import { readIds } from './ids.ts'

interface Sent {
  readonly id: MessageId
  readonly status: Exclude<MessageStatus, 'not-found'>
}

const shownMax = 50

/** What was refused, as the page before has told it: known words and numbers only. */
function refusedIn(query: string): readonly Refused[] {
  return query.split(',').flatMap((part): Refused[] => {
    const [reason = '', numbers = ''] = part.split('.')
    return isRefusal(reason) && /^[1-9][0-9]{0,3}$/.test(numbers) ? [[reason, Number(numbers)]] : []
  })
}

type Refused = readonly [reason: Refusal, numbers: number]

const isRefusal = (reason: string): reason is Refusal => Object.hasOwn(REFUSAL, reason)

/** Whether anything is to become of it soon: not of what waits for its time. */
const isUnderWay = ({ status }: Sent): boolean => !hasOutcome(status) || status.code === 100

/** `/sends/<ids>`: what became of the messages of a send. */
export const sent = forHolders({
  path: '/sends/:ids',
  async show(visit) {
    const ids = readIds(visit.parameters.ids ?? '')
    if (ids === undefined) return 'not-found'
    const { messages, due } = await own(visit, ids)
    const refused = refusedIn(visit.query.get('refused') ?? '')
    if (messages.length === 0 && (ids.length > 0 || refused.length === 0)) return 'not-found'
    const cost = messages.map(({ status }) => status.cost).reduce(plus, credits(0))
    const notSent = refused.reduce((sum, [, numbers]) => sum + numbers, 0)
    const isAhead = due !== undefined && due > visit.now
    return {
      title: 'Sent',
      place: 'send',
      live: !isAhead && messages.some(isUnderWay),
      main: (
        <>
          <h1>{messages.length === 0 ? 'Nothing was sent' : `${counted(messages.length, 'message')} accepted`}</h1>
          {notSent > 0 && (
            <Notice tone="wait">
              <strong>{counted(notSent, 'number')} got no message and cost nothing.</strong>
              <ul>
                {refused.map(([reason, numbers]) => (
                  <li key={reason}>
                    {REFUSAL[reason]}: {count(numbers)}
                  </li>
                ))}
              </ul>
            </Notice>
          )}
          {messages.length > 0 && (
            <Panel title="What became of them" live="states">
              <States messages={messages} isAhead={isAhead} />
              <Figures of={[...figures(messages, isAhead), ['Charged', amount(cost)]]} />
            </Panel>
          )}
          {messages.length > 0 && (
            <Panel live="list">
              <Table
                caption={messages.length > shownMax ? `The first ${shownMax} messages` : 'Messages'}
                rows={messages.slice(0, shownMax)}
                empty=""
                columns={[
                  { head: 'To', cell: ({ id, status }) => <Link to={`/messages/${id}`}>{status.number}</Link> },
                  { head: 'Id', number: true, cell: ({ id }) => String(id) },
                  { head: 'Credits', number: true, cell: ({ status }) => amount(status.cost) },
                  { head: 'State', cell: ({ status }) => <State status={status} scheduled={isAhead} /> },
                ]}
              />
            </Panel>
          )}
          <div class="actions">
            <Link class="button second" to="/send">
              Send more messages
            </Link>
            <Link to="/messages">All messages</Link>
          </div>
        </>
      ),
    }
  },
})

/** Those of the ids that are messages of the account, and when they are to be sent. */
async function own({ gateway, account }: HolderVisit, ids: readonly MessageId[]) {
  const statuses = ids.length === 0 ? [] : await gateway.queryStatus(account, ids)
  const messages = ids.flatMap((id, at): Sent[] => {
    const status = statuses[at]
    return status === undefined || status === 'not-found' ? [] : [{ id, status }]
  })
  const waiting = messages.find(({ status }) => status.code === 'waiting')
  const first = waiting === undefined ? undefined : await gateway.findSent(account, waiting.id)
  const due: Instant | undefined = first?.scheduled
  return { messages, due }
}

interface Counted {
  readonly word: string
  readonly tone: Tone
  readonly value: number
}

function counts(messages: readonly Sent[], isAhead: boolean): readonly Counted[] {
  const byWord = new Map<string, Counted>()
  for (const { status } of messages) {
    const { word, tone } = stateWords(status, isAhead)
    byWord.set(word, { word, tone, value: (byWord.get(word)?.value ?? 0) + 1 })
  }
  const order: readonly Tone[] = ['good', 'wait', 'bad', 'idle']
  return [...byWord.values()].sort((a, b) => order.indexOf(a.tone) - order.indexOf(b.tone))
}

const States = ({ messages, isAhead }: { readonly messages: readonly Sent[]; readonly isAhead: boolean }) => (
  <Bar of={counts(messages, isAhead)} />
)

const figures = (messages: readonly Sent[], isAhead: boolean) =>
  counts(messages, isAhead).map(({ word, value }) => [capitalized(word), count(value)] as const)
