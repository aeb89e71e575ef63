import type { InboundMessageId, CarrierId, Inbox, Instant, UnownedMessage } from '@gateway/core'
import type { Connections } from '../connections.ts'
import type { Context } from '../context.ts'
import { timestamp } from '../sql/arrays.ts'
import { listInbox, unownedArrivals, type InboxRow } from '../sql/inbox.ts'
import { inboxMessage } from './inbox-message.ts'
import { createReceive } from './receive.ts'
import { createTake } from './take.ts'

/** What people wrote, on Postgres. After a lost answer each call finds out what became of it. */
export function postgresInbox(context: Context): Inbox {
  const { ordinary } = context.pools
  return {
    ...createReceive(context),
    ...createTake(context),
    list: async (by, part, since, { offset, limit }) => {
      const rows = await ordinary.run(listInbox[part], [by, timestamp(since), offset, limit])
      const found = rows.filter((row): row is InboxRow & { total: number } => row.id !== null)
      return { total: rows[0]?.total ?? 0, items: found.map(inboxMessage) }
    },
    unowned: () => unowned(ordinary),
  }
}

const pageRows = 1000

async function* unowned(ordinary: Connections): AsyncIterable<UnownedMessage> {
  for (let after: readonly [at: string | null, id: number] = [null, 0]; ;) {
    const rows = await ordinary.run(unownedArrivals, [...after, pageRows])
    for (const { id, carrier, from, to, at, text } of rows) {
      yield {
        id: id as InboundMessageId,
        carrier: carrier as CarrierId,
        from,
        to: to ?? undefined,
        at: at as Instant,
        text,
      }
    }
    const last = rows.at(-1)
    if (last === undefined || rows.length < pageRows) return
    after = [last.exactly, last.id]
  }
}
