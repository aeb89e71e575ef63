import { deduplicationSeconds, joinedPartSeconds } from '@gateway/core/inbox'
import { LANE } from '../stored-codes.ts'
import { wakeIdle } from './idle-dispatchers.ts'
import { accountId, msisdn, senderAddress } from './columns.ts'
import { sql, statement } from './statement.ts'

/**
 * Records the digests `keys` (distinct) for an operation, and returns the digests that are new or were recorded too
 * long ago to be a repetition (core's `isRepetition`). Writes in the order of the digests, so that two calls cannot
 * deadlock. Digests that exist already are locked, which is a write, so that the commit waits for a standby that may
 * not have them yet.
 */
export const noteInboundMessages = statement(
  'note-inbound-messages',
  { parameters: { keys: 'uuid[]', operation: 'uuid' }, columns: { key: 'uuid' } },
  sql`
insert into inbound_message_seen as seen (key, operation)
select key, :operation
from unnest(:keys) key
order by key
on conflict (key) do update set at = now(), operation = excluded.operation
where seen.at <= now() - interval '${deduplicationSeconds} s'
returning key`,
)

/** Returns the digests that the operation has recorded. To be called after the response to the operation was lost. */
export const findNoted = statement(
  'find-noted',
  { parameters: { keys: 'uuid[]', operation: 'uuid' }, columns: { key: 'uuid' } },
  sql`select key from inbound_message_seen where key = any (:keys) and operation = :operation`,
)

/**
 * Deletes digests, so that the next message with one of them does not count as a repetition. Locks them in the order of
 * the digests, as `noteInboundMessages` does.
 */
export const forgetInboundMessages = statement(
  'forget-inbound-messages',
  { parameters: { keys: 'uuid[]' } },
  sql`
delete from inbound_message_seen
where key = any (array(select key from unnest(:keys) key order by key))`,
)

/**
 * Locks the texts `keys` (distinct digests) until the transaction ends and returns the parts that have arrived of each.
 * `common` has the fields that the parts of each text share. Locks in the order of the digests, so that two calls
 * cannot deadlock.
 */
export const lockParts = statement(
  'lock-parts',
  { parameters: { keys: 'uuid[]', common: 'text[]' }, columns: { key: 'uuid', parts: 'text' } },
  sql`
insert into inbound_message_parts as waiting (key, common)
select key, common
from unnest(:keys, :common) text(key, common)
order by key
on conflict (key) do update set last = now()
returning key, parts`,
)

/** Replaces the stored parts of the locked texts `keys` with `parts`. Deletes texts whose array is empty. */
export const writeParts = statement(
  'write-parts',
  { parameters: { keys: 'uuid[]', parts: 'text[]' } },
  sql`
with written as (
  select key, parts from unnest(:keys, :parts) text(key, parts)
), ended as (
  delete from inbound_message_parts where key = any (array(select key from written where parts = '[]'))
)
update inbound_message_parts waiting set parts = written.parts
from written
where waiting.key = any (array[written.key]) and written.parts <> '[]'`,
)

/**
 * Records the digests `keys` of parts: for `findJoinedParts` if their texts are complete now, for `findNoted` if the
 * parts are repeated. Also replaces the operation of a digest that is recorded already. `operation` is an id that only
 * this call uses. Writes in the order of the digests, so that two calls cannot deadlock.
 */
export const noteParts = statement(
  'note-parts',
  { parameters: { keys: 'uuid[]', operation: 'uuid' } },
  sql`
insert into inbound_message_seen (key, operation)
select key, :operation
from unnest(:keys) key
order by key
on conflict (key) do update set at = now(), operation = excluded.operation`,
)

/** Returns which of the digests belong to parts of recently completed texts. */
export const findJoinedParts = statement(
  'find-joined-parts',
  { parameters: { keys: 'uuid[]' }, columns: { key: 'uuid' } },
  sql`
select key
from inbound_message_seen
where key = any (:keys) and at > now() - interval '${joinedPartSeconds} s'`,
)

/** Returns which of the texts still wait for a part. */
export const findWaitingParts = statement(
  'find-waiting-parts',
  { parameters: { keys: 'uuid[]' }, columns: { key: 'uuid' } },
  sql`select key from inbound_message_parts where key = any (:keys)`,
)

/**
 * Deletes and returns at most `textsMax` texts whose last part arrived more than `ageSeconds` ago. Skips texts that
 * another process has locked.
 */
export const takeOldParts = statement(
  'take-old-parts',
  { parameters: { ageSeconds: 'float8', textsMax: 'int' }, columns: { key: 'uuid', common: 'text', parts: 'text' } },
  sql`
delete from inbound_message_parts
where key = any (array(
  select key
  from inbound_message_parts
  where last < now() - make_interval(secs => :ageSeconds)
  order by last
  limit :textsMax
  for update skip locked
))
returning key, common, parts`,
)

/**
 * Calls `receive_inbound_messages` and returns the confirmations to send. An element of `keywords` is 0 for none, 1 to
 * opt out, 2 to opt in. `sender` is the id of the address that a confirmation is sent from. Runs in one transaction
 * with the recording of digests and the storing of confirmations.
 */
export const receiveTexts = statement(
  'receive-texts',
  {
    parameters: {
      carriers: 'smallint[]',
      from: 'text[]',
      numbers: 'bigint?[]',
      to: 'text?[]',
      texts: 'text[]',
      keywords: 'smallint[]',
    },
    columns: { account: accountId, sender: 'int', address: senderAddress, number: msisdn },
  },
  sql`
select o_account as account, o_sender as sender, o_address as address, o_number::text as number
from receive_inbound_messages(:carriers, :from, :numbers, :to, :texts, :keywords)`,
)

/** Stores confirmations of opt-outs, due at once. All have the same text and number of parts. */
export const storeConfirmations = statement(
  'store-confirmations',
  {
    parameters: {
      ids: 'bigint[]',
      accounts: 'int[]',
      senders: 'int[]',
      numbers: 'bigint[]',
      routes: 'smallint[]',
      text: 'text',
      parts: 'smallint',
    },
  },
  sql`
with sends as (
  insert into send (first_id, n, account_id, sender, confirms_opt_out, price, parts, route, body, msisdns)
  select id, 1, account_id, sender, true, 0, :parts, route, :text, array[msisdn]
  from unnest(:ids, :accounts, :senders, :numbers, :routes) request(id, account_id, sender, msisdn, route)
  returning first_id, account_id, route
), due_now as (
  insert into due (queue, lane, account_id, lo, hi, first_id)
  select route, ${LANE.single}, account_id, first_id, first_id + 1, first_id
  from sends
)
select ${wakeIdle} as woken`,
)
