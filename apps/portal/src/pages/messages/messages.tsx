import {
  messageId,
  parseMessageId,
  parseMsisdn,
  readReference,
  type FoundMessage,
  type ShownMessage,
} from '@gateway/core'
import { Link, Panel, Second, TextField } from '../../components.tsx'
import { asNumber } from '../../recipients.ts'
import { forHolders, type HolderVisit, type View } from '../../page.ts'
import { MessageTable, mayChange } from './message-table.tsx'

const pageSize = 25

const Search = ({ value }: { readonly value: string }) => (
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
)

/** `/messages`: what was sent in the last 90 days, the latest first; `?q=` searches, `?after=` goes on. */
export const messages = forHolders({
  path: '/messages',
  async show(visit) {
    const wanted = (visit.query.get('q') ?? '').trim().slice(0, 100)
    return wanted === '' ? list(visit) : search(visit, wanted)
  },
})

async function list({ gateway, account, now, query }: HolderVisit): Promise<View> {
  const after = parseMessageId(query.get('after') ?? '')
  const page = await gateway.listSent(account, { after, limit: pageSize })
  const last = page.messages.at(-1)
  return {
    title: 'Messages',
    place: 'messages',
    live: after === undefined && mayChange(page.messages, now),
    main: (
      <>
        <h1>Messages</h1>
        <Search value="" />
        <Panel live="list">
          <MessageTable
            caption={after === undefined ? 'The latest, of 90 days' : 'Older'}
            messages={page.messages}
            now={now}
            empty={
              <>
                {after === undefined ? 'Messages that you send are listed here. ' : 'There is nothing older. '}
                <Link to="/send">Send a message</Link>
              </>
            }
          />
        </Panel>
        <div class="actions">
          {after !== undefined && <Link to="/messages">Latest</Link>}
          {page.more && last !== undefined && <Link to={`/messages?after=${last.id}`}>Older</Link>}
        </div>
      </>
    ),
  }
}

/** What a search may mean: in digits an id and a number, else a reference. */
async function search(visit: HolderVisit, wanted: string) {
  const { gateway, account, now } = visit
  const id = /^[0-9]+$/.test(wanted) ? messageId(Number(wanted)) : undefined
  const byId = id === undefined ? undefined : await gateway.showSent(account, id)
  const number = parseMsisdn(asNumber(wanted))
  const reference = readReference(wanted)
  const isReference = reference !== undefined && reference !== 'unusable'
  const byNumber =
    number === undefined ? [] : await found(visit, await gateway.searchSent(account, { number, limit: 50 }))
  const byReference = isReference ? await found(visit, await gateway.searchSent(account, { reference, limit: 50 })) : []
  const all = [...(byId === undefined ? [] : [byId]), ...byNumber, ...byReference]
  const distinct = [...new Map(all.map((message) => [message.id, message])).values()]
  const [only] = distinct
  if (distinct.length === 1 && only !== undefined) return { goTo: `/messages/${only.id}` }
  return {
    title: `Search for ${wanted}`,
    place: 'messages' as const,
    main: (
      <>
        <h1>Messages</h1>
        <Search value={wanted} />
        <Panel>
          <MessageTable
            caption={`Found for “${wanted}”, the latest 50`}
            messages={distinct}
            now={now}
            empty={`Nothing of yours from the last 90 days has “${wanted}” as its number, id or reference.`}
          />
        </Panel>
        <div class="actions">
          <Link to="/messages">All messages</Link>
        </div>
      </>
    ),
  }
}

/** Each with its text and status. */
async function found(
  { gateway, account }: HolderVisit,
  list: { readonly messages: readonly FoundMessage[] } | 'no-such-message',
): Promise<readonly ShownMessage[]> {
  if (list === 'no-such-message') return []
  const shown = await Promise.all(list.messages.map(({ id }) => gateway.findSent(account, id)))
  const there = shown.filter((message) => message !== undefined)
  const statuses = await gateway.queryStatus(
    account,
    there.map(({ id }) => id),
  )
  return there.map((message, at) => ({ ...message, status: statuses[at] ?? 'not-found' }))
}
