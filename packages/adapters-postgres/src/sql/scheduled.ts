import { OUTCOME } from '@gateway/core'
import type { PreparedStatement } from './prepared-statement.ts'

/**
 * What of account $1 is scheduled, as the schema says it: $3 messages from $2 on. One row, with an array as text for each column of
 * the messages, null where there are none.
 *
 * For the ordinary connections. Cost: as docs/decisions/0055 measured it, the same however far in. A page of 1000 as rows costs this
 * process 2 ms more.
 */
export const listScheduled: PreparedStatement<
  { total: number; unfolded: number } & Record<'ids' | 'numbers' | 'submitted' | 'dues' | 'prices', string | null>
> = {
  name: 'list-scheduled',
  text: `
select max(total) as total, max(unfolded) as unfolded,
  (array_agg(id order by place) filter (where id is not null))::text as ids,
  array_agg(number order by place)::text as numbers,
  array_agg(submitted order by place)::text as submitted,
  array_agg(due order by place)::text as dues,
  array_agg(price order by place)::text as prices
from list_scheduled($1::int, $2::bigint, $3::bigint) with ordinality
  as listed (total, unfolded, id, number, submitted, due, price, place)`,
}

export interface DeletedRow {
  readonly id: number
  readonly number: number
  /** Null: not deleted. */
  readonly refund: number | null
  readonly due?: number | null
  /** Null: it waits. */
  readonly code?: number | null
  readonly reference?: string | null
}

/**
 * $1 account, $2 ids, each once, $3 operation. What it does and returns is said in the schema; what is returned with a refund comes first.
 *
 * Cost: 20 µs an id (1000 of one send), 40 µs (1000 single sends), whatever else waits and whatever was just deleted.
 */
export const deleteWaiting: PreparedStatement<DeletedRow> = {
  name: 'delete-waiting',
  text: `
select message_id as id, recipient as number, refund, due_time as due, final_code as code, reference
from delete_waiting($1::int, $2::bigint[], $3::uuid)`,
}

/**
 * What operation $2 of account $1 has deleted, as `deleteWaiting` returns it. What one transaction wrote has one xmin, and none of
 * it is ever written again. An account may have millions of entries: only the latest of all are looked through.
 */
export const findDeleted: PreparedStatement<DeletedRow> = {
  name: 'find-deleted',
  text: `
select message.id, message.msisdn as number, send.price as refund
from ledger
join send on send.first_id = ledger.send_first_id
join message on message.id >= send.first_id and message.id < send.first_id + send.n
  and message.code = ${OUTCOME.cancelled} and message.xmin = ledger.xmin
where ledger.account_id = $1::int and ledger.operation = $2::uuid and ledger.id > (select max(id) - 10000000 from ledger)`,
}
