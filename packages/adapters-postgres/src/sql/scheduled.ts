import type { Credits } from '@gateway/core/credits'
import { OUTCOME, type MessageId, type MessageReference, type Msisdn, type SendLabels } from '@gateway/core/messages'
import type { Instant } from '@gateway/core/time'
import { arrayOfColumn, messageId, messagePrice, messageReference, msisdn, valuesById } from './columns.ts'
import { nullable, sql, statement, type RowOf } from './statement.ts'

/**
 * Lists `limit` scheduled messages of the account from `offset` on (`list_scheduled_messages`). Returns one row. Each
 * column has the values of all messages as the text of an array, or null if there are none. For the ordinary
 * connections.
 *
 * The cost does not depend on the offset, as measured in docs/decisions/0055. Returning a page of 1000 messages as rows
 * would cost this process 2 ms more.
 */
export const listScheduled = statement(
  'list-scheduled',
  {
    parameters: { account: 'int', offset: 'bigint', limit: 'bigint' },
    columns: {
      total: 'bigint',
      unfolded: 'bigint',
      ids: arrayOfColumn<MessageId>(),
      numbers: arrayOfColumn<Msisdn>(),
      submitted: arrayOfColumn<Instant>(),
      dues: arrayOfColumn<Instant>(),
      prices: arrayOfColumn<Credits>(),
      references: valuesById<MessageReference>(),
      labels: valuesById<SendLabels>(),
    },
  },
  sql`
select max(total) as total, max(unfolded) as unfolded,
  (array_agg(id order by place) filter (where id is not null))::text as ids,
  array_agg(number order by place)::text as numbers,
  array_agg(submitted order by place)::text as submitted,
  array_agg(due order by place)::text as dues,
  array_agg(price order by place)::text as prices,
  (json_object_agg(id, client_reference) filter (where client_reference is not null))::text as references,
  (json_object_agg(id, options) filter (where options is not null))::text as labels
from list_scheduled_messages(:account, :offset, :limit) with ordinality
  as listed (total, unfolded, id, number, submitted, due, price, client_reference, options, place)`,
)

/**
 * Deletes the messages with the distinct ids (`delete_waiting`). Rows with a refund come first.
 *
 * Cost: 20 µs an id (1000 of one send), 40 µs (1000 single sends), independent of other waiting or deleted messages.
 */
export const deleteWaiting = statement(
  'delete-waiting',
  {
    parameters: { account: 'int', ids: 'bigint[]', operation: 'uuid' },
    columns: {
      id: messageId,
      number: msisdn,
      // Null if the message was not deleted.
      refund: nullable(messagePrice),
      due: 'timestamptz?',
      // Null if the message still waits.
      code: 'smallint?',
      reference: nullable(messageReference),
    },
  },
  sql`
select message_id as id, recipient::text as number, refund, due_time as due, final_code as code, reference
from delete_waiting(:account, :ids, :operation)`,
)

export type DeletedRow = RowOf<typeof deleteWaiting>

/**
 * Finds the messages that the operation has deleted, with their refunds. The messages and the ledger entry have the
 * same `xmin`, because one transaction wrote them and these rows never change again. Searches only the latest ten
 * million ledger entries, because an account may have millions of messages.
 */
export const findDeleted = statement(
  'find-deleted',
  {
    parameters: { account: 'int', operation: 'uuid' },
    columns: { id: messageId, number: msisdn, refund: messagePrice },
  },
  sql`
select message.id, message.msisdn::text as number, send.price as refund
from ledger
join send on send.first_id = ledger.send_first_id
join message on message.id >= send.first_id and message.id < send.first_id + send.n
  and message.code = ${OUTCOME.cancelled} and message.xmin = ledger.xmin
where ledger.account_id = :account and ledger.operation = :operation
  and ledger.id > (select max(id) - 10000000 from ledger)`,
)

/** Size of a block of ids. The messages of one block that have the same due time share one count. */
export const countedIds = 1000

/**
 * CTE that records how many scheduled messages `ranges` (account_id, due_at, lo, change) add to `later` or remove from
 * it. Every statement that inserts or deletes rows of `later` with attempt 0 includes it, so that counts and rows agree
 * in every snapshot.
 */
export const noteScheduled = (ranges: string): string => sql`
noted_scheduled as (
  insert into scheduled_change (account_id, due_at, block, change)
  select account_id, due_at, lo / ${countedIds}, sum(change)
  from (${ranges}) ranges
  group by account_id, due_at, lo / ${countedIds}
  having sum(change) <> 0
)`

/**
 * Adds at most `changesMax` recorded changes of the accounts `fromAccount` to `toAccount` to the counts. Adds none
 * while a concurrent call adds some. Returns how many changes it added. May be run again. Runs on the ordinary
 * connections. Cost: 9 µs a change.
 */
export const foldScheduled = statement(
  'fold-scheduled',
  { parameters: { fromAccount: 'int', toAccount: 'int', changesMax: 'int' }, columns: { folded: 'int' } },
  sql`
with alone as materialized (
  select pg_try_advisory_xact_lock('scheduled_change'::regclass::oid::bigint) got
), changes as (
  delete from scheduled_change where ctid = any (array(
    select ctid from scheduled_change
    where account_id between :fromAccount and :toAccount and (select got from alone)
    order by account_id limit :changesMax
  ))
  returning account_id, due_at, block, change
), changed_blocks as (
  select distinct account_id, due_at, block from changes
), old_blocks as (
  delete from scheduled_block using changed_blocks changed
  where scheduled_block.account_id = changed.account_id and scheduled_block.due_at = changed.due_at
    and scheduled_block.block = changed.block
  returning scheduled_block.*
), new_blocks as (
  insert into scheduled_block (account_id, due_at, block, n)
  select account_id, due_at, block, sum(n)
  from (select * from old_blocks union all select * from changes) counted (account_id, due_at, block, n)
  group by account_id, due_at, block having sum(n) <> 0
), hours as (
  select account_id, date_bin('1 hour', due_at, 'epoch') as hour, sum(change) n from changes group by 1, 2
), old_hours as (
  delete from scheduled_hour using hours
  where scheduled_hour.account_id = hours.account_id and scheduled_hour.hour = hours.hour
  returning scheduled_hour.*
), new_hours as (
  insert into scheduled_hour (account_id, hour, n)
  select account_id, hour, sum(n)
  from (select * from old_hours union all select * from hours) counted (account_id, hour, n)
  group by account_id, hour having sum(n) <> 0
)
select count(*)::int as folded from changes`,
)
