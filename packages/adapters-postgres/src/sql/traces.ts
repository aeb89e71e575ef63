import {
  INCIDENT,
  OUTCOME,
  type CarrierPrice,
  type CarrierPriceSum,
  type DecidedLocation,
  type FoundLocation,
  type Incident,
  type MessageLocation,
  type MessageTrace,
  type SendOptions,
  type TracedBind,
  type TracedPart,
  type TracedRefund,
  type TracedRoute,
} from '@gateway/core/messages'
import { LANE, LEDGER } from '../stored-codes.ts'
import { retriedRank } from './rank.ts'
import { accountId, instant, messageId, messagePrice, messageReference, msisdn, senderAddress } from './columns.ts'
import { column, nullable, sql, statement, type RowOf, type WithNulls } from './statement.ts'
import { milliseconds } from './arrays.ts'
import { sendOptions } from './send-options.ts'

export type DecidedRow = WithNulls<Omit<DecidedLocation, 'refunded' | 'parts' | 'carrierPrice'>> & {
  readonly parts: readonly WithNulls<TracedPart>[]
  readonly carrierPrice: CarrierPrice | null
}

/**
 * Reads everything that is stored about a message, in one snapshot, with at most `linesMax` incidents and receipts.
 * Core's `receiptsSought` defines which receipts belong to the message. Returns no row if no send has the id. Runs on
 * the ordinary connections, because it reads all claimed batches, all stored receipts and all ledger entries of the
 * account.
 */
export const explainMessage = statement(
  'explain-message',
  {
    parameters: { message: 'bigint', linesMax: 'int' },
    columns: {
      account: accountId,
      number: msisdn,
      from: nullable(senderAddress),
      confirmation: 'bool',
      first: messageId,
      messages: 'int',
      cost: messagePrice,
      reference: nullable(messageReference),
      parts: 'smallint',
      body: 'text',
      accepted: instant,
      scheduled: nullable(instant),
      expires: nullable(instant),
      options: column<SendOptions>('json'),
      route: nullable(column<WithNulls<TracedRoute>>('json')),
      refundByHand: nullable(column<NonNullable<MessageTrace['refundByHand']>>('json')),
      byHand: 'bool',
      place: column<Exclude<MessageLocation, DecidedLocation> | DecidedRow>('json'),
      refusedForNow: 'int',
      incidents: column<readonly WithNulls<Incident>[]>('json'),
      refunds: column<readonly WithNulls<Omit<TracedRefund, 'messages'>>[]>('json'),
      receipts: column<MessageTrace['receipts']>('json'),
      carrierPrices: column<readonly CarrierPriceSum[]>('json'),
      bind: nullable(column<WithNulls<TracedBind>>('json')),
    },
  },
  sql`
with send_of as materialized (
  select latest.*, msisdns[:message - first_id + 1] msisdn, client_references[:message - first_id + 1] client_reference
  from (
    select *
    from send
    where first_id <= :message and first_id >= :message / 10000 * 10000
    order by first_id desc
    limit 1
  ) latest
  where :message < first_id + n
), decided as materialized (
  select * from message where id = :message
), claimed as materialized (
  select batch.dispatcher, batch.carrier, found.place <= batch.marked marked,
    coalesce(batch.attempts[found.place], 0) attempt, dispatcher.lease_until
  from claimed_batch batch
  cross join lateral array_position(batch.ids, :message) found(place)
  join dispatcher on dispatcher.id = batch.dispatcher
  where found.place is not null and not exists (select from decided)
), parts as materialized (
  select part, carrier, carrier_id, code, code_at from message_part where id = :message
), sought as materialized (
  select carrier, carrier_id reference
  from decided
  where carrier <> 0 and (carrier_id is not null or code = ${OUTCOME.unknown})
  union
  select carrier, carrier_id from parts
  union all
  select carrier, null from claimed where marked
), places as (
  select 1 turn, json_build_object('place', 'decided', 'code', code,
    'at', ${milliseconds('coalesce(code_at, sent_at)')},
    'stored', ${milliseconds('sent_at')}, 'carrier', nullif(name, ''), 'reference', carrier_id,
    'carrierPrice', case when carrier_price is not null
      then json_build_object('amount', carrier_price, 'currency', carrier_currency) end,
    'parts', (
      select coalesce(json_agg(json_build_object('reference', carrier_id, 'code', code,
        'at', ${milliseconds('code_at')}) order by part), '[]')
      from parts
    )) place
  from decided
  left join carrier on carrier.id = decided.carrier
  union all
  select 2, case when attempt = 0
    then json_build_object('place', 'scheduled', 'due', ${milliseconds('at')})
    else json_build_object('place', 'postponed', 'until', ${milliseconds('at')}, 'attempt', attempt) end
  from send_of
  join later on later.account_id = send_of.account_id and lo between send_of.first_id and :message and :message < hi
  union all
  select 3, json_build_object('place', 'queue', 'lane', case lane when ${LANE.single} then 'single' else 'bulk' end,
    'due', ${milliseconds('due_at')}, 'attempt', attempt)
  from send_of
  join due on queue in (select id from queue) and lane in (${LANE.single}, ${LANE.bulk})
    and due.account_id = send_of.account_id and due.rank in (-send_of.priority, ${retriedRank})
    and lo between send_of.first_id and :message and :message < hi
  union all
  select 4, json_build_object('place', 'claimed', 'dispatcher', dispatcher, 'carrier', name,
    'marked', marked, 'attempt', attempt,
    'leaseUntil', ${milliseconds('lease_until')}, 'overdue', lease_until < now())
  from claimed
  join carrier on carrier.id = claimed.carrier
  union all
  select 5, json_build_object('place', 'in-doubt', 'due', ${milliseconds('due_at')}, 'attempt', attempt)
  from send_of
  join in_doubt on lo between send_of.first_id and :message and :message < hi
), incidents as (
  select id, at, what, (select nullif(name, '') from carrier where carrier.id = incident.carrier) carrier
  from incident
  where message_id = :message
  order by id desc
  limit :linesMax
), refunds as (
  select code, sum(amount)::bigint amount, min(at) first_at, max(at) last_at
  from send_of
  join ledger on ledger.account_id = send_of.account_id and send_first_id = first_id
  where kind = ${LEDGER.refund}
  group by code, message_id is null
), receipts as (
  select receipt.id, receipt.at, carrier.name carrier, receipt.carrier_id reference, receipt.code,
    case
      when sought.reference is null then 'same-number'
      when receipt.msisdn <> (select msisdn from send_of) then 'other-number'
      else 'own'
    end fits
  from sought
  join unmatched_delivery_receipt receipt on receipt.carrier = sought.carrier
  join carrier on carrier.id = sought.carrier
  where receipt.carrier_id = sought.reference
    or sought.reference is null and receipt.msisdn = (select msisdn from send_of)
  order by receipt.id desc
  limit :linesMax
)
select account_id account, msisdn::text number, (select address from sender where id = send_of.sender) "from",
  confirms_opt_out confirmation, first_id "first", n messages, price "cost",
  client_reference reference, parts, body,
  ${milliseconds('created_at')} accepted, ${milliseconds('scheduled_at')} scheduled,
  ${milliseconds('expires_at')} expires, ${sendOptions},
  (
    select json_build_object('place', position + 1, 'name', name, 'prefixes', prefixes,
      'accounts', accounts, 'senders', senders, 'overflow', overflow,
      'carriers', (
        select json_agg(json_build_object('carrier', carrier, 'priority', priority, 'weight', weight) order by place)
        from unnest(carriers, priorities, weights) with ordinality its(carrier, priority, weight, place)
      ))
    from route
    where id = send_of.route
  ) route,
  (
    select json_build_object('at', ${milliseconds('at')}, 'why', why)
    from ledger
    where ledger.account_id = send_of.account_id and send_first_id = first_id and message_id = :message
  ) "refundByHand",
  coalesce((select refunded from decided), false) "byHand",
  coalesce((select place from places order by turn limit 1), json_build_object('place', 'nowhere')) place,
  (
    select count(*)::int from incident where message_id = :message and what = '${INCIDENT.refusedForNow}'
  ) "refusedForNow",
  (
    select coalesce(
      json_agg(json_build_object('at', ${milliseconds('at')}, 'name', what, 'carrier', carrier) order by id), '[]'
    )
    from incidents
  ) incidents,
  (
    select coalesce(json_agg(json_build_object('code', code, 'amount', amount, 'first', ${milliseconds('first_at')},
      'last', ${milliseconds('last_at')}) order by code), '[]')
    from refunds
  ) refunds,
  (
    select coalesce(json_agg(json_build_object('at', ${milliseconds('at')}, 'carrier', carrier, 'reference', reference,
      'code', code, 'fits', fits) order by id), '[]')
    from receipts
  ) receipts,
  (
    select coalesce(json_agg(json_build_object('amount', amount::text, 'currency', currency, 'messages', messages)
      order by currency collate "C"), '[]')
    from (
      select carrier_currency currency, sum(carrier_price::numeric) amount, count(*)::int messages
      from message
      where id >= send_of.first_id and id < send_of.first_id + n and carrier_price is not null
      group by carrier_currency
    ) price
  ) "carrierPrices",
  case when send_of.options ? 'smpp' then json_build_object(
    'credential', (send_of.options -> 'smpp' ->> 'credential')::int,
    'systemId', (
      select system_id from smpp_credential where id = (send_of.options -> 'smpp' ->> 'credential')::int
    ),
    'remote', send_of.options -> 'smpp' ->> 'remote') end bind
from send_of`,
)

export type MessageTraceRow = RowOf<typeof explainMessage>

const claimedMessages = `claimed as materialized (
  select given.id, coalesce(batch.send_first_ids[given.place], batch.send_first_ids[1]) first_id,
    coalesce(batch.attempts[given.place], 0) attempt, given.place <= batch.marked marked
  from claimed_batch batch
  cross join lateral unnest(batch.ids) with ordinality given(id, place)
  where given.id is not null
)`

const waitingRanges = `waiting as (
  select account_id, lo, hi, first_id, case when attempt = 0
    then json_build_object('place', 'scheduled', 'due', ${milliseconds('at')})
    else json_build_object('place', 'postponed', 'until', ${milliseconds('at')}, 'attempt', attempt) end place
  from later
  union all
  select account_id, lo, hi, first_id, json_build_object('place', 'queue', 'attempt', attempt)
  from due
  where queue in (select id from queue) and lane in (${LANE.single}, ${LANE.bulk})
  union all
  select account_id, lo, hi, first_id, json_build_object('place', 'in-doubt', 'attempt', attempt) from in_doubt
)`

const decidedPlace = `json_build_object('place', 'decided', 'code', code,
  'at', ${milliseconds('coalesce(code_at, sent_at)')}, 'hasReference', carrier_id is not null, 'byHand', refunded)`
const claimedPlace = `json_build_object('place', 'claimed', 'marked', claimed.marked, 'attempt', claimed.attempt)`

const searching = {
  account: 'int?',
  from: 'timestamptz?',
  to: 'timestamptz?',
  afterDue: 'timestamptz?',
  afterId: 'bigint?',
  decidedSince: 'timestamptz',
  limit: 'int',
} as const

/**
 * A final message as the search found it. Core's `isAcceptedByCarrier` decides from it whether the message was
 * refunded.
 */
export interface FoundDecidedRow {
  readonly place: 'decided'
  readonly code: DecidedLocation['code']
  readonly at: DecidedLocation['at']
  readonly hasReference: boolean
  /** True if an operator refunded the message. */
  readonly byHand: boolean
}

const foundColumns = {
  id: messageId,
  account: accountId,
  from: nullable(senderAddress),
  number: msisdn,
  confirmation: 'bool',
  accepted: instant,
  due: instant,
  scheduled: 'bool',
  cost: messagePrice,
  reference: nullable(messageReference),
  options: column<SendOptions>('json'),
  place: column<Exclude<FoundLocation, { readonly place: 'decided' }> | FoundDecidedRow>('json'),
} as const

/**
 * Query that selects the matching messages of the CTE `found` (id, first_id, place, decided), in the order of the list.
 */
const detailsOfFound = `told as (
  select found.id, found.place, found.decided, send.*,
    date_trunc('milliseconds', coalesce(send.scheduled_at, send.created_at)) due
  from found
  cross join lateral (
    select account_id, sender, confirms_opt_out, price, created_at, scheduled_at, expires_at, priority, flash, options,
      msisdns[found.id - first_id + 1] msisdn, client_references[found.id - first_id + 1] client_reference
    from send
    where first_id = found.first_id offset 0
  ) send
)
select id, account_id account, (select address from sender where sender.id = told.sender) "from",
  msisdn::text number, confirms_opt_out confirmation,
  ${milliseconds('created_at')} accepted, ${milliseconds('due')} due,
  scheduled_at is not null scheduled, price "cost", client_reference reference, ${sendOptions}, place
from told
where (:from is null or due >= :from)
  and (:to is null or due < :to)
  and (:afterDue is null or (due, id) < (:afterDue, :afterId))
  and (not decided or due >= :decidedSince)
order by told.due desc, id desc
limit :limit`

/**
 * Finds the first `limit` messages to a number, latest due time first, then highest id. `from` and `to` select messages
 * that were due from `from` to before `to`. `afterDue` and `afterId` select messages that follow the message `afterId`,
 * which was due at `afterDue`. Null for `account`, `from`, `to` or `afterDue` means no restriction. Final messages must
 * have been due at `decidedSince` or later. One statement reads all places in one snapshot, so that a message that
 * moves is found in exactly one place.
 *
 * Runs on the ordinary connections. Final messages are found by the index that replies use. All waiting ranges are
 * read, which takes 30 ns for each number of a bulk send and 2 µs for a single send. Sends are looked up one by one,
 * because a join would read all of them. A number with 100,000 messages takes 0.5 s.
 */
export const findMessages = statement(
  'find-messages',
  { parameters: { number: 'bigint', ...searching }, columns: foundColumns },
  sql`
with ${claimedMessages}, ${waitingRanges}, found as (
  select id, send_first_id first_id, true decided, ${decidedPlace} place
  from message
  where msisdn = :number and (:account is null or account_id = :account)
  union all
  select waiting.lo + place_in - 1, waiting.first_id, false, waiting.place
  from waiting
  cross join lateral (
    select msisdns[waiting.lo - waiting.first_id + 1 : waiting.hi - waiting.first_id] numbers
    from send
    where first_id = waiting.first_id offset 0
  ) send
  cross join lateral unnest(array_positions(send.numbers, :number)) place_in
  where :account is null or waiting.account_id = :account
  union all
  select claimed.id, claimed.first_id, false, ${claimedPlace}
  from claimed
  cross join lateral (select msisdns, account_id from send where first_id = claimed.first_id offset 0) send
  where send.msisdns[claimed.id - claimed.first_id + 1] = :number and (:account is null or send.account_id = :account)
    and not exists (select from message where message.id = claimed.id)
), ${detailsOfFound}`,
)

/**
 * Finds messages with a client reference to the number, or to any number if `number` is null. Otherwise works as
 * `findMessages` does. Sends with the reference are found by their index. All waiting ranges are read.
 */
export const findReferenced = statement(
  'find-referenced',
  { parameters: { reference: 'text', number: 'bigint?', ...searching }, columns: foundColumns },
  sql`
with ${claimedMessages}, ${waitingRanges}, referenced as materialized (
  select send.first_id, send.first_id + place_in - 1 id
  from send
  cross join lateral unnest(array_positions(send.client_references, :reference)) place_in
  where send.client_references is not null and send.client_references @> array[:reference]
    and (:account is null or send.account_id = :account)
    and (:number is null or send.msisdns[place_in] = :number)
), found as (
  select referenced.id, referenced.first_id, true decided, decided.place
  from referenced
  cross join lateral (select ${decidedPlace} place from message where message.id = referenced.id offset 0) decided
  union all
  select referenced.id, referenced.first_id, false, waiting.place
  from waiting
  join referenced on referenced.first_id = waiting.first_id and referenced.id >= waiting.lo and referenced.id < waiting.hi
  union all
  select claimed.id, claimed.first_id, false, ${claimedPlace}
  from claimed
  join referenced on referenced.id = claimed.id
  where not exists (select from message where message.id = claimed.id)
), ${detailsOfFound}`,
)
