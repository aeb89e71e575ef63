import type { Inbox, InboxMessage, Routes, UnownedMessage } from '@gateway/core'
import type { Connections } from '../connections.ts'
import type { Context } from '../context.ts'
import { retryOnConnectionLoss } from '../retry-on-connection-loss.ts'
import { forgetInboundMessages } from '../sql/inbound.ts'
import { listInbox, unownedMessages } from '../sql/inbox.ts'
import { fromRow } from '../row-of.ts'
import { keyOfOffer } from './keyed.ts'
import { createReceive } from './receive.ts'
import { createTake } from './take.ts'

/** What people wrote, on Postgres. After a lost answer each call finds out what became of it. */
export function postgresInbox(context: Context, routes: Pick<Routes, 'list'>): Inbox {
  const { hot, ordinary } = context.pools
  return {
    ...createReceive(context, routes),
    ...createTake(context),
    endOffers: async (carrier, offers) => {
      const keys = offers.map((offer) => keyOfOffer(carrier, offer))
      await retryOnConnectionLoss(hot, forgetInboundMessages, { keys })
    },
    list: async (by, part, since, { offset, limit }) => {
      const rows = await ordinary.run(listInbox[part], { account: by, since, offset, limit })
      // oxlint-disable-next-line typescript/no-unnecessary-condition -- the row of an empty page has nothing but the total
      const items = rows.flatMap(({ total: _, ...row }) => (row.id === null ? [] : fromRow<InboxMessage>(row)))
      return { total: rows[0]?.total ?? 0, items }
    },
    unowned: () => unowned(ordinary),
  }
}

const pageRows = 1000

async function* unowned(ordinary: Connections): AsyncIterable<UnownedMessage> {
  for (let last: { readonly after: string | null; readonly afterId: number } = { after: null, afterId: 0 }; ;) {
    const rows = await ordinary.run(unownedMessages, { ...last, limit: pageRows })
    for (const { exactly: _, ...row } of rows) yield fromRow<UnownedMessage>(row)
    const lastRow = rows.at(-1)
    if (lastRow === undefined || rows.length < pageRows) return
    last = { after: lastRow.exactly, afterId: lastRow.id }
  }
}
