import { milliseconds } from './milliseconds.ts'
import type { PreparedStatement } from './prepared-statement.ts'

/**
 * What became of ids of account $1. The ids come in groups of one partition each: $2 the ids of each group, $3 and $4 the
 * smallest and the largest of each. One row, whose columns are arrays as text with an element for each message row that was
 * found, or null: its id, code, number, and first id of its send; its time is
 * 8 bytes that `fromTimes` reads. `unreferenced`: the ids of those without a reference of a
 * carrier; `refunded`: of those whose charge was given back by hand.
 *
 * Cost: 3 ms for 1000 ids, where a plain select of them from a table of one index takes 2. The bounds are what lets it look
 * in one partition for each group; looking for each id by itself takes 4, as rows instead of arrays it costs as much
 * again, and times as numbers add 0.4.
 */
export const findOutcomes: PreparedStatement<
  Record<'ids' | 'codes' | 'unreferenced' | 'refunded' | 'numbers' | 'sends', string | null> & {
    readonly times: Buffer | null
  }
> = {
  name: 'find-outcomes',
  text: `
select array_agg(message.id)::text ids,
  array_agg(message.code)::text codes,
  array_agg(message.id) filter (where message.carrier_id is null)::text unreferenced,
  array_agg(message.id) filter (where message.refunded)::text refunded,
  string_agg(timestamptz_send(coalesce(message.code_at, message.sent_at)), '') times,
  array_agg(message.msisdn)::text numbers,
  array_agg(message.send_first_id)::text sends
from unnest($2::text[], $3::bigint[], $4::bigint[]) partition_ids(ids, lo, hi)
join message on message.id = any (partition_ids.ids::bigint[]) and message.id between partition_ids.lo and partition_ids.hi
where message.account_id = $1::int`,
}

/**
 * The sends of account $1 that begin with or cover the ids $2. One row of arrays as above, an element for each id that has
 * one: the id, how far it is from the first of its send, when the messages were due, in milliseconds, and what each cost. A send never leaves its block, so the search
 * does not either.
 *
 * Cost: 3 µs an id. The search alone would be 9 where sends are short: it reads half a page of the index to find one entry.
 */
export const coveringSends: PreparedStatement<Record<'ids' | 'places' | 'dues' | 'prices', string | null>> = {
  name: 'covering-sends',
  text: `
select array_agg(asked.id)::text ids,
  array_agg(asked.id - coalesce(exact.first_id, covering.first_id))::text places,
  array_agg(${milliseconds('coalesce(exact.scheduled_at, exact.created_at, covering.scheduled_at, covering.created_at)')})::text dues,
  array_agg(coalesce(exact.price, covering.price))::text prices
from unnest($2::bigint[]) asked(id)
left join send exact on exact.first_id = asked.id
left join lateral (
  select first_id, n, account_id, scheduled_at, created_at, price
  from send
  where exact.first_id is null and first_id <= asked.id and first_id >= asked.id / 10000 * 10000
  order by first_id desc
  limit 1
) covering on asked.id < covering.first_id + covering.n
where coalesce(exact.account_id, covering.account_id) = $1::int`,
}

/**
 * The numbers of messages of account $1 by their sends: $2 the first id of each send, $3 the ids in it. One row of arrays as above.
 *
 * The array of a send is read out of its row once: whoever asks for each number by itself reads all of it each time.
 */
export const numbersInSends: PreparedStatement<Record<'ids' | 'numbers', string | null>> = {
  name: 'numbers-in-sends',
  text: `
select array_agg(wanted.id)::text ids,
  array_agg(covering.numbers[wanted.id - asked.first_id + 1])::text numbers
from unnest($2::bigint[], $3::text[]) asked(first_id, ids)
cross join lateral (
  select msisdns[1:n] numbers
  from send
  where first_id = asked.first_id and account_id = $1::int offset 0
) covering
cross join lateral unnest(asked.ids::bigint[]) wanted(id)`,
}
