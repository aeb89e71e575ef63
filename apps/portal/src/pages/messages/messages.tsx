import {
  creditsOf,
  messageId,
  parseMessageId,
  readReference,
  readSoughtNumber,
  type FoundMessage,
  type MessageId,
  type ShownMessage,
} from '@gateway/core/messages'
import { parseMinute, secondsAfter, type Instant } from '@gateway/core/time'
import type { Cell } from '@gateway/wire'
import { Choice, Link, Panel, Second, TextField } from '../../components.tsx'
import { creditCells, creditHeads, fileTime, fileZone } from '../../format.ts'
import { forHolders, type HolderVisit, type View } from '../../page.ts'
import { specificationWords, STATE_FILTERS, stateWords } from '../../words.ts'
import { ReadAs } from '../../written-number.tsx'
import { MessageTable, mayChange } from './message-table.tsx'

const pageSize = 25

/** Filter of the list of messages. */
interface Filter {
  /** First day, such as `2026-11-25`, in gateway time. Blank means no bound. */
  readonly from: string
  readonly to: string
  /** Key of `STATE_FILTERS`. Blank means every state. */
  readonly state: string
}

const filterOf = (query: URLSearchParams): Filter => {
  const day = (name: string): string => {
    const value = query.get(name) ?? ''
    return startOf(value) === undefined ? '' : value
  }
  const state = query.get('state') ?? ''
  return { from: day('from'), to: day('to'), state: Object.hasOwn(STATE_FILTERS, state) ? state : '' }
}

const startOf = (day: string): Instant | undefined =>
  /^[0-9]{4}-[0-9]{2}-[0-9]{2}$/.test(day) ? parseMinute(`${day.replaceAll('-', '')}0000`) : undefined

/** Converts the filter for the use case. The last day is included. */
function wantedOf({ from, to, state }: Filter) {
  const end = startOf(to)
  return { since: startOf(from), until: end && secondsAfter(end, 86_400), fits: STATE_FILTERS[state]?.[1] }
}

const queryOf = (filter: Filter, further: Readonly<Record<string, string>> = {}): string => {
  const parameters = Object.entries({ ...filter, ...further }).filter(([, value]) => value !== '')
  return parameters.length === 0 ? '' : `?${new URLSearchParams(parameters).toString()}`
}

const Search = ({ value, filter }: { readonly value: string; readonly filter: Filter }) => (
  <>
    <form method="get" class="search" role="search">
      <TextField
        name="q"
        label="Search"
        hint="A number, the id of a message, or your reference"
        type="search"
        value={value}
      />
      <Second>Search</Second>
    </form>
    <details {...(queryOf(filter) !== '' && { open: true })}>
      <summary>By time and state</summary>
      <form method="get" class="search">
        <TextField name="from" label="From" type="date" value={filter.from} />
        <TextField name="to" label="To" type="date" value={filter.to} />
        <Choice
          name="state"
          label="State"
          value={filter.state}
          options={[
            ['', 'Every state'],
            ...Object.entries(STATE_FILTERS).map(([name, [title]]) => [name, title] as const),
          ]}
        />
        <Second>Show</Second>
      </form>
    </details>
  </>
)

const noFilter: Filter = { from: '', to: '', state: '' }

/**
 * `/messages`: lists the messages of the last 90 days, the latest first, filtered by days and state. `?q=` searches,
 * `?after=` continues the list.
 */
export const messages = forHolders({
  path: '/messages',
  async show(visit) {
    const query = (visit.query.get('q') ?? '').trim().slice(0, 100)
    return query === '' ? list(visit) : search(visit, query)
  },
})

/** `/messages/download`: returns the whole list as a file. */
export const messagesFile = forHolders({
  path: '/messages/download',
  isFile: true,
  show: (visit) => ({ fileName: 'messages.csv', rows: allMessages(visit) }),
})

async function* allMessages({ gateway, account, query }: HolderVisit): AsyncIterable<readonly Cell[]> {
  yield [
    'Id',
    `Accepted (${fileZone})`,
    `Scheduled (${fileZone})`,
    'Number',
    'From',
    'State',
    'Code',
    'Parts',
    ...creditHeads,
    'Reference',
    'Text',
  ]
  const listFilter = wantedOf(filterOf(query))
  for (let after: MessageId | undefined, more = true; more;) {
    const page = await gateway.queries.listSent(account, { ...listFilter, after, limit: 500 })
    for (const { id, accepted, scheduled, number, from, status, parts, reference, text } of page.messages) {
      yield [
        ...[id, fileTime(accepted), scheduled === undefined ? '' : fileTime(scheduled), number, from ?? ''],
        ...[stateWords(status).word, specificationWords(status), parts, ...creditCells(creditsOf(status))],
        ...[reference ?? '', text],
      ]
    }
    after = page.next
    more = page.more
  }
}

async function list({ gateway, account, now, query }: HolderVisit): Promise<View> {
  const after = parseMessageId(query.get('after') ?? '')
  const filter = filterOf(query)
  const page = await gateway.queries.listSent(account, { ...wantedOf(filter), after, limit: pageSize })
  const isFiltered = queryOf(filter) !== ''
  const nothing = isFiltered
    ? 'No message matches. '
    : after === undefined
      ? 'Messages that you send are listed here. '
      : 'There are no older messages. '
  return {
    title: 'Messages',
    place: 'messages',
    live: after === undefined && !isFiltered && mayChange(page.messages, now),
    main: (
      <>
        <h1>Messages</h1>
        <Search value="" filter={filter} />
        <Panel live="list">
          <MessageTable
            caption={
              isFiltered
                ? 'Matching messages, the latest first'
                : after === undefined
                  ? 'Messages of the last 90 days, the latest first'
                  : 'Older'
            }
            messages={page.messages}
            now={now}
            empty={
              <>
                {nothing}
                <Link to="/send">Send a message</Link>
              </>
            }
          />
        </Panel>
        <div class="actions">
          {(after !== undefined || isFiltered) && <Link to="/messages">Latest</Link>}
          {page.more && page.next !== undefined && (
            <Link to={`/messages${queryOf(filter, { after: String(page.next) })}`}>Older</Link>
          )}
          <Link to={`/messages/download${queryOf(filter)}`}>Download as CSV</Link>
        </div>
      </>
    ),
  }
}

/** Searches for a number, an id or a reference. Digits may be an id or a number, anything else is a reference. */
async function search(visit: HolderVisit, query: string) {
  const { gateway, account, now } = visit
  const id = /^[0-9]+$/.test(query) ? messageId(Number(query)) : undefined
  const byId = id === undefined ? undefined : await gateway.queries.showSent(account, id)
  const { number } = readSoughtNumber(query)
  const reference = readReference(query)
  const isReference = reference !== undefined && reference !== 'unusable'
  const byNumber =
    number === undefined ? [] : await found(visit, await gateway.queries.searchSent(account, { number, limit: 50 }))
  const byReference = isReference
    ? await found(visit, await gateway.queries.searchSent(account, { reference, limit: 50 }))
    : []
  const all = [...(byId === undefined ? [] : [byId]), ...byNumber, ...byReference]
  const distinct = [...new Map(all.map((message) => [message.id, message])).values()]
  const [only] = distinct
  if (distinct.length === 1 && only !== undefined) return { goTo: `/messages/${only.id}` }
  return {
    title: `Search for ${query}`,
    place: 'messages' as const,
    main: (
      <>
        <h1>Messages</h1>
        <Search value={query} filter={noFilter} />
        <Panel>
          <ReadAs written={query} />
          <MessageTable
            caption={`Found for “${query}”, the latest 50`}
            messages={distinct}
            now={now}
            empty={`No message of the last 90 days has “${query}” as its number, id or reference.`}
          />
        </Panel>
        <div class="actions">
          <Link to="/messages">All messages</Link>
        </div>
      </>
    ),
  }
}

/** Returns the messages that were found, each with its text and status. */
async function found(
  { gateway, account }: HolderVisit,
  list: { readonly messages: readonly FoundMessage[] } | 'no-such-message',
): Promise<readonly ShownMessage[]> {
  if (list === 'no-such-message') return []
  const shown = await Promise.all(list.messages.map(({ id }) => gateway.queries.findSent(account, id)))
  const there = shown.filter((message) => message !== undefined)
  const statuses = await gateway.queries.queryStatus(
    account,
    there.map(({ id }) => id),
  )
  return there.map((message, at) => ({ ...message, status: statuses[at] ?? 'not-found' }))
}
