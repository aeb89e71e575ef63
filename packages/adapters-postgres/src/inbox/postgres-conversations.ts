import type { Conversations, InboxMessage } from '@gateway/core'
import type { Context } from '../context.ts'
import { fromRow } from '../row-of.ts'
import { countUnread, findConversation, listConversations, listUnread, markRead } from '../sql/conversations.ts'

export const postgresConversations = ({ pools: { ordinary } }: Context): Conversations => ({
  list: async (account, since, { unreadOnly, before, limit }) => {
    const list = unreadOnly ? listUnread : listConversations
    const rows = await ordinary.run(list, { account, since, before, limit })
    return rows.map(({ unread, ...last }) => ({ unread, last: fromRow<InboxMessage>(last) }))
  },
  find: async (account, from, since, { before, limit }) => {
    const rows = await ordinary.run(findConversation, { account, from, since, before, limit })
    const [first] = rows
    if (first === undefined) return undefined
    const messages = rows.flatMap(({ arrived: _, read: __, ...row }) =>
      row.id === null ? [] : [fromRow<InboxMessage>(row)],
    )
    return { arrived: first.arrived, read: first.read, messages }
  },
  markRead: async (account, from, arrived) => {
    await ordinary.run(markRead, { account, from, arrived })
  },
  countUnread: async (account, since, most) => {
    const [row] = await ordinary.run(countUnread, { account, since, most })
    return row?.unread ?? 0
  },
})
