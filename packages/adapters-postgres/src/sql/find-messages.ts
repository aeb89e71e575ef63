import type { PreparedStatement } from './prepared-statement.ts'

/** Times in milliseconds. */
export interface FoundRow {
  readonly id: number
  readonly account: number
  readonly from: string | null
  readonly confirms: boolean
  readonly accepted: number
  readonly due: number
  readonly scheduled: boolean
  readonly price: number
  readonly place: 'decided' | 'scheduled' | 'postponed' | 'queue' | 'claimed'
  readonly code: number
  /** When it was decided, or until when it waits. */
  readonly at: number
  readonly attempt: number
  readonly marked: boolean
}

/**
 * The first $8 messages to number $1, the latest due first, then the highest id: of account $2 (or null), due from $3 (or
 * null) to before $4 (or null), after the message $6 that was due at $5 (or null), if decided due from $7 on. In one look: a
 * message that moves is in one place.
 *
 * For the ordinary connections. What is decided is found by the index that replies need; of what waits every range is
 * looked through: 30 ns a number of a bulk send, 2 µs a single one. Sends are looked up one by one: a join would read all
 * of them. A number with 100,000 messages takes 0.5 s.
 */
export const findMessages: PreparedStatement<FoundRow> = {
  name: 'find-messages',
  text: `
with f as materialized (
  select p.id, coalesce(f.send_first_ids[p.n], f.send_first_ids[1]) first_id, coalesce(f.attempts[p.n], 0) attempt, p.n <= f.marked marked
  from claimed_batch f cross join lateral unnest(f.ids) with ordinality p(id, n) where p.id is not null
), c as (
  select m.id, m.send_first_id first_id, 'decided' place, m.code, coalesce(m.code_at, m.sent_at) at, 0 attempt, false marked
  from message m where m.msisdn = $1::bigint and ($2::int is null or m.account_id = $2::int)
  union all
  select w.lo + o - 1, w.first_id, w.place, 0, w.at, w.attempt, false
  from (
    select account_id, lo, hi, first_id, case when attempt = 0 then 'scheduled' else 'postponed' end place, at, attempt from later
    union all
    select account_id, lo, hi, first_id, 'queue', due_at, attempt from due where lane in (0, 1)
  ) w cross join lateral (
    select msisdns[w.lo - w.first_id + 1 : w.hi - w.first_id] numbers from send where first_id = w.first_id offset 0
  ) s cross join lateral unnest(array_positions(s.numbers, $1::bigint)) o
  where $2::int is null or w.account_id = $2::int
  union all
  select f.id, f.first_id, 'claimed', 0, null, f.attempt, f.marked
  from f cross join lateral (select msisdns, account_id from send where first_id = f.first_id offset 0) s
  where s.msisdns[f.id - f.first_id + 1] = $1::bigint and ($2::int is null or s.account_id = $2::int)
    and not exists (select from message m where m.id = f.id)
), x as (
  select c.*, s.account_id, s.sender, s.confirms_opt_out, s.price, s.created_at, s.scheduled_at, date_trunc('milliseconds', coalesce(s.scheduled_at, s.created_at)) due
  from c cross join lateral (select * from send where first_id = c.first_id offset 0) s
)
select x.id, x.account_id account, (select address from sender where id = x.sender) "from", x.confirms_opt_out confirms,
  floor(extract(epoch from x.created_at) * 1000)::bigint accepted, floor(extract(epoch from x.due) * 1000)::bigint due,
  x.scheduled_at is not null scheduled, x.price, x.place, x.code, floor(extract(epoch from x.at) * 1000)::bigint at, x.attempt, x.marked
from x
where ($3::timestamptz is null or x.due >= $3::timestamptz) and ($4::timestamptz is null or x.due < $4::timestamptz)
  and ($5::timestamptz is null or (x.due, x.id) < ($5::timestamptz, $6::bigint))
  and (x.place <> 'decided' or x.due >= $7::timestamptz)
order by x.due desc, x.id desc limit $8::int`,
}
