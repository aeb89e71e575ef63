import type { InboxMessage } from '@gateway/core'
import { Link, Panel, Table, When } from '../../components.tsx'
import { count } from '../../format.ts'
import { forHolders, type HolderVisit } from '../../page.ts'

const pageSize = 25

const lists = {
  replies: {
    path: '/inbox',
    title: 'Replies',
    empty: 'What people answer to your messages is listed here for 90 days.',
  },
  codes: {
    path: '/inbox/codes',
    title: 'To your codes',
    empty: 'What people send to your short and long codes is listed here for 90 days.',
  },
} as const

type List = keyof typeof lists

/** How many of the latest are left out, as the link to older ones says. */
const skippedOf = ({ query }: HolderVisit): number => {
  const given = query.get('older') ?? ''
  return /^[1-9][0-9]{0,8}$/.test(given) ? Number(given) : 0
}

/** The list is kept with the oldest first; a page is read from its end. */
async function latest(visit: HolderVisit, list: List) {
  const { gateway, account } = visit
  const read = list === 'replies' ? gateway.listReplies : gateway.listShortCodeMessages
  const { total } = await read(account, { offset: 0, limit: 1 })
  const skipped = Math.min(skippedOf(visit), total)
  const limit = Math.min(pageSize, total - skipped)
  if (limit === 0) return { total, older: undefined, messages: [] }
  const { items } = await read(account, { offset: total - skipped - limit, limit })
  const next = skipped + limit
  return { total, older: next < total ? next : undefined, messages: items.toReversed() }
}

async function view(visit: HolderVisit, list: List) {
  const { path, title, empty } = lists[list]
  const { total, older, messages } = await latest(visit, list)
  const hasCodes = visit.account.shortCodes.length > 0
  return {
    title: 'Inbox',
    place: 'inbox' as const,
    main: (
      <>
        <h1>Inbox</h1>
        {hasCodes && (
          <ul class="tabs">
            {Object.values(lists).map((one) => (
              <li key={one.path}>
                <Link to={one.path} current={one.path === path}>
                  {one.title}
                </Link>
              </li>
            ))}
          </ul>
        )}
        <Panel>
          <Table<InboxMessage>
            caption={`${title}, ${count(total)} in 90 days`}
            rows={messages}
            empty={empty}
            columns={[
              { head: 'From', cell: ({ from }) => <span class="text">{from}</span> },
              { head: 'Text', cell: ({ text }) => <span class="text">{text}</span> },
              { head: 'When', cell: ({ at }) => <When at={at} /> },
              { head: 'About', cell: ({ answers }) => (answers === undefined ? '–' : <Answered id={answers} />) },
              { head: 'Answer', cell: ({ from }) => <Link to={`/send?to=${encodeURIComponent(from)}`}>Answer</Link> },
            ]}
          />
        </Panel>
        <div class="actions">
          {older !== undefined && <Link to={`${path}?older=${older}`}>Older</Link>}
          <Link to="/opt-outs">People who opted out</Link>
        </div>
      </>
    ),
  }
}

const Answered = ({ id }: { readonly id: number }) => <Link to={`/messages/${id}`}>message {id}</Link>

/** `/inbox`: what people answered, the latest first. Reading takes nothing from the return-once calls. */
export const inbox = forHolders({ path: '/inbox', show: (visit) => view(visit, 'replies') })

/** `/inbox/codes`: what was sent to the codes of the account. */
export const inboxOfCodes = forHolders({ path: '/inbox/codes', show: (visit) => view(visit, 'codes') })
