import type { AccountId } from '@gateway/core/accounts'
import type { BulkDraft, BulkRow, BulkSendId, BulkSends, BulkSendState } from '@gateway/core/bulk-sends'
import type { Instant } from '@gateway/core/time'
import { sql, type Transaction } from 'kysely'
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
import type { Tables } from '../tables.ts'

export function postgresBulkSends({ pools: { kysely, ordinary } }: Context): BulkSends {
  const moving = (account: AccountId, id: BulkSendId, from: BulkSendState, state: BulkSendState) =>
    kysely
      .updateTable('bulk_send')
      .set({ state, due_at: now, started_at: sql<string>`coalesce(started_at, now())` })
      .where('account_id', '=', account)
      .where('id', '=', id)
      .where('state', '=', from)
      .returning('id')
  const callOf = (account: AccountId, id: BulkSendId, call: number) =>
    kysely
      .selectFrom('bulk_send')
      .innerJoin('bulk_send_call', 'send_id', 'id')
      .where('account_id', '=', account)
      .where('id', '=', id)
      .where('call', '=', call)

  return {
    add: (account, { key, ...draft }, calls) =>
      kysely.transaction().execute(async (transaction) => {
        const { id } = await transaction
          .insertInto('bulk_send')
          .values({ account_id: account, key, ...contentsOf(draft) })
          .returning('id')
          .executeTakeFirstOrThrow()
        await insertCalls(transaction, id, calls)
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
    change: (account, id, draft, calls) =>
      kysely.transaction().execute(async (transaction) => {
        const changed = transaction
          .updateTable('bulk_send')
          .set(({ eb }) => ({ ...contentsOf(draft), revision: eb('revision', '+', 1) }))
          .where('account_id', '=', account)
          .where('id', '=', id)
          .where('state', '=', 'draft')
        if (!(await hasRow(changed.returning('id')))) return false
        if (calls !== undefined) {
          await transaction.deleteFrom('bulk_send_call').where('send_id', '=', id).execute()
          await insertCalls(transaction, id, calls)
        }
        return true
      }),
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
    start: (account, id, revision) => hasRow(moving(account, id, 'draft', 'running').where('revision', '=', revision)),
    stop: (account, id) => hasRow(moving(account, id, 'running', 'stopping')),
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

const contentsOf = ({ columns, text, scheduled, sender, options }: BulkDraft) => ({
  ...{ columns, text, scheduled_at: timeOrNull(scheduled), sender: sender ?? null },
  options: options === undefined ? null : JSON.stringify(options),
})

/** Inserts the rows of a send. Each call has a statement of its own, because all texts together may have 20 MB. */
async function insertCalls(
  transaction: Transaction<Tables>,
  id: BulkSendId,
  calls: readonly (readonly BulkRow[])[],
): Promise<void> {
  for (const [call, rows] of calls.entries()) {
    const repeated = rows.filter(({ refused }) => refused === 'repeated').length
    const counts = { count: rows.length - repeated, repeated }
    const values = { send_id: id, call, recipients: JSON.stringify(rows), ...counts }
    await transaction.insertInto('bulk_send_call').values(values).execute()
  }
}

const timeOrNull = (at: Instant | undefined): string | null => (at === undefined ? null : timestamp(at))
