import type { AccountId } from '@gateway/core/accounts'
import type { BulkRow, BulkSendId, BulkSendState } from '@gateway/core/bulk-sends'
import { receiptMatching } from '@gateway/core/dispatch'
import { changeableCodes } from '@gateway/core/messages'
import { erasedNumber, type ErasureId } from '@gateway/core/personal-data'
import type { Instant } from '@gateway/core/time'
import type { InboundMessageId } from '@gateway/core/inbox'
import { milliseconds } from './arrays.ts'
import { accountId, instant, messageId, senderAddress } from './columns.ts'
import { column, nullable, sql, statement } from './statement.ts'

// Run these statements on the ordinary connections (`pools.ordinary`) and for an operator who waits, because they read
// whole tables, in slices.

/** Reads the texts of messages. */
export const textsOfMessages = statement(
  'texts-of-messages',
  { parameters: { ids: 'bigint[]' }, columns: { id: messageId, text: 'text' } },
  sql`
select wanted.id, send.body as text
from unnest(:ids) wanted(id)
cross join lateral (
  select first_id, n, body
  from send
  where first_id <= wanted.id and first_id >= wanted.id / 10000 * 10000
  order by first_id desc
  limit 1
) send
where wanted.id < send.first_id + send.n`,
)

/**
 * Reads the next `sliceMax` inbound messages after `after` and returns those from one of the spellings `forms`, as
 * JSON, with the id of the last message read, or null if there was none.
 */
export const inboundFrom = statement(
  'inbound-from',
  {
    parameters: { forms: 'text[]', after: 'bigint', sliceMax: 'int' },
    columns: { next: 'bigint?', found: column<readonly InboundRow[]>('json') },
  },
  sql`
with slice as (
  select * from inbound_message where id > :after order by id limit :sliceMax
)
select max(id) as next, coalesce(
  json_agg(
    json_build_object('id', id, 'account', account_id, 'to', to_address, 'at', ${milliseconds('at')}, 'text', text)
    order by id
  ) filter (where from_address = any (:forms)), '[]'
) as found
from slice`,
)

interface InboundRow {
  readonly id: InboundMessageId
  readonly account: AccountId | null
  readonly to: string | null
  readonly at: Instant
  readonly text: string
}

const contactsOfNumber = sql`
  select distinct account, address collate "C" as address
  from (
    select unnest(accounts) account, unnest(senders) sender from chosen_sender where msisdn = :number
    union
    select account_id, sender from last_contact where msisdn = :number
  ) contact
  join sender on sender.id = contact.sender`

/** Lists the sender addresses that have sent to a number. */
export const listContacts = statement(
  'list-contacts',
  { parameters: { number: 'bigint' }, columns: { account: accountId, address: senderAddress } },
  sql`${contactsOfNumber} order by account, address`,
)

/** Lists the suppressions of a number. */
export const listSuppressionsOf = statement(
  'list-suppressions-of',
  {
    parameters: { number: 'bigint' },
    columns: { account: accountId, kind: 'smallint', since: instant, text: 'text?' },
  },
  sql`
select suppression.account_id account, kind, ${milliseconds('suppression.since')} as since, reply.text
from suppression
left join opt_out_reply reply on reply.account_id = suppression.account_id and reply.msisdn = suppression.msisdn
  and reply.since = suppression.since
where suppression.msisdn = :number
order by suppression.account_id, kind`,
)

const hasNumber = sql`call.recipients @> jsonb_build_array(jsonb_build_object('number', :number::text))`

/**
 * SQL that removes the number from one recipient of a bulk send. The recipient with the number loses its number and its
 * fields. In the fields of another recipient, `0` replaces each match of the regular expression `written`.
 */
const rowWithoutNumber = sql`case
  when each ->> 'number' = :number::text or each ->> 'number' ~ :written
    then each || '{"number": "${erasedNumber}", "fields": []}'
  when each::text ~ :written then jsonb_set(each, '{fields}', (
    select coalesce(jsonb_agg(regexp_replace(field, :written, '${erasedNumber}', 'g') order by at), '[]')
    from jsonb_array_elements_text(each -> 'fields') with ordinality fields (field, at)
  ))
  else each end`

/** Lists the rows of bulk sends that have the number. */
export const listRowsOf = statement(
  'list-rows-of',
  {
    parameters: { number: 'bigint' },
    columns: {
      id: column<BulkSendId>('bigint'),
      account: accountId,
      state: column<BulkSendState>('text'),
      created: instant,
      columns: 'text[]',
      text: 'text',
      isBeingSent: 'bool',
      row: column<BulkRow>('json'),
    },
  },
  sql`
select id, account_id account, state, ${milliseconds('created_at')} created, columns, "text",
  state in ('running', 'stopping') and accepted is null "isBeingSent", each "row"
from bulk_send_call call
join bulk_send on id = send_id
cross join lateral jsonb_array_elements(recipients) with ordinality elements (each, place)
where ${hasNumber} and each ->> 'number' = :number::text
order by id, call.call, place`,
)

/**
 * Takes a lock until the transaction ends. Without it, two erasures of numbers in one send would each write back the
 * number that the other erased.
 */
export const lockErasures = statement(
  'lock-erasures',
  { parameters: {} },
  sql`select pg_advisory_xact_lock('erasure'::regclass::oid::bigint)`,
)

/**
 * Replaces the number with 0 in at most `messagesMax` messages that are final or for which no receipt is expected any
 * more (core's `holdsUp`), and in their sends. Also erases the client references of these messages, and the text of a
 * send when its last number is erased.
 */
export const eraseMessages = statement(
  'erase-messages',
  { parameters: { number: 'bigint', messagesMax: 'int' }, columns: { erased: 'int' } },
  sql`
with chosen as materialized (
  select id, send_first_id
  from message
  where msisdn = :number
    and (code not in (${changeableCodes.join(', ')})
      or coalesce(code_at, sent_at) <= now() - interval '${receiptMatching.keptDays} days')
  order by id
  limit :messagesMax
  for no key update
), erased as (
  update message set msisdn = 0 where id = any (array(select id from chosen))
), parts as (
  update message_part set msisdn = 0 where id = any (array(select id from chosen))
), numbers as (
  select send.first_id, array(
    select case when send.first_id + place - 1 = any (touched.ids) then 0 else msisdn end
    from unnest(send.msisdns) with ordinality each(msisdn, place)
    order by place
  ) after, case when send.client_references is not null then array(
    select case when send.first_id + place - 1 = any (touched.ids) then null else client_reference end
    from unnest(send.client_references) with ordinality each(client_reference, place)
    order by place
  ) end references_after
  from (select send_first_id, array_agg(id) ids from chosen group by 1) touched
  join send on send.first_id = touched.send_first_id
), sends as (
  update send
  set msisdns = after, body = case when 0 = all (after) then '' else body end,
    client_references = case when cardinality(array_remove(references_after, null)) > 0 then references_after end
  from numbers
  where send.first_id = numbers.first_id
)
select count(*)::int as erased from chosen`,
)

/**
 * Erases sender and text of the messages that `inboundFrom` would return. Calls that return each message once do not
 * return these messages any more.
 */
export const eraseInbound = statement(
  'erase-inbound',
  { parameters: { forms: 'text[]', after: 'bigint', sliceMax: 'int' }, columns: { next: 'bigint?', erased: 'int' } },
  sql`
with slice as (
  select id, from_address from inbound_message where id > :after order by id limit :sliceMax
), erased as (
  update inbound_message set from_address = '0', text = ''
  where id = any (array(select id from slice where from_address = any (:forms)))
  returning id, account_id, at
), offered as (
  delete from inbound_message_offered offered using erased
  where offered.account_id = erased.account_id and offered.at = erased.at and offered.inbound_message_id = erased.id
)
select (select max(id) from slice) as next, (select count(*)::int from erased) as erased`,
)

/**
 * Erases the contacts of the number, conversations with it, waiting parts of texts from one of `forms`, texts of
 * replies that opted out, unreadable receipts that contain the number, unmatched receipts, watched PDUs, and rows of
 * bulk sends. Locks drafts of bulk sends, so that none begins to be sent meanwhile: the next attempt of a call must
 * find the same rows.
 */
export const eraseContacts = statement(
  'erase-contacts',
  { parameters: { number: 'bigint', forms: 'text[]', written: 'text' }, columns: { erased: 'int' } },
  sql`
with contacts as (${contactsOfNumber}
), chosen as (
  delete from chosen_sender where msisdn = :number
), last as (
  delete from last_contact where msisdn = :number
), parts as (
  delete from inbound_message_parts where common::json ->> 'from' = any (:forms)
), conversations as (
  delete from conversation where from_address = any (:forms)
), replies as (
  update opt_out_reply set text = '' where msisdn = :number
), unread as (
  delete from unread_delivery_receipt
  where msisdn = :number or position(:number::text in text) > 0
    or position(convert_to(:number::text, 'UTF8') in pdu) > 0
), unmatched as (
  delete from unmatched_delivery_receipt where msisdn = :number
), watches as (
  delete from carrier_watch where number = any (:forms)
), watched as (
  delete from watched_pdu where pdu like '%' || :number::text || '%'
), drafts as materialized (
  select id from bulk_send where state = 'draft' for share
), listed as (
  update bulk_send_call call
  set recipients = (
    select jsonb_agg(${rowWithoutNumber} order by place)
    from jsonb_array_elements(call.recipients) with ordinality elements (each, place)
  )
  where (accepted is not null or send_id = any (array(select id from drafts)))
    and (${hasNumber} or call.recipients::text ~ :written)
)
select count(*)::int as erased from contacts`,
)

/** Erases the texts of ended bulk sends in which every recipient was erased, in its message or in its row. */
export const eraseBulkTexts = statement(
  'erase-bulk-texts',
  { parameters: {} },
  sql`
with runs as materialized (
  select send_id, (run ->> 0)::bigint first, (run ->> 1)::bigint last
  from bulk_send
  join bulk_send_call on send_id = id
  cross join lateral jsonb_array_elements(coalesce(accepted, '[]')) runs (run)
  where state = 'ended' and text <> ''
)
update bulk_send send set text = ''
where state = 'ended' and text <> ''
  and (exists (select from runs join message on message.id between first and last
      where send_id = send.id and msisdn = 0)
    or exists (select from bulk_send_call where send_id = send.id and recipients @> '[{"number": "${erasedNumber}"}]'))
  and not exists (select from runs join message on message.id between first and last
    where send_id = send.id and msisdn <> 0)
  and not exists (
    select from bulk_send_call
    cross join lateral jsonb_array_elements(recipients) elements (each)
    where send_id = send.id and each ->> 'number' <> '${erasedNumber}'
  )`,
)

/** SQL for the digits of the beginning of a response, without the digits of percent and JSON escapes. */
const digitsOfBeginning = sql`regexp_replace(beginning, '%[0-9A-Fa-f]{2}|\\\\u[0-9A-Fa-f]{4}|[^0-9]', '', 'g')`

/**
 * Erases the number from events that are in no list yet, and from ids of replayed events. Also erases stored beginnings
 * of endpoints' responses whose digits match the regular expression `digits`. A response is only a diagnosis, so this
 * expression may match more than the number.
 */
export const eraseWaitingEvents = statement(
  'erase-waiting-events',
  { parameters: { number: 'bigint', digits: 'text' }, columns: { erased: 'int' } },
  sql`
with waiting as (
  update webhook_event
  set msisdns = array_replace(msisdns, :number, 0),
    text = case when text is not null and count = 1 then '' else text end
  where :number = any (msisdns)
  returning 1
), attempts as (
  update webhook_attempt set beginning = null where ${digitsOfBeginning} ~ :digits
), lists as (
  update webhook_list set beginning = null where ${digitsOfBeginning} ~ :digits
), replays as (
  update webhook_replay set event = 'erased' where event like 'optout-%-' || :number::text || '-%'
)
select count(*)::int as erased from waiting`,
)

interface StoredList {
  readonly id: number
  readonly events: string
}

/**
 * Reads the next `sliceMax` lists after `after` and returns the lists that match one of the LIKE patterns, as JSON,
 * with the id of the last list read, or null if there was none.
 */
export const findEvents = statement(
  'find-events',
  {
    parameters: { after: 'bigint', sliceMax: 'int', patterns: 'text[]' },
    columns: { next: 'bigint?', found: column<readonly StoredList[]>('json') },
  },
  sql`
with slice as (
  select id, events::text from webhook_list where id > :after order by id limit :sliceMax
)
select max(id) as next, coalesce(
  json_agg(json_build_object('id', id, 'events', events)) filter (where events like any (:patterns)), '[]'
) as found
from slice`,
)

/**
 * Replaces the events of a list if they are still `before`. The result of an attempt in progress is not recorded,
 * because the response may repeat what was erased: the list is pushed again when its lease ends.
 */
export const writeEvents = statement(
  'write-events',
  { parameters: { id: 'bigint', after: 'text', before: 'text' }, columns: { id: 'bigint' } },
  sql`
update webhook_list set events = :after::json, tries = tries + leased::int
where id = :id and events::text = :before
returning id`,
)

/** Erases the stored responses to these lists, because an endpoint may repeat a request in any form, cut anywhere. */
export const eraseAnswers = statement(
  'erase-answers',
  { parameters: { lists: 'bigint[]' } },
  sql`
with attempts as (
  update webhook_attempt set beginning = null where list_id = any (:lists) and beginning is not null
)
update webhook_list set beginning = null where id = any (:lists) and beginning is not null`,
)

const erasureId = column<ErasureId>('int')

export const beginErasure = statement(
  'begin-erasure',
  { parameters: { digest: 'text', doneBy: 'text' }, columns: { id: erasureId } },
  sql`insert into erasure (digest, done_by) values (:digest, :doneBy) returning id`,
)

export const endErasure = statement(
  'end-erasure',
  { parameters: { id: 'int', messages: 'bigint', inbound: 'bigint', contacts: 'bigint', events: 'bigint' } },
  sql`
update erasure set ended_at = now(), messages = :messages, inbound = :inbound, contacts = :contacts, events = :events
where id = :id`,
)

export const listErasures = statement(
  'list-erasures',
  {
    parameters: {},
    columns: {
      id: erasureId,
      digest: 'text',
      by: 'text',
      begun: instant,
      ended: nullable(instant),
      messages: 'bigint',
      inbound: 'bigint',
      contacts: 'bigint',
      events: 'bigint',
    },
  },
  sql`
select id, digest, done_by as by, ${milliseconds('begun_at')} as begun, ${milliseconds('ended_at')} as ended,
  messages, inbound, contacts, events
from erasure
order by id desc`,
)
