import { OUTCOME } from '@gateway/core'
import { refund } from './charge-and-refund.ts'
import type { PreparedStatement } from './prepared-statement.ts'
import { storeMessageEvents } from './store-events.ts'
import { noteScheduled } from './scheduled-counts.ts'

/**
 * Waiting ranges that were due more than $1 seconds ago become 101, refunded: at most $2 ranges of each table. Returns how
 * many messages. Nothing waits again before it is due, so that `at` is never before `due_at`, and the same for attempt 0.
 */
export const expire: PreparedStatement<{ expired: number }> = {
  name: 'expire',
  text: `
with past_due as (
  select ctid row_id
  from due
  where due_at < now() - make_interval(secs => $1::float8)
  order by due_at
  limit $2::int
  for update skip locked
), past_scheduled as (
  select ctid row_id
  from later
  where at < now() - make_interval(secs => $1::float8)
  order by at
  limit $2::int
  for update skip locked
), past_tried as (
  select ctid row_id
  from later
  where attempt > 0 and due_at < now() - make_interval(secs => $1::float8)
  order by due_at
  limit $2::int
  for update skip locked
), from_due as (
  delete from due where ctid = any (array(select row_id from past_due)) returning lo, hi, first_id
), from_later as (
  delete from later
  where ctid = any (array(select row_id from past_scheduled union select row_id from past_tried limit $2::int))
  returning account_id, due_at, attempt, lo, hi, first_id
), ${noteScheduled('select account_id, due_at, lo, lo - hi change from from_later where attempt = 0')}, expired as (
  select message.id, send.first_id send_first_id, send.account_id, send.sender, send.confirms_opt_out, ${OUTCOME.expired}::smallint code,
    send.price amount, now() as at, send.msisdns[message.id - send.first_id + 1] msisdn,
    false has_reference
  from (select * from from_due union all select lo, hi, first_id from from_later) waiting
  cross join lateral (select * from send where first_id = waiting.first_id offset 0) send
  cross join lateral generate_series(waiting.lo, waiting.hi - 1) message(id)
), messages as (
  insert into message (id, send_first_id, msisdn, account_id, sender, confirms_opt_out, code, code_at)
  select id, send_first_id, msisdn, account_id, sender, confirms_opt_out, code, now()
  from expired
), ${refund('expired')}, ${storeMessageEvents('expired', 'handover')}
select count(*)::int as expired from expired`,
}
