import type { AccountId } from '@gateway/core/accounts'
import type { BulkSendId, BulkSends, BulkSendState } from '@gateway/core/bulk-sends'
import type { Instant } from '@gateway/core/time'
import { sql } from 'kysely'
import type { Context } from '../context.ts'
import { hasRow, now, secondsFromNow } from '../query-parts.ts'
import { timestamp } from '../sql/arrays.ts'
import {
  countBulkOutcomes,
  findBulkSend,
  listBulkDrafts,
  listBulkSends,
  sumReturned,
  takeBulkCall,
} from '../sql/bulk-sends.ts'
import { fromRow } from '../sql/statement.ts'

export function postgresBulkSends({ pools: { kysely, ordinary } }: Context): BulkSends {
  /** Changes the state of a send. Returns false if the send is in another state or does not exist. */
  const move = (account: AccountId, id: BulkSendId, from: BulkSendState, state: BulkSendState): Promise<boolean> =>
    hasRow(
      kysely
        .updateTable('bulk_send')
        .set({ state, due_at: now, started_at: sql<string>`coalesce(started_at, now())` })
        .where('account_id', '=', account)
        .where('id', '=', id)
        .where('state', '=', from)
        .returning('id'),
    )
  const callOf = (account: AccountId, id: BulkSendId, call: number) =>
    kysely
      .selectFrom('bulk_send')
      .innerJoin('bulk_send_call', 'send_id', 'id')
      .where('account_id', '=', account)
      .where('id', '=', id)
      .where('call', '=', call)

  return {
    add: (account, { columns, text, scheduled, key }, calls) =>
      kysely.transaction().execute(async (transaction) => {
        const { id } = await transaction
          .insertInto('bulk_send')
          .values({ account_id: account, columns, text, scheduled_at: timeOrNull(scheduled), key })
          .returning('id')
          .executeTakeFirstOrThrow()
        // Each call is stored by its own statement, because the texts of all calls together may have 20 MB.
        for (const [call, rows] of calls.entries()) {
          const repeated = rows.filter(({ refused }) => refused === 'repeated').length
          const counts = { count: rows.length - repeated, repeated }
          const values = { send_id: id, call, recipients: JSON.stringify(rows), ...counts }
          await transaction.insertInto('bulk_send_call').values(values).execute()
        }
        return id
      }),
    async find(account, id) {
      const [row] = await ordinary.run(findBulkSend, { account, id })
      return row && fromRow(row)
    },
    list: async (account, { before, limit }) =>
      (await ordinary.run(listBulkSends, { account, before, limit })).map(fromRow),
    listDrafts: async (account, { before, limit }) =>
      (await ordinary.run(listBulkDrafts, { account, before, limit })).map(fromRow),
    discard: (account, id) =>
      hasRow(
        kysely
          .deleteFrom('bulk_send')
          .where('account_id', '=', account)
          .where('id', '=', id)
          .where('state', '=', 'draft')
          .returning('id'),
      ),
    change: (account, id, { text, scheduled }) =>
      hasRow(
        kysely
          .updateTable('bulk_send')
          .set({ text, scheduled_at: timeOrNull(scheduled) })
          .where('account_id', '=', account)
          .where('id', '=', id)
          .where('state', '=', 'draft')
          .returning('id'),
      ),
    rows: async (account, id, call) =>
      (await callOf(account, id, call).select('recipients').executeTakeFirst())?.recipients ?? [],
    accepted: async (account, id, call) =>
      (await callOf(account, id, call).select('accepted').executeTakeFirst())?.accepted ?? [],
    outcomes: async (account, id) => (await ordinary.run(countBulkOutcomes, { account, id })).map(fromRow),
    async returned(account, ids) {
      if (ids.length === 0) return new Map()
      const rows = await ordinary.run(sumReturned, { account, ids })
      return new Map(rows.map(({ id, returned }) => [id, returned]))
    },
    start: (account, id) => move(account, id, 'draft', 'running'),
    stop: (account, id) => move(account, id, 'running', 'stopping'),
    async take(seconds, only) {
      const [row] = await ordinary.run(takeBulkCall, { seconds, only })
      if (row === undefined) return undefined
      const { call, ageSeconds, rows, ...send } = row
      return { send: fromRow(send), call, rows, ageSeconds }
    },
    async postpone(id, seconds) {
      await kysely
        .updateTable('bulk_send')
        .set({ due_at: secondsFromNow(seconds) })
        .where('id', '=', id)
        .execute()
    },
    end: (id, call, { accepted, messages, cost, refusedRows: rows }) =>
      kysely.transaction().execute(async (transaction) => {
        // Locks the send. If its last two calls end at the same time, the later one then sees that no call is left.
        await transaction.selectFrom('bulk_send').select('id').where('id', '=', id).forUpdate().execute()
        const ended = transaction
          .updateTable('bulk_send_call')
          .set({ recipients: JSON.stringify(rows), accepted: JSON.stringify(accepted), messages, cost })
          .where('send_id', '=', id)
          .where('call', '=', call)
          .where('accepted', 'is', null)
        if (!(await hasRow(ended.returning('call')))) return
        const remaining = transaction.selectFrom('bulk_send_call').select('call').where('send_id', '=', id)
        const isLast = !(await hasRow(remaining.where('accepted', 'is', null).limit(1)))
        await transaction
          .updateTable('bulk_send')
          .set({ due_at: now, ...(isLast && { state: 'ended' as const }) })
          .where('id', '=', id)
          .execute()
      }),
  }
}

const timeOrNull = (at: Instant | undefined): string | null => (at === undefined ? null : timestamp(at))
