import { INCIDENT, OUTCOME } from '@gateway/core/messages'
import { refund } from './credits.ts'
import { sql, statement } from './statement.ts'
import { storeMessageEvents, storeSentEvents } from './store-events.ts'

/**
 * The first `upTo` messages of the batch may leave once this has committed. No row: fenced. May be run again. Cost:
 * 0.8 µs, 1 byte of log a message (200 at a time, batches of 500).
 */
export const mark = statement(
  'mark',
  { parameters: { dispatcher: 'bigint', batch: 'int', upTo: 'int' }, columns: { marked: 'int' } },
  sql`
update claimed_batch
set marked = greatest(marked, :upTo)
where dispatcher = :dispatcher and seq = :batch
returning marked`,
)

/** The same as a CTE, for several batches. */
const setMarks = sql`marks as (
  update claimed_batch
  set marked = greatest(marked, mark.up_to)
  from unnest(:markedBatches, :upTo) mark(seq, up_to)
  where dispatcher = :dispatcher and claimed_batch.seq = mark.seq
  returning 1
)`

/**
 * Messages in the order of their ids: `ids`, `numbers`, `references`, and in `positions` the place, from 1, of what
 * each has in common with its neighbours: `batches`, `accounts`, `sends`, `senders`, `confirming` (whether they
 * confirm an opt-out). Written out for each message, these would cost 2 µs. The batches `ended` end. Of each of
 * `markedBatches` the first `upTo` messages may leave.
 */
const outcomes = {
  dispatcher: 'bigint',
  ended: 'int[]',
  positions: 'int[]',
  ids: 'bigint[]',
  numbers: 'bigint[]',
  references: 'text?[]',
  batches: 'int[]',
  accounts: 'int[]',
  sends: 'bigint[]',
  senders: 'int[]',
  confirming: 'bool[]',
  markedBatches: 'int[]',
  upTo: 'int[]',
} as const

/**
 * Of each message in how many parts a carrier took it (0: as one), and of each part the place of its message, its
 * own, and its reference.
 */
const parts = {
  partCounts: 'smallint[]',
  partMessages: 'int[]',
  partPlaces: 'smallint[]',
  partReferences: 'text[]',
} as const

/** `carriers`: of what messages have in common, as `batches`. */
const accepted = { ...outcomes, carriers: 'smallint[]' } as const
const columns = { recorded: 'int', marked: 'int' } as const

/** With parts there is a column more of each message, and a CTE more that stores them. */
const recordText = (inParts: {
  readonly column: string
  readonly array: string
  readonly stored: string
}): string => sql`
with finished as (
  delete from claimed_batch where dispatcher = :dispatcher and seq = any (:ended) returning seq
), messages as (
  insert into message
    (id, msisdn, carrier_id, code, account_id, send_first_id, sender, confirms_opt_out, carrier${inParts.column})
  select outcome.id, outcome.msisdn, outcome.reference, ${OUTCOME.sent},
    (:accounts)[position], (:sends)[position], (:senders)[position], (:confirming)[position],
    (:carriers)[position]${inParts.column}
  from (select count(*) from finished) ended,
    unnest(:positions, :ids, :numbers, :references${inParts.array})
      outcome(position, id, msisdn, reference${inParts.column})
  where (:batches)[position] = any (array(select seq from claimed_batch where dispatcher = :dispatcher))
  returning id, account_id, send_first_id, msisdn, carrier_id is not null as has_reference, confirms_opt_out
)${inParts.stored}, ${storeSentEvents('messages', ':accounts')}, ${setMarks}
select (select count(*) from messages)::int as recorded, (select count(*) from marks)::int as marked`

/**
 * What the carrier accepted, of any claimed batches of the dispatcher, becomes 100. Only for batches that are there:
 * fewer rows than asked for, or 23505, mean that a recovery was faster or that this ran before; then recordLate tells
 * the rest. The batches go first, so that this and a recovery wait for each other in one order.
 *
 * Cost: 10 µs, 400 bytes of log a message (150 of one send). With "on conflict" 12 % more.
 */
export const record = statement(
  'record',
  { parameters: accepted, columns },
  recordText({ column: '', array: '', stored: '' }),
)

/**
 * The same where the carrier took messages as several parts.
 *
 * Cost: 19 µs a message of three parts, where `record` took 8 for one of one part in the same run.
 */
export const recordParts = statement(
  'record-parts',
  { parameters: { ...accepted, ...parts }, columns },
  recordText({
    column: ', parts_undelivered',
    array: ', :partCounts',
    stored: sql`, parts as (
  insert into message_part (id, part, msisdn, carrier, code, carrier_id)
  select (:ids)[place], part, (:numbers)[place], (:carriers)[(:positions)[place]], ${OUTCOME.sent}, reference
  from unnest(:partMessages, :partPlaces, :partReferences) part(place, part, reference)
  where case when (:ids)[place] in (select id from messages) then true end
)`,
  }),
)

/**
 * Outcomes of every kind, also those that come late; `codes` of each message: 100, 106, or 111 with its refund, or
 * 213 of what a carrier has in part. A message that its batch still holds is written; another one becomes what it is
 * where core's `isLateTruth` says so. Who turns a message to 111 refunds it, so that it is done once. May be run
 * again; ids must differ.
 *
 * A row whose sent_at is not this transaction's time was there before.
 */
export const recordLate = statement(
  'record-late',
  { parameters: { ...outcomes, ...parts, codes: 'smallint[]' }, columns: { marked: 'int' } },
  sql`
with finished as (
  delete from claimed_batch where dispatcher = :dispatcher and seq = any (:ended) returning seq
), changed as (
  insert into message (id, msisdn, carrier_id, code, parts_undelivered, account_id, send_first_id, sender,
    confirms_opt_out, carrier, code_at)
  select outcome.id, outcome.msisdn, outcome.reference, outcome.code, outcome.parts,
    (:accounts)[position], (:sends)[position], (:senders)[position], (:confirming)[position],
    coalesce(batch.carrier, 0),
    case when outcome.code = ${OUTCOME.refused} then now() end
  from (select count(*) from finished) ended
  cross join unnest(:positions, :ids, :numbers, :references, :codes, :partCounts)
    outcome(position, id, msisdn, reference, code, parts)
  left join lateral (
    select carrier
    from claimed_batch
    where dispatcher = :dispatcher and seq = (:batches)[position] and outcome.id = any (ids)
  ) batch on true
  where batch.carrier is not null or exists (select from message where id = outcome.id)
  on conflict (id) do update set code = excluded.code, carrier_id = excluded.carrier_id, code_at = now(),
    parts_undelivered = excluded.parts_undelivered
  where message.code = ${OUTCOME.unknown} and message.carrier_id is null and excluded.code <> ${OUTCOME.unknown}
  returning id, account_id, send_first_id, code, sent_at, carrier, msisdn, confirms_opt_out, now() as at,
    carrier_id is not null as has_reference, refunded
), carriers as materialized (
  select jsonb_object_agg(id, carrier) by_id from changed
), parts as (
  insert into message_part (id, part, msisdn, carrier, code, carrier_id)
  select id, part, (:numbers)[place], (by_id ->> id::text)::smallint, ${OUTCOME.sent}, reference
  from carriers
  cross join lateral (
    select (:ids)[place] id, place, part, reference
    from unnest(:partMessages, :partPlaces, :partReferences) of_message(place, part, reference)
  ) part
  where by_id ? id::text
), refunds as (
  select changed.*, send.price amount
  from changed
  cross join lateral (select price from send where first_id = changed.send_first_id offset 0) send
  where changed.code = ${OUTCOME.refused} and not changed.refunded
), ${refund('refunds')}, incidents as (
  insert into incident (message_id, what)
  select id, case when sent_at <> now() then '${INCIDENT.late}' else '${INCIDENT.unknown}' end
  from changed
  where sent_at <> now() or code = ${OUTCOME.unknown}
), ${storeMessageEvents('changed', 'handover')}, ${setMarks}
select count(*)::int as marked from marks`,
)
