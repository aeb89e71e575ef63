import { changeableCodes, receiptMatching } from '@gateway/core'
import { milliseconds } from './milliseconds.ts'
import type { PreparedStatement } from './prepared-statement.ts'

// All of these are for the ordinary connections, and for an operator who waits: they read whole tables, in slices.

/** The texts of messages $1. */
export const textsOfMessages: PreparedStatement<{ id: number; text: string }> = {
  name: 'texts-of-messages',
  text: `
select wanted.id, send.body as text
from unnest($1::bigint[]) wanted(id)
cross join lateral (
  select first_id, n, body
  from send
  where first_id <= wanted.id and first_id >= wanted.id / 10000 * 10000
  order by first_id desc
  limit 1
) send
where wanted.id < send.first_id + send.n`,
}

/**
 * Of the next $3 inbound messages after $2 those from one of $1, in JSON; and the last one looked at, null: there was
 * none.
 */
export const inboundFrom: PreparedStatement<InboundSlice> = {
  name: 'inbound-from',
  text: `
with slice as (
  select * from inbound_message where id > $2::bigint order by id limit $3::int
)
select max(id) as next, coalesce(
  json_agg(
    json_build_object('id', id, 'account', account_id, 'to', to_address, 'at', ${milliseconds('at')}, 'text', text)
    order by id
  ) filter (where from_address = any ($1::text[])), '[]'
) as found
from slice`,
}

export interface InboundSlice {
  readonly next: number | null
  readonly found: readonly InboundRow[]
}

interface InboundRow {
  readonly id: number
  readonly account: number | null
  readonly to: string | null
  readonly at: number
  readonly text: string
}

const contactsOfNumber = `
  select distinct account, address collate "C" as address
  from (
    select unnest(accounts) account, unnest(senders) sender from chosen_sender where msisdn = $1::bigint
    union
    select account_id, sender from last_contact where msisdn = $1::bigint
  ) contact
  join sender on sender.id = contact.sender`

export const listContacts: PreparedStatement<{ account: number; address: string }> = {
  name: 'list-contacts',
  text: `${contactsOfNumber} order by account, address`,
}

/** Of number $1. */
export const listSuppressionsOf: PreparedStatement<{
  account: number
  kind: number
  since: number
  text: string | null
}> = {
  name: 'list-suppressions-of',
  text: `
select suppression.account_id account, kind, ${milliseconds('suppression.since')} as since, reply.text
from suppression
left join opt_out_reply reply on reply.account_id = suppression.account_id and reply.msisdn = suppression.msisdn
  and reply.since = suppression.since
where suppression.msisdn = $1::bigint
order by suppression.account_id, kind`,
}

/** Held to the end of the transaction: two that erase numbers of one send would each write what the other did not. */
export const lockErasures: PreparedStatement<object> = {
  name: 'lock-erasures',
  text: `select pg_advisory_xact_lock('erasure'::regclass::oid::bigint)`,
}

/**
 * Number $1 is replaced in at most $2 messages that are decided, and of which no receipt may still come (core's
 * `holdsUp`), and in their sends; the text of a send goes with its last number.
 */
export const eraseMessages: PreparedStatement<{ erased: number }> = {
  name: 'erase-messages',
  text: `
with chosen as materialized (
  select id, send_first_id
  from message
  where msisdn = $1::bigint
    and (code not in (${changeableCodes.join(', ')})
      or coalesce(code_at, sent_at) <= now() - interval '${receiptMatching.keptDays} days')
  order by id
  limit $2::int
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
  ) after
  from (select send_first_id, array_agg(id) ids from chosen group by 1) touched
  join send on send.first_id = touched.send_first_id
), sends as (
  update send
  set msisdns = after, body = case when 0 = all (after) then '' else body end
  from numbers
  where send.first_id = numbers.first_id
)
select count(*)::int as erased from chosen`,
}

/** As inbound-from: these are nobody's words any more, and no call that returns once offers them. */
export const eraseInbound: PreparedStatement<{ next: number | null; erased: number }> = {
  name: 'erase-inbound',
  text: `
with slice as (
  select id, from_address from inbound_message where id > $2::bigint order by id limit $3::int
), erased as (
  update inbound_message set from_address = '0', text = ''
  where id = any (array(select id from slice where from_address = any ($1::text[])))
  returning id, account_id, at
), offered as (
  delete from inbound_message_offered offered using erased
  where offered.account_id = erased.account_id and offered.at = erased.at and offered.inbound_message_id = erased.id
)
select (select max(id) from slice) as next, (select count(*)::int from erased) as erased`,
}

/** Contacts of number $1, parts of texts from $2 that wait for the others, and the replies that opted out. */
export const eraseContacts: PreparedStatement<{ erased: number }> = {
  name: 'erase-contacts',
  text: `
with contacts as (${contactsOfNumber}
), chosen as (
  delete from chosen_sender where msisdn = $1::bigint
), last as (
  delete from last_contact where msisdn = $1::bigint
), parts as (
  delete from inbound_message_parts where common::json ->> 'from' = any ($2::text[])
), replies as (
  update opt_out_reply set text = '' where msisdn = $1::bigint
)
select count(*)::int as erased from contacts`,
}

/** Events about number $1 that are in no list yet, and the beginnings of what endpoints answered, if they repeat it. */
export const eraseWaitingEvents: PreparedStatement<{ erased: number }> = {
  name: 'erase-waiting-events',
  text: `
with waiting as (
  update webhook_event
  set msisdns = array_replace(msisdns, $1::bigint, 0),
    text = case when text is not null and count = 1 then '' else text end
  where $1::bigint = any (msisdns)
  returning 1
), attempts as (
  update webhook_attempt set beginning = replace(beginning, $1::text, '0') where beginning like '%' || $1::text || '%'
), lists as (
  update webhook_list set beginning = replace(beginning, $1::text, '0') where beginning like '%' || $1::text || '%'
)
select count(*)::int as erased from waiting`,
}

/**
 * Of the next $2 lists after $1 those with a value that is one of $3 (LIKE), in JSON; and the last one looked at, null:
 * there was none.
 */
export const findEvents: PreparedStatement<{
  next: number | null
  found: readonly { readonly id: number; readonly events: string }[]
}> = {
  name: 'find-events',
  text: `
with slice as (
  select id, events::text from webhook_list where id > $1::bigint order by id limit $2::int
)
select max(id) as next, coalesce(
  json_agg(json_build_object('id', id, 'events', events)) filter (where events like any ($3::text[])), '[]'
) as found
from slice`,
}

/** Only if it has not changed since it was read. */
export const writeEvents: PreparedStatement<{ id: number }> = {
  name: 'write-events',
  text: 'update webhook_list set events = $2::json where id = $1::bigint and events::text = $3::text returning id',
}

export const beginErasure: PreparedStatement<{ id: number }> = {
  name: 'begin-erasure',
  text: 'insert into erasure (digest, done_by) values ($1, $2) returning id',
}

export const endErasure: PreparedStatement<object> = {
  name: 'end-erasure',
  text: `
update erasure set ended_at = now(), messages = $2::bigint, inbound = $3::bigint, contacts = $4::bigint,
  events = $5::bigint
where id = $1::int`,
}

export interface ErasureRow {
  readonly id: number
  readonly digest: string
  readonly by: string
  readonly begun: number
  readonly ended: number | null
  readonly messages: number
  readonly inbound: number
  readonly contacts: number
  readonly events: number
}

export const listErasures: PreparedStatement<ErasureRow> = {
  name: 'list-erasures',
  text: `
select id, digest, done_by as by, ${milliseconds('begun_at')} as begun, ${milliseconds('ended_at')} as ended,
  messages, inbound, contacts, events
from erasure
order by id desc`,
}
