import type { BulkSendId } from '@gateway/core/bulk-sends'
import type { Credits } from '@gateway/core/credits'
import { LEDGER } from '../stored-codes.ts'
import { milliseconds } from './arrays.ts'
import { balanceSince, timeOfEntry, type MovementRow } from './credits.ts'
import { credits } from './columns.ts'
import { column, sql, statement } from './statement.ts'

/**
 * Line of an account statement. If `bulk` is not null, the line sums the debits of this bulk send, or its refunds with
 * one code.
 */
export type StatementLineRow = Omit<MovementRow, 'time' | 'part' | 'id'> & {
  readonly bulk: BulkSendId | null
  readonly balance: Credits
}

/** Sum of all movements of one kind that add credits, or of all that remove credits. */
export interface KindSumRow {
  readonly kind: number
  readonly amount: Credits
}

const within = (time: string): string =>
  `${time} >= coalesce(:from, '-infinity') and ${time} < coalesce(:to, 'infinity')`

/**
 * Returns `limit` lines of an account's statement after the first `offset`, with the figures of the whole period. The
 * movements of a bulk send with one kind and code form one line, in the place of the first of them. `run` finds the
 * bulk send of a movement by its first message, because runs of ids never overlap. Returns no row if there is no such
 * account. Runs on the ordinary connections, because it reads all movements of the period, about 4 µs each, and those
 * since then.
 */
export const showStatementPage = statement(
  'show-statement-page',
  {
    parameters: {
      account: 'int',
      from: 'timestamptz?',
      to: 'timestamptz?',
      historyDays: 'int',
      offset: 'int',
      limit: 'int',
    },
    columns: {
      begins: credits,
      total: 'bigint',
      sums: column<readonly KindSumRow[]>('json'),
      lines: column<readonly StatementLineRow[]>('json'),
    },
  },
  sql`
with start as materialized (${balanceSince}), every_movement as (
  select at, kind::int, amount, case when message_id is null then send_first_id end "first",
    null::int messages, code::int, 0 part, id
  from ledger
  where account_id = :account and kind <> ${LEDGER.droppedSends} and ${within('at')}
  union all
  select ${timeOfEntry()}, kind::int, amount, null, null, null, 0, id
  from ledger
  where account_id = :account and kind = ${LEDGER.droppedSends} and ${within(`(${timeOfEntry()})`)}
  union all
  select created_at, ${LEDGER.send}, -n::bigint * price, first_id, n, null, 1, first_id
  from send
  where account_id = :account and price > 0 and ${within('created_at')}
), movement as materialized (
  select row_number() over (order by at, part, id) n, *
  from every_movement
), run as (
  select (pair ->> 0)::bigint lo, (pair ->> 1)::bigint hi, bulk_send.id bulk
  from bulk_send
  join bulk_send_call on send_id = bulk_send.id
  cross join lateral jsonb_array_elements(accepted) pair
  where account_id = :account and accepted is not null
), sought as (
  select n, "first" place, null::bigint[] run from movement where "first" is not null
  union all
  select null, lo, array[lo, hi, bulk] from run
), last_run as (
  select n, place, max(run) over (order by place, n nulls first rows unbounded preceding) run
  from sought
), bulk_movement as (
  select n, run[3] bulk from last_run where n is not null and place <= run[2]
), line as materialized (
  select min(n) n, sum(amount)::bigint amount, sum(messages)::int messages, bulk,
    row_number() over (order by min(n)) place, sum(sum(amount)) over (order by min(n)) moved
  from movement
  left join bulk_movement using (n)
  group by coalesce(bulk, -n), bulk, kind, code
), page as (
  select line.place, ${milliseconds('movement.at')} at, movement.kind, line.amount, movement."first", line.messages,
    movement.code, entry.other_account_id other, entry.why, entry.message_id message,
    case when debit.client_references[1] = all (debit.client_references) then debit.client_references[1] end reference,
    debit.options labels, line.bulk, (start.balance + line.moved)::bigint balance
  from line
  join movement using (n)
  cross join start
  left join ledger entry on movement.part = 0 and entry.id = movement.id
  left join send debit on movement.part = 1 and debit.first_id = movement.id
  where line.place > :offset and line.place <= :offset + :limit
)
select start.balance begins, (select count(*) from line) total,
  (
    select coalesce(json_agg(by_kind), '[]')
    from (select kind, sum(amount)::bigint amount from movement group by kind, amount > 0) by_kind
  ) sums,
  (select coalesce(json_agg(page order by place), '[]') from page) lines
from start`,
)
