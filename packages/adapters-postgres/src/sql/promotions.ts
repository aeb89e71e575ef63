import {
  clockMarginSeconds,
  receiptMatching,
  trustedLookSeconds,
  type DoubtDecision,
  type PromotionId,
} from '@gateway/core/dispatch'
import { INCIDENT, OUTCOME } from '@gateway/core/messages'
import { wakeIdle } from './idle-dispatchers.ts'
import { milliseconds } from './arrays.ts'
import { noteScheduled } from './scheduled.ts'
import { instant } from './columns.ts'
import { column, nullable, sql, statement } from './statement.ts'
import { storeMessageEvents } from './store-events.ts'

// Run these statements on the ordinary connections, or while an ordinary connection is being opened.

/**
 * Subquery for the current server. `synchronous` is true if a commit of this session waits for a standby; while the
 * setting names one, PostgreSQL confirms no commit without it, even if the standby is away.
 */
const primaryNow = sql`(
  select system_identifier::text as system, case when not pg_is_in_recovery()
      then ('x' || substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8))::bit(32)::int
    end as timeline,
    current_setting('synchronous_standby_names') <> ''
      and current_setting('synchronous_commit') not in ('off', 'local') as synchronous
  from pg_control_system()
)`

const doubtDecision = column<DoubtDecision>('text')

const microseconds = (time: string): string => `(extract(epoch from ${time}) * 1000000)::bigint`

/**
 * Reads the current server, and the stored primary, which is null if none is stored. The timeline is null on a standby.
 */
export const readPrimary = statement(
  'read-primary',
  {
    parameters: {},
    columns: {
      system: 'text',
      timeline: 'int?',
      synchronous: 'bool',
      lastSystem: 'text?',
      lastTimeline: 'int?',
      wasSynchronous: 'bool?',
      lookedAt: 'bigint?',
      isRecent: 'bool?',
    },
  },
  sql`
select here.system, here.timeline, here.synchronous, remembered.system as "lastSystem",
  remembered.timeline as "lastTimeline", remembered.synchronous as "wasSynchronous",
  ${microseconds('looked_at')} as "lookedAt",
  looked_at > clock_timestamp() - interval '${trustedLookSeconds} s' as "isRecent"
from ${primaryNow} here
left join primary_look remembered on true`,
)

/** Stores the current server as the primary if none is stored. */
export const rememberFirst = statement(
  'remember-first-primary',
  { parameters: {} },
  sql`
insert into primary_look (system, timeline, synchronous, looked_at)
select system, timeline, synchronous, clock_timestamp() from ${primaryNow} here
on conflict do nothing`,
)

/** Stores the current server as the primary. */
export const rememberPrimary = statement(
  'remember-primary',
  { parameters: {} },
  sql`
update primary_look
set system = here.system, timeline = here.timeline, synchronous = here.synchronous, looked_at = clock_timestamp()
from ${primaryNow} here`,
)

/**
 * Reads the state of the primary, and stores it if it has changed or `isWritten` is true. Returns the time that it
 * stored, or null; a time stored by another process is not returned, because a standby may not have it
 * (docs/decisions/0072). Returns no row if no primary is stored yet.
 */
export const lookAtPrimary = statement(
  'look-at-primary',
  {
    parameters: { isWritten: 'bool' },
    columns: { timeline: 'int', synchronous: 'bool', lookedAt: 'bigint?' },
  },
  sql`
with written as (
  update primary_look
  set synchronous = here.synchronous, looked_at = clock_timestamp()
  from ${primaryNow} here
  where primary_look.system = here.system and primary_look.timeline = here.timeline
    and (:isWritten or primary_look.synchronous <> here.synchronous)
  returning looked_at
)
select remembered.timeline, here.synchronous, ${microseconds('(select looked_at from written)')} as "lookedAt"
from primary_look remembered
join ${primaryNow} here on here.system = remembered.system and here.timeline = remembered.timeline`,
)

/** Locks the stored primary, so that one process at a time handles a promotion. */
export const lockPrimary = statement('lock-primary', { parameters: {} }, sql`select from primary_look for update`)

/**
 * Ends all dispatchers, because none of them knows the last changes of the lost primary. Their marked messages get
 * outcome 106, and the other messages become due.
 */
export const endDispatchers = statement(
  'end-dispatchers',
  { parameters: {}, columns: { unknown: 'bigint' } },
  sql`
with ended as (
  select (release_claimed_batches(dispatcher)).unknown
  from (select distinct dispatcher from claimed_batch order by dispatcher) claiming
), gone as (
  delete from dispatcher
)
select coalesce(sum(unknown), 0)::bigint as unknown from ended`,
)

/**
 * Stores a promotion. The position of the received log is null if the server was restarted after the promotion. Resets
 * decisions about earlier promotions, which must be made again.
 */
export const addPromotion = statement(
  'add-promotion',
  { parameters: { fromTimeline: 'int' }, columns: { id: 'int' } },
  sql`
with undecided as (
  update promotion set decision = null, decided_by = null, decided_at = null where ended_at is null
)
insert into promotion (from_timeline, timeline, last_change_at, last_position, messages)
select :fromTimeline, timeline, pg_last_xact_replay_timestamp(), pg_last_wal_replay_lsn()::text, 0
from ${primaryNow} here
returning id`,
)

/**
 * Moves all messages that are due, or become due within a minute, into doubt. Returns the number of messages. Cost: 6
 * µs a range.
 */
export const doubtWaiting = statement(
  'doubt-waiting',
  { parameters: { promotion: 'int' }, columns: { messages: 'bigint' } },
  sql`
with from_due as (
  delete from due returning lo, hi, queue, lane, account_id, rank, first_id, due_at, expires_at, attempt
), from_later as (
  delete from later
  where at <= clock_timestamp() + interval '${clockMarginSeconds} s'
  returning lo, hi, queue, lane, account_id, rank, first_id, due_at, expires_at, attempt
), ${noteScheduled('select account_id, due_at, lo, lo - hi change from from_later where attempt = 0')}, moved as (
  insert into in_doubt
    (lo, hi, promotion, queue, lane, account_id, rank, first_id, due_at, expires_at, attempt)
  select lo, hi, :promotion, queue, lane, account_id, rank, first_id, due_at, expires_at, attempt
  from (select * from from_due union all select * from from_later) waiting
  returning hi - lo as messages
)
update promotion
set messages = moved.messages
from (select coalesce(sum(messages), 0)::bigint as messages from moved) moved
where id = :promotion
returning promotion.messages`,
)

/**
 * Locks the promotions with messages in doubt. Every transaction that changes messages in doubt does this first, so
 * that only one at a time divides ranges.
 */
export const lockPromotions = statement(
  'lock-promotions',
  { parameters: {}, columns: { id: 'int', decision: nullable(doubtDecision) } },
  sql`select id, decision from promotion where ended_at is null order by id for update`,
)

/** Ends promotions without messages in doubt. */
export const endPromotions = statement(
  'end-promotions',
  { parameters: {} },
  sql`
update promotion
set ended_at = clock_timestamp()
where ended_at is null and not exists (select from in_doubt where in_doubt.promotion = promotion.id)`,
)

/** Lists the promotions with messages in doubt. Reads all ranges in doubt. */
export const listPromotions = statement(
  'list-promotions',
  {
    parameters: {},
    columns: {
      id: column<PromotionId>('int'),
      noticed: instant,
      fromTimeline: 'int',
      timeline: 'int',
      lastChange: nullable(instant),
      lastPosition: 'text?',
      messages: 'bigint',
      inDoubt: 'bigint',
      firstDue: nullable(instant),
      lastDue: nullable(instant),
      decision: nullable(doubtDecision),
      decidedBy: 'text?',
      decidedAt: nullable(instant),
    },
  },
  sql`
select id, ${milliseconds('noticed_at')} as noticed, from_timeline as "fromTimeline", timeline,
  ${milliseconds('last_change_at')} as "lastChange", last_position as "lastPosition", messages,
  coalesce(doubt.messages_now, 0)::bigint as "inDoubt", ${milliseconds('doubt.first_due')} as "firstDue",
  ${milliseconds('doubt.last_due')} as "lastDue", decision, decided_by as "decidedBy",
  ${milliseconds('decided_at')} as "decidedAt"
from promotion
cross join lateral (
  select sum(hi - lo) as messages_now, min(due_at) as first_due, max(due_at) as last_due
  from in_doubt
  where in_doubt.promotion = promotion.id
) doubt
where ended_at is null
order by id`,
)

/** Records the decision for each promotion that has messages in doubt and no decision yet. */
export const decidePromotions = statement(
  'decide-promotions',
  { parameters: { decision: 'text', by: 'text' } },
  sql`
update promotion
set decision = :decision, decided_by = :by, decided_at = clock_timestamp()
where ended_at is null and decision is null`,
)

/** CTE that removes the first ranges in doubt that match the condition, until there are `messagesMax` messages. */
const pickRanges = (condition: string): string => `picked as materialized (
  select lo
  from (
    select lo, sum(hi - lo) over (order by lo) - (hi - lo) as messages_before
    from (
      select in_doubt.lo, in_doubt.hi
      from in_doubt
      join promotion on promotion.id = in_doubt.promotion
      where ${condition}
      order by in_doubt.lo
      limit :messagesMax
    ) oldest
  ) summed
  where messages_before < :messagesMax
), moved as (
  delete from in_doubt where lo in (select lo from picked) returning in_doubt.*
)`

/**
 * Makes about `messagesMax` messages in doubt due, if the decision about their promotion is to send them. These
 * messages can no longer be deleted (P-8).
 */
export const sendRanges = statement(
  'send-ranges',
  { parameters: { messagesMax: 'int' }, columns: { messages: 'int' } },
  sql`
with ${pickRanges(`decision = 'send'`)}, due_again as (
  insert into due (queue, lane, attempt, account_id, rank, lo, hi, first_id, due_at, expires_at, deletable)
  select queue, lane, attempt, account_id, rank, lo, hi, first_id, due_at, expires_at, false from moved
)
select coalesce(sum(hi - lo), 0)::int as messages, case when count(*) > 0 then ${wakeIdle} end as woken from moved`,
)

/** CTEs that store all messages of the CTE `moved` with outcome 106. */
const endMoved = sql`ended as (
  insert into message (id, send_first_id, msisdn, account_id, sender, confirms_opt_out, code)
  select message.id, moved.first_id, send.msisdns[message.id - moved.first_id + 1], moved.account_id, send.sender,
    send.confirms_opt_out, ${OUTCOME.unknown}
  from moved
  cross join lateral (
    select msisdns, sender, confirms_opt_out from send where first_id = moved.first_id offset 0
  ) send
  cross join lateral generate_series(moved.lo, moved.hi - 1) message(id)
  returning id, account_id, msisdn, code, sent_at as at, confirms_opt_out, send_first_id, false as has_reference
), incidents as (
  insert into incident (message_id, what) select id, '${INCIDENT.endedInDoubt}' from ended
), ${storeMessageEvents('ended', 'handover')}
select count(*)::int as messages from ended`

/**
 * Ends about `messagesMax` messages in doubt with outcome 106, if the decision about their promotion is to end them.
 */
export const endRanges = statement(
  'end-ranges',
  { parameters: { messagesMax: 'int' }, columns: { messages: 'int' } },
  sql`with ${pickRanges(`decision = 'end'`)}, ${endMoved}`,
)

/** Ends about `messagesMax` messages in doubt whose validity has ended, with outcome 106. */
export const expireRanges = statement(
  'expire-ranges',
  { parameters: { validitySeconds: 'float8', messagesMax: 'int' }, columns: { messages: 'int' } },
  sql`
with ${pickRanges(`coalesce(expires_at, due_at + make_interval(secs => :validitySeconds)) <= clock_timestamp()`)},
${endMoved}`,
)

/**
 * CTEs that remove the messages of the CTE `proved` (id, carrier, left_at) from doubt, and store them with outcome 106
 * and their carrier. The CTE `told` has the messages that were in doubt.
 */
const leaveAsProved = sql`touched as (
  delete from in_doubt
  where lo in (select lo from in_doubt range join proved on proved.id >= range.lo and proved.id < range.hi)
  returning in_doubt.*
), rest as (
  insert into in_doubt (lo, hi, promotion, queue, lane, account_id, rank, first_id, due_at, expires_at, attempt)
  select lower(piece), upper(piece), promotion, queue, lane, account_id, rank, first_id, due_at, expires_at, attempt
  from touched
  cross join lateral (
    select range_agg(int8range(id, id + 1)) ids from proved where id >= touched.lo and id < touched.hi
  ) out
  cross join lateral unnest(int8multirange(int8range(lo, hi)) - out.ids) piece
), told as (
  insert into message (id, send_first_id, msisdn, account_id, sender, confirms_opt_out, carrier, code, sent_at)
  select proved.id, touched.first_id, send.msisdns[proved.id - touched.first_id + 1], touched.account_id, send.sender,
    send.confirms_opt_out, proved.carrier, ${OUTCOME.unknown}, proved.left_at
  from touched
  join proved on proved.id >= touched.lo and proved.id < touched.hi
  cross join lateral (
    select msisdns, sender, confirms_opt_out from send where first_id = touched.first_id offset 0
  ) send
  returning id, account_id, msisdn, code, now() as at, confirms_opt_out, send_first_id, false as has_reference, carrier
), incidents as (
  insert into incident (message_id, what, carrier) select id, '${INCIDENT.provedSubmitted}', carrier from told
), ${storeMessageEvents('told', 'handover')}`

const endedInDoubt = `code = ${OUTCOME.unknown} and carrier = 0 and carrier_id is null`

/**
 * Records that a dispatcher had submitted messages to the carrier. Messages in doubt get outcome 106 and this carrier.
 * Messages that ended in doubt get this carrier. Returns how many messages changed.
 */
export const proveSubmitted = statement(
  'prove-submitted',
  { parameters: { ids: 'bigint[]', carrier: 'smallint' }, columns: { messages: 'int' } },
  sql`
with proved as materialized (
  select distinct id, :carrier as carrier, now() as left_at from unnest(:ids) id
), named as (
  update message set carrier = :carrier where id = any (:ids) and ${endedInDoubt} returning id
), ${leaveAsProved}
select ((select count(*) from told) + (select count(*) from named))::int as messages`,
)

/**
 * Uses receipts without a message that arrived after a promotion as proof that messages to their numbers were
 * submitted. Messages in doubt get outcome 106 and the receipt's carrier. Messages that ended in doubt get that
 * carrier. The time of these messages is the time of the submission according to the receipt. Returns how many messages
 * are no longer in doubt. Reads all numbers in doubt.
 */
export const proveByReceipts = statement(
  'prove-by-receipts',
  { parameters: { ageSeconds: 'float8' }, columns: { messages: 'int' } },
  sql`
with in_flight as materialized (
  select batch.carrier, send.msisdns[claimed.id - send.first_id + 1] msisdn
  from claimed_batch batch
  cross join lateral unnest(batch.ids[1 : batch.marked]) with ordinality claimed(id, position)
  join send on send.first_id = coalesce(batch.send_first_ids[position], batch.send_first_ids[1])
  where claimed.id is not null and not exists (select from message where message.id = claimed.id)
), strangers as materialized (
  select distinct on (msisdn) msisdn, carrier, coalesce(submitted_at, at) as left_at
  from unmatched_delivery_receipt receipt
  where msisdn is not null and at >= (select min(noticed_at) from promotion)
    and at <= now() - make_interval(secs => :ageSeconds)
    and not exists (
      select from message
      where message.carrier_id = receipt.carrier_id and message.carrier = receipt.carrier
        and message.sent_at > receipt.at - interval '${receiptMatching.referenceDays} days'
    )
    and not exists (
      select from message_part part
      where part.carrier_id = receipt.carrier_id and part.carrier = receipt.carrier
        and part.sent_at > receipt.at - interval '${receiptMatching.referenceDays} days'
    )
    and (carrier, msisdn) not in (select carrier, msisdn from in_flight)
  order by msisdn, at, id
), proved as materialized (
  select in_doubt.lo + recipient.place - 1 as id, strangers.carrier, strangers.left_at
  from in_doubt
  cross join lateral (
    select msisdns[in_doubt.lo - first_id + 1 : in_doubt.hi - first_id] numbers
    from send
    where first_id = in_doubt.first_id and exists (select from strangers) offset 0
  ) send
  cross join lateral unnest(send.numbers) with ordinality recipient(msisdn, place)
  join strangers on strangers.msisdn = recipient.msisdn
), named as (
  update message
  set carrier = strangers.carrier, sent_at = strangers.left_at
  from strangers
  where message.msisdn = strangers.msisdn and message.code = ${OUTCOME.unknown} and message.carrier = 0
    and message.carrier_id is null
), ${leaveAsProved}
select count(*)::int as messages from told`,
)
