import type { PreparedStatement } from './prepared-statement.ts'

/**
 * What of account $1 waits for its time, or did, and can still be deleted: $3 messages from $2 on, by due time, then id.
 * Always at least one row, with the total; the rest of it is null where there are no messages. Times are in milliseconds.
 *
 * For the ordinary connections. Cost: 2 µs for each waiting range of the account, and 15 µs for each message that is returned.
 */
export const listScheduled: PreparedStatement<{
  total: number
  id: number | null
  number: number
  submitted: number
  due: number
  price: number
}> = {
  name: 'list-scheduled',
  text: `
with w as (
  select lo, hi, first_id, due_at from later where account_id = $1::int and attempt = 0
  union all
  select lo, hi, first_id, due_at from due where lane in (0, 1) and account_id = $1::int and deletable
), l as (
  select w.*, (sum(hi - lo) over (order by due_at, lo) - (hi - lo))::bigint before from w
), page as (
  select due_at, first_id, generate_series(
    lo + greatest(0, $2::bigint - before), lo + least(hi - lo, $2::bigint + $3::bigint - before) - 1
  ) id
  from l where before + (hi - lo) > $2::bigint and before < $2::bigint + $3::bigint
), i as (
  select page.id, s.msisdns[page.id - s.first_id + 1] number,
    floor(extract(epoch from s.created_at) * 1000)::bigint submitted, floor(extract(epoch from page.due_at) * 1000)::bigint due, s.price
  from page join send s on s.first_id = page.first_id
)
select t.total, i.* from (select coalesce(sum(hi - lo), 0)::bigint total from w) t left join i on true order by i.due, i.id`,
}

/**
 * $1 account, $2 ids, each once, $3 since when a message is not too old, $4 operation. What it does and returns is said in the schema.
 *
 * Cost: 20 µs an id (1000 of one send), 40 µs (1000 single sends), whatever else waits and whatever was just deleted.
 */
export const deleteWaiting: PreparedStatement<{ id: number; number: number; refund: number | null }> = {
  name: 'delete-waiting',
  text: `select message_id as id, recipient as number, refund
from delete_waiting($1::int, $2::bigint[], $3::timestamptz, $4::uuid)`,
}

/**
 * What operation $2 of account $1 has deleted, as `deleteWaiting` returns it. What one transaction wrote has one xmin, and none of
 * it is ever written again. An account may have millions of entries: only the latest of all are looked through.
 */
export const findDeleted: PreparedStatement<{ id: number; number: number; refund: number }> = {
  name: 'find-deleted',
  text: `
select m.id, m.msisdn as number, s.price as refund
from ledger l join send s on s.first_id = l.send_first_id
join message m on m.id >= s.first_id and m.id < s.first_id + s.n and m.code = 102 and m.xmin = l.xmin
where l.account_id = $1::int and l.operation = $2::uuid and l.id > (select max(id) - 10000000 from ledger)`,
}
