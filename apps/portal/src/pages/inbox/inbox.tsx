import type { Conversation } from '@gateway/core/inbox'
import { Link, Panel, Pill, Table, When } from '../../components.tsx'
import { counted } from '../../format.ts'
import { forHolders } from '../../page.ts'
import { conversationPath, readKey } from './address.ts'

const pageSize = 25
/** Maximum number of characters of a text in the list. */
const shownMax = 140

const lists = [
  { unreadOnly: false, path: '/inbox', title: 'All' },
  { unreadOnly: true, path: '/inbox?show=unread', title: 'Unread' },
] as const

const shortened = (text: string): string => {
  const characters = Array.from(text)
  return characters.length <= shownMax ? text : `${characters.slice(0, shownMax).join('')}…`
}

/**
 * `/inbox`: lists the people who wrote, the latest first. The return-once calls still return messages that are read
 * here.
 */
export const inbox = forHolders({
  path: '/inbox',
  async show({ gateway, account, query }) {
    const unreadOnly = query.get('show') === 'unread'
    const before = readKey(query.get('before'))
    const { conversations, next } = await gateway.queries.listConversations(account, {
      unreadOnly,
      before,
      limit: pageSize,
    })
    return {
      title: 'Inbox',
      place: 'inbox',
      live: before === undefined,
      main: (
        <>
          <h1>Inbox</h1>
          <ul class="tabs">
            {lists.map((one) => (
              <li key={one.path}>
                <Link to={one.path} current={one.unreadOnly === unreadOnly}>
                  {one.title}
                </Link>
              </li>
            ))}
          </ul>
          <Panel live="conversations">
            <Table<Conversation>
              caption="People who wrote in the last 90 days"
              rows={conversations}
              empty={
                unreadOnly
                  ? 'Nothing is unread.'
                  : 'Replies to your messages and messages to your codes are listed here for 90 days.'
              }
              columns={[
                { head: 'From', cell: ({ last: { from } }) => <Link to={conversationPath(from)}>{from}</Link> },
                { head: 'Latest', cell: ({ last: { text } }) => <span class="text">{shortened(text)}</span> },
                {
                  head: 'Unread',
                  cell: ({ unread }) => (unread > 0 ? <Pill tone="wait">{counted(unread, 'message')}</Pill> : 'read'),
                },
                { head: 'When', cell: ({ last: { at } }) => <When at={at} /> },
              ]}
            />
          </Panel>
          <div class="actions">
            {next !== undefined && <Link to={`/inbox?${unreadOnly ? 'show=unread&' : ''}before=${next}`}>Older</Link>}
            <Link to="/opt-outs">People who opted out</Link>
          </div>
        </>
      ),
    }
  },
})
