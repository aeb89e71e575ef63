import { OUTCOME, type Incident, type TracedBind } from '@gateway/core/messages'
import { DELIVERY_KIND } from '../stored-codes.ts'
import { milliseconds } from './arrays.ts'
import { accountId, messageId, msisdn, outcomeCode } from './columns.ts'
import { heldIds, holdAccepted } from './held-sends.ts'
import { column, nullable, sql, statement, type WithNulls } from './statement.ts'
import { kindOf, requests } from './store-smpp-receipts.ts'

/** Condition that a part waits for the others of its text. */
const waits = sql`message_id is null and code is null`
/** The same condition for parts that are found by id. It matches no index, so that the index of ids is used. */
const stillWaits = sql`case when ${waits} then true end`

/** Condition that the answer to the submission of a part has been decided (`HoldSlots`). */
const isNotHeld = sql`id not in (${heldIds})`

/**
 * Stores parts, except a part whose place in its text is taken by a waiting one, and parts of accounts that have
 * `waitingMax` waiting parts. The slot holds the stored parts: their texts are not joined until the slot is released.
 * Returns the ids of the stored parts. `contents` is the JSON of the other fields.
 */
export const addParts = statement(
  'add-smpp-parts',
  {
    parameters: {
      ...{ ids: 'bigint[]', accounts: 'int[]', keys: 'uuid[]', parts: 'smallint[]', totals: 'smallint[]' },
      ...{ numbers: 'bigint[]', contents: 'text[]', receipts: 'smallint[]', credentials: 'int[]', waitingMax: 'int[]' },
      ...{ process: 'uuid', slot: 'int' },
    },
    columns: { id: messageId },
  },
  sql`
with accepted as (
  insert into smpp_part (id, account_id, text_key, part, total, msisdn, content, receipts, credential_id)
  select id, account_id, text_key, part, total, msisdn, content::json, receipts, credential_id
  from unnest(:ids, :accounts, :keys, :parts, :totals, :numbers, :contents, :receipts, :credentials, :waitingMax)
    new(id, account_id, text_key, part, total, msisdn, content, receipts, credential_id, waiting_max)
  where (
      select count(*)
      from (select from smpp_part where account_id = new.account_id and ${waits} limit new.waiting_max) waiting
    ) < waiting_max
  order by account_id, text_key, part
  on conflict (account_id, text_key, part) where ${waits} do nothing
  returning id as first_id
), ${holdAccepted}
select first_id as id from accepted`,
)

const partColumns = {
  id: messageId,
  key: 'uuid',
  content: column<unknown>('json'),
  total: 'smallint',
  isHeld: 'bool',
} as const

/** Returns the waiting parts of texts, in the order of their places, each with whether a slot holds it. */
export const waitingParts = statement(
  'waiting-smpp-parts',
  { parameters: { accounts: 'int[]', keys: 'uuid[]' }, columns: partColumns },
  sql`
select id, text_key as key, content, total, id in (${heldIds}) as "isHeld"
from unnest(:accounts, :keys) asked(account_id, key)
cross join lateral (
  select id, text_key, part, content, total
  from smpp_part
  where account_id = asked.account_id and text_key = asked.key and ${waits} offset 0
) waiting
order by text_key, part`,
)

/**
 * Deletes parts whose submission was answered as not accepted, and releases their slot. The slot still holds them, so
 * that no text with them was joined. May be run again.
 */
export const revokeParts = statement(
  'revoke-smpp-parts',
  { parameters: { process: 'uuid', slot: 'int', ids: 'bigint[]' }, columns: { id: messageId } },
  sql`
with released as (
  update smpp_accept set first_ids = '{}', until = now() where process = :process and slot = :slot
)
delete from smpp_part where id = any (:ids) and ${stillWaits} returning id`,
)

/** CTE that locks the parts with these ids that wait and are not held, in the order of their ids. */
const lockWaiting = sql`waiting as (
  select id from smpp_part where id = any (:ids) and ${stillWaits} and ${isNotHeld} order by id for no key update
)`

/** Locks parts that wait and are not held until the transaction ends, and returns their ids. */
export const lockParts = statement(
  'lock-smpp-parts',
  { parameters: { ids: 'bigint[]' }, columns: { id: messageId } },
  sql`with ${lockWaiting} select id from waiting`,
)

/** Assigns parts to the messages of their texts. To be run after `lockParts`. */
export const joinParts = statement(
  'join-smpp-parts',
  { parameters: { ids: 'bigint[]', messages: 'bigint[]' } },
  sql`
update smpp_part
set message_id = joined.message_id, content = json_build_object('options', content -> 'options')
from unnest(:ids, :messages) joined(id, message_id)
where smpp_part.id = any (array[joined.id])`,
)

/**
 * CTEs that end the parts in the CTE `waiting` with a code and store the receipts that they requested. The receipt
 * contains the options of the part, so they stay.
 */
const endWaiting = (code: string) => sql`ended as (
  update smpp_part
  set code = ${code}, code_at = now(), message_id = null, content = json_build_object('options', content -> 'options')
  where id = any (array(select id from waiting))
  returning *
), receipts as (
  insert into smpp_delivery (account_id, credential_id, kind, subject, message_id, msisdn, code, taken, receipts, at)
  select ended.account_id, credential_id, ${kindOf('code')}, id, id, msisdn, code, false, receipts, code_at
  from ended
  join smpp_account account on account.account_id = ended.account_id
  where ${requests('receipts', 'code')}
  order by id
)`

/** Ends waiting parts with a code. Returns the ids of the parts that waited. */
export const endParts = statement(
  'end-smpp-parts',
  { parameters: { ids: 'bigint[]', code: 'smallint' }, columns: { id: messageId } },
  sql`
with ${lockWaiting}, ${endWaiting(':code')}
select id from ended`,
)

/** Ends parts that the same transaction has joined, because their account cannot pay for the text. */
export const endJoinedParts = statement(
  'end-joined-smpp-parts',
  { parameters: { ids: 'bigint[]', code: 'smallint' } },
  sql`
with waiting as (
  select id from smpp_part where id = any (:ids)
), ${endWaiting(':code')}
select from ended`,
)

/**
 * Returns a query for the keys of texts whose latest part is older than `seconds`: of whole texts if `isWhole`,
 * otherwise of incomplete ones.
 */
const oldTexts = (isWhole: boolean) => sql`
select account_id, text_key
from smpp_part
where ${waits}${isWhole ? ` and ${isNotHeld}` : ''}
group by account_id, text_key
having max(stored_at) <= now() - make_interval(secs => :seconds) and count(*) ${isWhole ? '=' : '<'} max(total)
order by text_key
limit :textsMax`

/** Returns keys of whole texts that nobody has joined. Runs on the ordinary connections, like the next statement. */
export const unjoinedTexts = statement(
  'unjoined-smpp-texts',
  { parameters: { seconds: 'float8', textsMax: 'int' }, columns: { account: accountId, key: 'uuid' } },
  sql`select account_id as account, text_key as key from (${oldTexts(true)}) text`,
)

/** Ends the parts of incomplete texts as expired. Returns their number. */
export const expireParts = statement(
  'expire-smpp-parts',
  { parameters: { seconds: 'float8', textsMax: 'int' }, columns: { expired: 'int' } },
  sql`
with texts as materialized (${oldTexts(false)}), waiting as (
  select id
  from smpp_part
  where text_key in (select text_key from texts) and ${waits}
  order by id
  for no key update
), ${endWaiting(String(OUTCOME.expired))}
select count(*)::int as expired from ended`,
)

export const countWaitingParts = statement(
  'count-waiting-smpp-parts',
  { parameters: { account: 'int' }, columns: { waiting: 'int' } },
  sql`select count(*)::int as waiting from smpp_part where account_id = :account and ${waits}`,
)

/** Finds parts of an account (of any if it is null) by id. */
export const findParts = statement(
  'find-smpp-parts',
  {
    parameters: { account: 'int?', ids: 'bigint[]' },
    columns: {
      id: messageId,
      message: nullable(messageId),
      number: msisdn,
      code: nullable(outcomeCode),
      at: 'timestamptz?',
      stored: 'timestamptz',
    },
  },
  sql`
select part.id, message_id as message, msisdn::text as number, code, code_at as at, stored_at as stored
from unnest(:ids) asked(id)
cross join lateral (select * from smpp_part where id = asked.id offset 0) part
where :account is null or account_id = :account`,
)

/** Finds a part that belongs to no message, with the incidents of its receipts. Runs on the ordinary connections. */
export const findLonePart = statement(
  'find-lone-smpp-part',
  {
    parameters: { id: 'bigint' },
    columns: {
      account: accountId,
      number: msisdn,
      part: 'smallint',
      total: 'smallint',
      bind: column<WithNulls<TracedBind>>('json'),
      stored: 'timestamptz',
      code: nullable(outcomeCode),
      at: 'timestamptz?',
      incidents: column<readonly WithNulls<Incident>[]>('json'),
    },
  },
  sql`
select account_id as account, msisdn::text as number, part, total, stored_at as stored, code, code_at as at,
  json_build_object(
    'credential', credential_id,
    'systemId', (select system_id from smpp_credential where id = part.credential_id),
    'remote', content -> 'options' -> 'smpp' ->> 'remote'
  ) as bind,
  (
    select coalesce(json_agg(json_build_object('at', ${milliseconds('at')}, 'name', what, 'carrier', null)
      order by id), '[]')
    from incident
    where message_id = part.id
  ) as incidents
from smpp_part part
where id = any (array[:id]) and message_id is null`,
)

/** Deletes decided parts that were stored more than `days` ago, at most `rowsMax`. */
export const dropParts = statement(
  'drop-smpp-parts',
  { parameters: { days: 'int', rowsMax: 'int' }, columns: { dropped: 'int' } },
  sql`
with dropped as (
  delete from smpp_part
  where id = any (array(
    select id
    from smpp_part
    where stored_at < now() - make_interval(days => :days) and not (${waits})
    order by stored_at
    limit :rowsMax
  ))
  returning 1
)
select count(*)::int as dropped from dropped`,
)

/** Query that erases a number from parts, receipts and replies. `forms` are the forms of the number as a sender. */
export const eraseSmppData = statement(
  'erase-smpp-data',
  { parameters: { number: 'bigint', forms: 'text[]' } },
  sql`
with waiting as (
  select id from smpp_part where msisdn = :number and ${waits} order by id for no key update
), ${endWaiting(String(OUTCOME.expired))}, replies as (
  delete from smpp_delivery
  where kind = ${DELIVERY_KIND.reply}
    and subject = any (array(select id from inbound_message where from_address = any (:forms)))
)
select from ended`,
)

/** Replaces a number in decided parts and in receipts. To be run after `eraseSmppData`. */
export const eraseSmppNumbers = statement(
  'erase-smpp-numbers',
  { parameters: { number: 'bigint' } },
  sql`
with parts as (
  update smpp_part set msisdn = 0 where msisdn = :number
)
update smpp_delivery set msisdn = 0 where msisdn = :number`,
)
