import { milliseconds } from './arrays.ts'
import { sql, statement } from './statement.ts'

/**
 * What became of messages of account `account`. Their ids come in groups, one for each partition: `ids` has the ids of
 * each group as an array, `lo` and `hi` the smallest and the largest of each. One row; each column is an array as text
 * with an element for each row of `message` that was found, or null where none was. `times` has 8 bytes for each, which
 * `fromTimes` reads. `unreferenced` are the ids without a reference of a carrier, `refunded` those whose charge was
 * given back by hand.
 *
 * Cost: 3 ms for 1000 ids, where a plain select of them from a table of one index takes 2. The bounds are what lets it
 * look in one partition for each group; looking for each id by itself takes 4, as rows instead of arrays it costs as
 * much again, and times as numbers add 0.4.
 */
export const findOutcomes = statement(
  'find-outcomes',
  {
    parameters: { account: 'int', ids: 'text[]', lo: 'bigint[]', hi: 'bigint[]' },
    columns: {
      ids: 'text?',
      codes: 'text?',
      unreferenced: 'text?',
      refunded: 'text?',
      times: 'bytea?',
      numbers: 'text?',
      sends: 'text?',
    },
  },
  sql`
select array_agg(message.id)::text ids,
  array_agg(message.code)::text codes,
  array_agg(message.id) filter (where message.carrier_id is null)::text unreferenced,
  array_agg(message.id) filter (where message.refunded)::text refunded,
  string_agg(timestamptz_send(coalesce(message.code_at, message.sent_at)), '') times,
  array_agg(message.msisdn)::text numbers,
  array_agg(message.send_first_id)::text sends
from unnest(:ids, :lo, :hi) partition_ids(ids, lo, hi)
join message on message.id = any (partition_ids.ids::bigint[])
  and message.id between partition_ids.lo and partition_ids.hi
where message.account_id = :account`,
)

const dueTime = 'coalesce(exact.scheduled_at, exact.created_at, covering.scheduled_at, covering.created_at)'

/**
 * The sends of account `account` that begin with one of the ids `ids` or cover it. One row of arrays as above, an
 * element for each id that has a send: the id, how far it is from the first id of the send, when the messages were due,
 * in milliseconds, and what each cost; `referenced` are the ids of sends with references. A send never leaves its
 * block, so the search does not either.
 *
 * Cost: 3 µs an id. The search alone would be 9 where sends are short: it reads half a page of the index to find one
 * entry.
 */
export const coveringSends = statement(
  'covering-sends',
  {
    parameters: { account: 'int', ids: 'bigint[]' },
    columns: { ids: 'text?', places: 'text?', dues: 'text?', prices: 'text?', referenced: 'text?' },
  },
  sql`
select array_agg(asked.id)::text ids,
  array_agg(asked.id - coalesce(exact.first_id, covering.first_id))::text places,
  array_agg(${milliseconds(dueTime)})::text dues,
  array_agg(coalesce(exact.price, covering.price))::text prices,
  (array_agg(asked.id) filter (
    where exact.client_references is not null or covering.client_references is not null
  ))::text referenced
from unnest(:ids) asked(id)
left join send exact on exact.first_id = asked.id
left join lateral (
  select first_id, n, account_id, scheduled_at, created_at, price, client_references
  from send
  where exact.first_id is null and first_id <= asked.id and first_id >= asked.id / 10000 * 10000
  order by first_id desc
  limit 1
) covering on asked.id < covering.first_id + covering.n
where coalesce(exact.account_id, covering.account_id) = :account`,
)

/**
 * The numbers of messages of account `account`: `sends` has the first id of each send, `ids` the ids in each as an
 * array. One row of arrays as above. The array of a send is read out of its row once: whoever asks for each number by
 * itself reads all of it each time.
 */
export const numbersInSends = statement(
  'numbers-in-sends',
  {
    parameters: { account: 'int', sends: 'bigint[]', ids: 'text[]' },
    columns: { ids: 'text?', numbers: 'text?' },
  },
  sql`
select array_agg(wanted.id)::text ids,
  array_agg(covering.numbers[wanted.id - asked.first_id + 1])::text numbers
from unnest(:sends, :ids) asked(first_id, ids)
cross join lateral (
  select msisdns[1 : n] numbers
  from send
  where first_id = asked.first_id and case when account_id = :account then true end offset 0
) covering
cross join lateral unnest(asked.ids::bigint[]) wanted(id)`,
)

/** The same for the references of messages, as a JSON object by id; null: none has one. */
export const referencesInSends = statement(
  'references-in-sends',
  {
    parameters: { account: 'int', sends: 'bigint[]', ids: 'text[]' },
    columns: { references: 'text?' },
  },
  sql`
select (
    json_object_agg(wanted.id, covering.its_references[wanted.id - asked.first_id + 1])
      filter (where covering.its_references[wanted.id - asked.first_id + 1] is not null)
  )::text as references
from unnest(:sends, :ids) asked(first_id, ids)
cross join lateral (
  select client_references[1 : n] its_references
  from send
  where first_id = asked.first_id and case when account_id = :account then true end offset 0
) covering
cross join lateral unnest(asked.ids::bigint[]) wanted(id)`,
)
