import { randomUUID } from 'node:crypto'
import type { AccountId } from '@gateway/core/accounts'
import type { Inbox, InboxPart, ConsumedBatch, Taking, UnownedMessage } from '@gateway/core/inbox'
import type { Routes } from '@gateway/core/routes'
import type { Instant } from '@gateway/core/time'
import type { Connections } from '../connections.ts'
import type { Context } from '../context.ts'
import { isLostAnswer } from '../errors.ts'
import { inSlices } from '../in-slices.ts'
import { refuseWhileHeld, sayIfNothingDone } from '../write-health.ts'
import { retryOnConnectionLoss } from '../retry-on-connection-loss.ts'
import { endLostStatement } from '../settle-lost-statement.ts'
import { countUnread, findConversation, listConversations, listUnread, markRead } from '../sql/conversations.ts'
import { forgetInboundMessages } from '../sql/inbound.ts'
import { listInbox, unownedMessages, putBack, takeInbox } from '../sql/inbox.ts'
import { fromRow } from '../sql/statement.ts'
import { keyOfOffer } from './keyed.ts'
import { createReceive } from './receive.ts'

/**
 * Implements the inbox. If a connection breaks before an answer, each call looks up whether its change was committed.
 */
export function postgresInbox(context: Context, routes: Pick<Routes, 'list'>): Inbox {
  const { hot, ordinary } = context.pools
  return {
    ...createReceive(context, routes),
    ...createTake(context),
    ...createConversations(context),
    endOffers: async (carrier, offers) => {
      const keys = offers.map((offer) => keyOfOffer(carrier, offer))
      await retryOnConnectionLoss(hot, forgetInboundMessages, { keys })
    },
    list: async (by, part, since, { offset, limit }) => {
      const rows = await ordinary.run(listInbox[part], { account: by, since, offset, limit })
      const items = rows.flatMap(({ total: _, ...row }) => (row.id === null ? [] : fromRow(row)))
      return { total: rows[0]?.total ?? 0, items }
    },
    unowned: () => unowned(ordinary),
  }
}

const pageRows = 1000

async function* unowned(ordinary: Connections): AsyncIterable<UnownedMessage> {
  for (let last: { readonly after: string | null; readonly afterId: number } = { after: null, afterId: 0 }; ;) {
    const rows = await ordinary.run(unownedMessages, { ...last, limit: pageRows })
    for (const { exactly: _, ...row } of rows) yield fromRow(row)
    const lastRow = rows.at(-1)
    if (lastRow === undefined || rows.length < pageRows) return
    last = { after: lastRow.exactly, afterId: lastRow.id }
  }
}

function createTake({ pools: { hot, writes }, settings }: Context): Pick<Inbox, 'take' | 'offerAgain'> {
  /**
   * Failed calls, with their accounts. The messages that they claimed could not be offered again yet, because the
   * database was unreachable.
   */
  const debts = new Map<Taking, AccountId>()

  async function offerAgain(by: AccountId, taking: Taking): Promise<void> {
    await retryOnConnectionLoss(hot, putBack, { account: by, operation: taking })
    debts.delete(taking)
  }

  async function take(by: AccountId, part: InboxPart, since: Instant, messagesMax: number): Promise<ConsumedBatch> {
    refuseWhileHeld(writes)
    for (const [taking, owner] of debts) await offerAgain(owner, taking)
    const taking = randomUUID() as string as Taking
    try {
      const rows = await hot.run(takeInbox[part], { account: by, since, messagesMax, operation: taking })
      return { taking, messages: await inSlices(rows, fromRow) }
    } catch (error) {
      if (!isLostAnswer(error)) throw sayIfNothingDone(error)
      debts.set(taking, by)
      // Ends the old statement first, because it may claim messages until it ends.
      await endLostStatement(hot, error, settings.lookUpSeconds, () => offerAgain(by, taking))
      throw error
    }
  }
  return { take, offerAgain }
}

const createConversations = ({
  pools: { ordinary },
}: Context): Pick<Inbox, 'listConversations' | 'findConversation' | 'markRead' | 'countUnreadConversations'> => ({
  listConversations: async (account, since, { unreadOnly, before, limit }) => {
    const list = unreadOnly ? listUnread : listConversations
    const rows = await ordinary.run(list, { account, since, before, limit })
    return rows.map(({ unread, ...last }) => ({ unread, last: fromRow(last) }))
  },
  findConversation: async (account, from, since, { before, limit }) => {
    const rows = await ordinary.run(findConversation, { account, from, since, before, limit })
    const [first] = rows
    if (first === undefined) return undefined
    const messages = rows.flatMap(({ arrived: _, read: __, ...row }) => (row.id === null ? [] : [fromRow(row)]))
    return { arrived: first.arrived, read: first.read, messages }
  },
  markRead: async (account, from, arrived) => {
    await ordinary.run(markRead, { account, from, arrived })
  },
  countUnreadConversations: async (account, since, most) => {
    const [row] = await ordinary.run(countUnread, { account, since, most })
    return row?.unread ?? 0
  },
})
