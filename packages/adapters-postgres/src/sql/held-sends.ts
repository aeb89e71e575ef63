import { OUTCOME } from '@gateway/core/messages'
import { refund } from './credits.ts'
import { wakeIdle } from './idle-dispatchers.ts'
import { noteScheduled } from './scheduled.ts'
import { sql, statement } from './statement.ts'

/**
 * Seconds for which sends and parts are held, unless their process releases them before. A process that learns that it
 * stored a send too late has this time to revoke it. If the process dies, its sends are claimed after this time.
 */
export const holdSeconds = 60

/**
 * CTE for statements that store sends: the slot holds the sends in the CTE `accepted`, and no longer holds its previous
 * sends.
 */
export const holdAccepted = sql`held as (
  insert into smpp_accept (process, slot, until, first_ids)
  select :process, :slot, now() + interval '${holdSeconds} s', coalesce(array_agg(first_id), '{}') from accepted
  on conflict (process, slot) do update set until = excluded.until, first_ids = excluded.first_ids
)`

/** Query for the first ids of all held sends, and the ids of all held parts. It has few rows. */
export const heldIds = sql`select unnest(first_ids) first_id from smpp_accept where until > now()`

/** CTE with the ids of `heldIds`. A claim reads it once. */
export const heldSends = sql`held as materialized (
  ${heldIds}
)`

/** Condition of a claim that a range does not belong to a send in the CTE `held`. */
export const isNotHeld = sql`first_id not in (select first_id from held)`

/**
 * Releases the sends or parts of a slot. The commit does not wait for the disk: if it is lost, the hold ends by itself.
 * May be run again.
 */
export const releaseHeld = statement(
  'release-held-sends',
  { parameters: { process: 'uuid', slot: 'int' }, columns: { slot: 'int', async: 'text' } },
  sql`
update smpp_accept
set first_ids = '{}', until = now()
where process = :process and slot = :slot
returning slot, set_config('synchronous_commit', 'off', true) as async, ${wakeIdle} as woken`,
)

/** Deletes the slots of processes that have released nothing for a day. */
export const dropHeld = statement(
  'drop-held-sends',
  { parameters: {} },
  sql`delete from smpp_accept where until < now() - interval '1 day'`,
)

/**
 * Revokes sends that are still held, and releases the other sends of their slot: ends their messages as cancelled,
 * refunds them, and deletes the stored answers with these keys. There are no events, because the account never got the
 * ids. Returns the number of messages. May be run again.
 */
export const revokeHeld = statement(
  'revoke-held-sends',
  {
    parameters: { process: 'uuid', slot: 'int', firstIds: 'bigint[]', keys: 'uuid[]' },
    columns: { revoked: 'int' },
  },
  sql`
with wanted as materialized (
  select send.first_id, send.n, send.account_id, -send.priority as rank
  from unnest(:firstIds) asked(first_id)
  cross join lateral (select first_id, n, account_id, priority from send where first_id = asked.first_id offset 0) send
), seen_due as materialized (
  select waiting.place
  from wanted
  cross join queue
  cross join unnest('{0,1}'::smallint[]) lanes(lane)
  cross join lateral (
    select ctid place
    from due
    where due.queue = queue.id and due.lane = lanes.lane and due.account_id = wanted.account_id
      and due.rank = wanted.rank and due.lo >= wanted.first_id and due.lo < wanted.first_id + wanted.n
    order by due.lo
    for update
  ) waiting
), from_due as (
  delete from due where ctid = any (array(select place from seen_due)) returning first_id, lo, hi
), seen_later as materialized (
  select waiting.place
  from wanted
  cross join lateral (
    select ctid place
    from later
    where account_id = wanted.account_id and lo >= wanted.first_id and lo < wanted.first_id + wanted.n
    order by lo
    for update
  ) waiting
), from_later as (
  delete from later
  where ctid = any (array(select place from seen_later))
  returning account_id, due_at, first_id, lo, hi
), ${noteScheduled('select account_id, due_at, lo, lo - hi change from from_later')}, revoked as (
  select send.account_id, range.first_id send_first_id, send.sender, send.price amount,
    ${OUTCOME.cancelled}::smallint code, id, send.msisdns[id - range.first_id + 1] msisdn
  from (select first_id, lo, hi from from_due union all select first_id, lo, hi from from_later) range
  cross join lateral (
    select account_id, sender, price, msisdns from send where first_id = range.first_id offset 0
  ) send
  cross join lateral generate_series(range.lo, range.hi - 1) id
), messages as (
  insert into message (id, send_first_id, msisdn, account_id, sender, code, code_at)
  select id, send_first_id, msisdn, account_id, sender, code, now() from revoked
), ${refund('revoked')}, answers as (
  delete from client_request where key = any (:keys)
), released as (
  update smpp_accept set first_ids = '{}', until = now() where process = :process and slot = :slot
)
select count(*)::int as revoked, ${wakeIdle} as woken from revoked`,
)
