import { deduplicationSeconds, joinedPartSeconds } from '@gateway/core/inbox'
import { LANE } from '../stored-codes.ts'
import { wakeIdle } from './idle-dispatchers.ts'
import { rows, sql, statement } from './statement.ts'

/**
 * Notes the digests `keys` (each once) for an operation, and returns those that were not there, or so long ago that
 * they are no repetition (`isRepetition`). In the order of the digests, so that two calls never wait for each other
 * in a circle. It locks those that are there, which writes: so its commit waits for a standby that may not have them
 * yet.
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

/** Which of the digests the operation has noted: its answer was lost. */
export const findNoted = statement(
  'find-noted',
  { parameters: { keys: 'uuid[]', operation: 'uuid' }, columns: { key: 'uuid' } },
  sql`select key from inbound_message_seen where key = any (:keys) and operation = :operation`,
)

/** The digests repeat nothing from now on. In their order, as they are noted. */
export const forgetInboundMessages = statement(
  'forget-inbound-messages',
  { parameters: { keys: 'uuid[]' } },
  sql`
delete from inbound_message_seen
where key = any (array(select key from unnest(:keys) key order by key))`,
)

/**
 * What waits of the texts `keys` (digests, each once), which nobody else changes until the transaction ends; `common`
 * is what the parts of each have in common. In the order of the digests, so that two of these never wait for each
 * other in a circle.
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

/**
 * From now on the parts `parts` wait of the texts `keys`, which are locked; of a text with an empty array nothing
 * does.
 */
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
 * Notes the digests `keys` of parts whose texts are put together now, for `findJoinedParts`; `operation` is one of its
 * own. In the order of the digests, so that two calls never wait for each other in a circle.
 */
export const noteJoinedParts = statement(
  'note-joined-parts',
  { parameters: { keys: 'uuid[]', operation: 'uuid' } },
  sql`
insert into inbound_message_seen (key, operation)
select key, :operation
from unnest(:keys) key
order by key
on conflict (key) do update set at = now(), operation = excluded.operation`,
)

/** Which of the digests are those of parts whose texts were put together lately. */
export const findJoinedParts = statement(
  'find-joined-parts',
  { parameters: { keys: 'uuid[]' }, columns: { key: 'uuid' } },
  sql`
select key
from inbound_message_seen
where key = any (:keys) and at > now() - interval '${joinedPartSeconds} s'`,
)

/** Which of the texts still wait for a part. */
export const findWaitingParts = statement(
  'find-waiting-parts',
  { parameters: { keys: 'uuid[]' }, columns: { key: 'uuid' } },
  sql`select key from inbound_message_parts where key = any (:keys)`,
)

/**
 * Takes out at most `textsMax` texts of which no part has come for more than `ageSeconds`; those that another process
 * is at are left to it.
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

/** A confirmation that is to be sent. */
export interface ConfirmationRow {
  readonly account: number
  /** `sender.id` of the address that it leaves from. */
  readonly sender: number
  readonly address: string
  readonly number: number
}

/**
 * Calls `receive_inbound_messages`; `keywords`: 0 none, 1 to opt out, 2 to opt in. Returns the confirmations to send.
 * In a transaction with what was noted, and with the confirmations.
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
    columns: rows<ConfirmationRow>({ account: 'int', sender: 'int', address: 'text', number: 'bigint' }),
  },
  sql`
select o_account as account, o_sender as sender, o_address as address, o_number as number
from receive_inbound_messages(:carriers, :from, :numbers, :to, :texts, :keywords)`,
)

/** Stores confirmations of opt-outs, due at once; text and parts are those of all. */
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
