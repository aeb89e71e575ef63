import type { PreparedStatement } from './prepared-statement.ts'

/**
 * What became of ids of account $1. The ids come in groups of one partition each: $2 the ids of each group, $3 and $4 the
 * smallest and the largest of each. One row, whose columns are arrays as text with an element for each message row that was
 * found, or null: its id, code, number, and first id of its send; its time is
 * 8 bytes that `fromTimes` reads. `unreferenced`: the ids of those without a reference of a carrier.
 *
 * Cost: 3 ms for 1000 ids, where a plain select of them from a table of one index takes 2. The bounds are what lets it look
 * in one partition for each group; looking for each id by itself takes 4, as rows instead of arrays it costs as much
 * again, and times as numbers add 0.4.
 */
export const findOutcomes: PreparedStatement<
  Record<'ids' | 'codes' | 'unreferenced' | 'numbers' | 'sends', string | null> & { readonly times: Buffer | null }
> = {
  name: 'find-outcomes',
  text: `
select array_agg(m.id)::text ids,
  array_agg(m.code)::text codes, array_agg(m.id) filter (where m.carrier_id is null)::text unreferenced,
  string_agg(timestamptz_send(coalesce(m.code_at, m.sent_at)), '') times,
  array_agg(m.msisdn)::text numbers, array_agg(m.send_first_id)::text sends
from unnest($2::text[], $3::bigint[], $4::bigint[]) u(ids, lo, hi)
join message m on m.id = any (u.ids::bigint[]) and m.id between u.lo and u.hi
where m.account_id = $1::int`,
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
select array_agg(u.id)::text ids, array_agg(u.id - coalesce(e.first_id, c.first_id))::text places,
  array_agg(floor(extract(epoch from coalesce(e.scheduled_at, e.created_at, c.scheduled_at, c.created_at)) * 1000)::bigint)::text dues,
  array_agg(coalesce(e.price, c.price))::text prices
from unnest($2::bigint[]) u(id) left join send e on e.first_id = u.id left join lateral (
  select first_id, n, account_id, scheduled_at, created_at, price from send
  where e.first_id is null and first_id <= u.id and first_id >= u.id / 10000 * 10000 order by first_id desc limit 1
) c on u.id < c.first_id + c.n
where coalesce(e.account_id, c.account_id) = $1::int`,
}

/**
 * The numbers of messages of account $1 by their sends: $2 the first id of each send, $3 the ids in it. One row of arrays as above.
 *
 * The array of a send is read out of its row once: whoever asks for each number by itself reads all of it each time.
 */
export const numbersInSends: PreparedStatement<Record<'ids' | 'numbers', string | null>> = {
  name: 'numbers-in-sends',
  text: `
select array_agg(w.id)::text ids, array_agg(s.numbers[w.id - u.first_id + 1])::text numbers
from unnest($2::bigint[], $3::text[]) u(first_id, ids)
cross join lateral (
  select msisdns[1:n] numbers from send where first_id = u.first_id and account_id = $1::int offset 0
) s cross join lateral unnest(u.ids::bigint[]) w(id)`,
}
