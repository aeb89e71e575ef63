import { milliseconds } from './arrays.ts'
import type { Credits } from '@gateway/core/credits'
import type { MessageId, MessageReference, Msisdn, OutcomeCode, SendLabels } from '@gateway/core/messages'
import type { Instant } from '@gateway/core/time'
import { arrayOfColumn, valuesById } from './columns.ts'
import { sql, statement } from './statement.ts'

/**
 * Finds the outcomes of messages of an account. The ids come in groups, one group for each partition. `ids` has the ids
 * of each group as the text of an array; `lo` and `hi` have the smallest and the largest id of each group. Returns one
 * row. Each column is an array as text with one element for each message found, or null if no message was found.
 * `times` has 8 bytes for each message, which `fromTimes` parses. `unreferenced` are the ids of messages without a
 * carrier's reference, `refunded` the ids of messages that an operator refunded.
 *
 * Cost: 1000 ids take 3 ms; a plain select of the same ids from a table with one index takes 2 ms. Because of the
 * bounds, the server reads only one partition for each group. Looking up each id separately takes 4 ms. Returning rows
 * in place of arrays costs as much again, and returning times as numbers adds 0.4 ms.
 */
export const findOutcomes = statement(
  'find-outcomes',
  {
    parameters: { account: 'int', ids: 'text[]', lo: 'bigint[]', hi: 'bigint[]' },
    columns: {
      ids: arrayOfColumn<MessageId>(),
      codes: arrayOfColumn<OutcomeCode>(),
      unreferenced: arrayOfColumn<MessageId>(),
      refunded: arrayOfColumn<MessageId>(),
      times: 'bytea?',
      numbers: arrayOfColumn<Msisdn>(),
      sends: arrayOfColumn<MessageId>(),
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
 * Finds the sends of an account that contain the ids. Returns one row of arrays, as `findOutcomes` does, with one
 * element for each id that belongs to a send: the id, its distance from the first id of the send, the time at which the
 * message was due in milliseconds, and its price. `referenced` are the ids in sends with client references. `labels` is
 * a JSON object that maps ids to the options that have no column of their own, or null if no send has such options. The
 * search stays within a block of 10,000 ids, because a send never crosses a block.
 *
 * Cost: 3 µs an id. Without the exact lookup of first ids, an id of a short send would cost 9 µs, because the range
 * search reads half a page of the index for one entry.
 */
export const coveringSends = statement(
  'covering-sends',
  {
    parameters: { account: 'int', ids: 'bigint[]' },
    columns: {
      ids: arrayOfColumn<MessageId>(),
      places: arrayOfColumn<number>(),
      dues: arrayOfColumn<Instant>(),
      prices: arrayOfColumn<Credits>(),
      referenced: arrayOfColumn<MessageId>(),
      labels: valuesById<SendLabels>(),
    },
  },
  sql`
select array_agg(asked.id)::text ids,
  array_agg(asked.id - coalesce(exact.first_id, covering.first_id))::text places,
  array_agg(${milliseconds(dueTime)})::text dues,
  array_agg(coalesce(exact.price, covering.price))::text prices,
  (array_agg(asked.id) filter (
    where exact.client_references is not null or covering.client_references is not null
  ))::text referenced,
  (json_object_agg(asked.id, coalesce(exact.options, covering.options)) filter (
    where exact.options is not null or covering.options is not null
  ))::text labels
from unnest(:ids) asked(id)
left join send exact on exact.first_id = asked.id
left join lateral (
  select first_id, n, account_id, scheduled_at, created_at, price, client_references, options
  from send
  where exact.first_id is null and first_id <= asked.id and first_id >= asked.id / 10000 * 10000
  order by first_id desc
  limit 1
) covering on asked.id < covering.first_id + covering.n
where coalesce(exact.account_id, covering.account_id) = :account`,
)

/**
 * Returns the numbers of messages of an account as one row of arrays. `sends` has the first id of each send; `ids` has
 * the message ids of each send as the text of an array. The array of numbers of a send is read once for all its ids,
 * because reading one element reads the whole array.
 */
export const numbersInSends = statement(
  'numbers-in-sends',
  {
    parameters: { account: 'int', sends: 'bigint[]', ids: 'text[]' },
    columns: { ids: arrayOfColumn<MessageId>(), numbers: arrayOfColumn<Msisdn>() },
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

/**
 * Returns the client references of messages as a JSON object by id, or null if no message has a reference. The
 * parameters are those of `numbersInSends`.
 */
export const referencesInSends = statement(
  'references-in-sends',
  {
    parameters: { account: 'int', sends: 'bigint[]', ids: 'text[]' },
    columns: { references: valuesById<MessageReference>() },
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
