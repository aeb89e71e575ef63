import { ownIdTags, receiptMatching, type DeliveryReceiptCode } from '@gateway/core/dispatch'
import { changeableCodes, INCIDENT, OUTCOME, type MessageId } from '@gateway/core/messages'
import { milliseconds } from './arrays.ts'
import { carrierId, instant, msisdn } from './columns.ts'
import { column, nullable, sql, statement } from './statement.ts'
import { refund } from './credits.ts'
import { storeMessageEvents } from './store-events.ts'
import { storeOptOuts } from './store-opt-outs.ts'

const { referenceDays, olderAfterSeconds, keptDays, retrySecondsMax } = receiptMatching
const changeable = changeableCodes.join(', ')

/**
 * Query that sums up, for each message, the parts in the CTE `parts`. That CTE has the id and the code of each part
 * whose state has just changed. `setByParts` reads the rows of this query.
 */
const partsOfMessage = (parts: string, more = ''): string => `select id${more},
    count(*) filter (where code = ${OUTCOME.delivered})::smallint as delivered,
    min(code) filter (where code not in (${changeable}, ${OUTCOME.delivered})) as failure,
    max(code) filter (where code in (${changeable})) as open
  from ${parts}
  group by id
  order by id`

/**
 * Assignments to `message` from a row of `partsOfMessage`, by core's `codeByParts`. They use only the current columns
 * of `message`. So an update that waited for a concurrent update decides by the result of that update.
 */
function setByParts(row: string, at: string): string {
  const codeOfParts = `case
      when ${row}.failure is not null then ${row}.failure
      when message.parts_undelivered <= ${row}.delivered then ${OUTCOME.delivered}
      else coalesce(${row}.open, message.code)
    end`
  const isOpen = `message.code in (${changeable})`
  return `parts_undelivered = message.parts_undelivered - ${row}.delivered,
    code = case when ${isOpen} then ${codeOfParts} else message.code end,
    code_at = case when ${isOpen} and ${codeOfParts} <> message.code then ${at} else message.code_at end`
}

/**
 * Condition that no earlier receipt waits in `unmatched_delivery_receipt` that may belong to the same message as
 * `receipt`. If one waits, `receipt` is stored there as well, so that `matchReceipts` applies the first final one
 * (P-7). The condition takes 0.6 of the 4.6 µs of a receipt, and 1.0 of 5.0 µs when 100,000 receipts wait (EXPLAIN).
 */
const isNextOfItsMessage = `not exists (
      select
      from unmatched_delivery_receipt kept
      where kept.carrier_id = receipt.reference and kept.carrier = :carrier
        and (kept.msisdn is null or receipt.msisdn is null or kept.msisdn = receipt.msisdn)
    )`

const receipts = {
  references: 'text[]',
  codes: 'smallint[]',
  carrier: 'smallint',
  numbers: 'bigint?[]',
} as const

/** Prices of carriers for messages, each with its currency. */
const prices = { prices: 'text?[]', currencies: 'text?[]' } as const

/** CTEs that refund the messages of the CTE `changed` that ended as opted out (212), and record the opt-outs. */
const endOptedOut = `refunds as (
  select changed.*, send.price amount
  from changed
  cross join lateral (select price from send where first_id = changed.send_first_id offset 0) send
  where changed.code = ${OUTCOME.optedOut} and not changed.refunded
), ${refund('refunds')}, ${storeOptOuts('changed')}, `

/** Returns a function that returns the statement for a partition. It makes each statement when it is first used. */
function ofPartition<T>(make: (partition: number) => T): (partition: number) => T {
  const made = new Map<number, T>()
  return (partition) => {
    const one = made.get(partition) ?? make(partition)
    made.set(partition, one)
    return one
  }
}

/**
 * Applies receipts to their messages in one partition. References are sorted by collation "C", and each pair of
 * reference and number occurs once; a null number matches any number. Only messages that are not final change. Returns
 * how many receipts were applied. If some were not applied, `knownReceipts` returns which of them need nothing more.
 * Carriers reuse references, so messages older than 7 days are left to `matchReceipts`, which uses the newest message.
 * Receipts of messages that were submitted as several parts are left to `knownReceipts`.
 *
 * Cost: 5.5 µs, 121 bytes of log a receipt.
 */
export const applyReceipts = ofPartition((partition) =>
  statement(`apply-receipts-${partition}`, { parameters: receipts, columns: { applied: 'int' } }, applyText(partition)),
)

/**
 * Does the same as `applyReceipts` for receipts of which some have a price of the carrier, or report that the recipient
 * has opted out at the carrier (212). Stores the first price of a message. Refunds messages that end as opted out, and
 * records the opt-outs.
 */
export const applyRichReceipts = ofPartition((partition) =>
  statement(
    `apply-rich-receipts-${partition}`,
    { parameters: { ...receipts, ...prices }, columns: { applied: 'int' } },
    applyText(partition, {
      columns: `, carrier_price = coalesce(message.carrier_price, receipt.carrier_price),
    carrier_currency = case when message.carrier_price is null then receipt.carrier_currency
      else message.carrier_currency end`,
      arrays: ', :prices, :currencies',
      names: ', carrier_price, carrier_currency',
      returned: ', refunded',
      effects: endOptedOut,
    }),
  ),
)

/** Additions to the text of `applyReceipts`. `effects` are CTEs of further effects, each with a comma after it. */
interface RichText {
  readonly columns: string
  readonly arrays: string
  readonly names: string
  readonly returned: string
  readonly effects: string
}

const plainText: RichText = { columns: '', arrays: '', names: '', returned: '', effects: '' }

/** Returns the text of `applyReceipts`. */
const applyText = (
  partition: number,
  { columns, arrays, names, returned, effects }: RichText = plainText,
): string => sql`
with changed as (
  update message_p${partition} message
  set code = receipt.code, code_at = now()${columns}
  from unnest(:references, :codes, :numbers${arrays}) with ordinality
    receipt(reference, code, msisdn${names}, position)
  where message.carrier_id = any (array[receipt.reference]) and message.carrier = :carrier
    and message.msisdn = coalesce(receipt.msisdn, message.msisdn)
    and message.code in (${changeable}) and message.code <> receipt.code and message.parts_undelivered = 0
    and ${isNextOfItsMessage}
    and message.sent_at > now() - interval '${referenceDays} days'
  returning position, id, message.account_id, message.msisdn, message.code, code_at as at, confirms_opt_out,
    send_first_id, true as has_reference${returned}
), ${effects}${storeMessageEvents('changed', 'receipt')}
select count(distinct position)::int as applied from changed`

/**
 * Returns which receipts need nothing more, because their message is final, has the same code already or has just
 * changed. Also applies receipts of messages that were submitted as several parts, each to its part (core's
 * `codeByParts`), and returns them with `written` true. If a message was stored after `applyReceipts` ran, its receipt
 * is not returned, so that the caller stores the receipt.
 *
 * Cost: 13 µs for a receipt of a part, including `applyReceipts`. In the same run, the receipt of a message of one part
 * took 6 µs.
 */
export const knownReceipts = ofPartition((partition) =>
  statement(
    `known-receipts-${partition}`,
    { parameters: receipts, columns: { position: 'int', written: 'bool' } },
    knownText(partition, ''),
  ),
)

/** Does the same as `knownReceipts` for receipts of which some report an opt-out, as `applyRichReceipts` does. */
export const knownOptOuts = ofPartition((partition) =>
  statement(
    `known-opt-outs-${partition}`,
    { parameters: receipts, columns: { position: 'int', written: 'bool' } },
    knownText(partition, endOptedOut),
  ),
)

/** Returns the text of `knownReceipts`. `effects` are CTEs of further effects, each with a comma after it. */
const knownText = (partition: number, effects: string): string => sql`
with receipts as materialized (
  select *
  from unnest(:references, :codes, :numbers) with ordinality receipt(reference, code, msisdn, position)
  where ${isNextOfItsMessage}
), parts as (
  update message_part_p${partition} part
  set code = receipt.code, code_at = now()
  from receipts receipt
  where part.carrier_id = any (array[receipt.reference]) and part.carrier = :carrier
    and part.msisdn = coalesce(receipt.msisdn, part.msisdn)
    and part.code in (${changeable}) and part.code <> receipt.code
    and part.sent_at > now() - interval '${referenceDays} days'
  returning position, id, part.code
), of_message as (
  ${partsOfMessage('parts')}
), applied as (
  update message_p${partition} message
  set ${setByParts('of_message', 'now()')}
  from of_message
  where message.id = any (array[of_message.id])
  returning message.id, message.account_id, message.msisdn, message.code, code_at as at, confirms_opt_out,
    send_first_id, carrier_id is not null as has_reference${effects === '' ? '' : ', refunded'}
), changed as (
  -- What it was before did not begin in this transaction.
  select * from applied where at = now()
), ${effects}${storeMessageEvents('changed', 'receipt')}
select position::int as position, true as written from parts
union all
select position::int, false
from receipts receipt
where exists (
  select
  from message_p${partition} message
  where message.carrier_id = receipt.reference and message.carrier = :carrier
    and message.msisdn = coalesce(receipt.msisdn, message.msisdn)
    and (message.code not in (${changeable}) or message.code = receipt.code) and message.parts_undelivered = 0
    and message.sent_at > now() - interval '${referenceDays} days'
) or exists (
  select
  from message_part_p${partition} part
  where part.carrier_id = receipt.reference and part.carrier = :carrier
    and part.msisdn = coalesce(receipt.msisdn, part.msisdn)
    and (part.code not in (${changeable}) or part.code = receipt.code)
    and part.sent_at > now() - interval '${referenceDays} days'
)`

/** Returns the newest partition that a message id can be in, and whether the previous partition exists. */
export const newestPartition = statement(
  'newest-partition',
  { parameters: {}, columns: { newest: 'bigint', before: 'bool' } },
  sql`
select last_value / 500 as newest, to_regclass('message_p' || (last_value / 500 - 1)) is not null as before
from id_block`,
)

/**
 * Stores receipts whose message is not known. `submitted` is in milliseconds. Storing a receipt twice is harmless,
 * because both copies have the same effect.
 */
export const keepReceipts = statement(
  'keep-receipts',
  {
    parameters: {
      references: 'text[]',
      codes: 'smallint[]',
      carrier: 'smallint',
      numbers: 'bigint?[]',
      submitted: 'bigint?[]',
      messages: 'bigint?[]',
      tags: 'int?[]',
      areOfPart: 'bool[]',
      ...prices,
    },
  },
  sql`
insert into unmatched_delivery_receipt
  (carrier, carrier_id, code, msisdn, submitted_at, named_message_id, own_id_tag, of_part, carrier_price,
    carrier_currency)
select :carrier, reference, code, msisdn, to_timestamp(submitted / 1000.0), named_message_id, own_id_tag, of_part,
  price, currency
from unnest(:references, :codes, :numbers, :submitted, :messages, :tags, :areOfPart, :prices, :currencies)
  receipt(reference, code, msisdn, submitted, named_message_id, own_id_tag, of_part, price, currency)`,
)

/** Condition that the stored receipt `tried` belongs to this row of a message or a part. */
const isMeant = (row: string): string => `${row}.carrier_id = tried.carrier_id and ${row}.carrier = tried.carrier
      and ${row}.msisdn = coalesce(tried.msisdn, ${row}.msisdn)
      and (${row}.sent_at > tried.at - interval '${referenceDays} days'
        or tried.at < now() - interval '${olderAfterSeconds} s')`

/**
 * SQL for the order in which receipts of one message or part are preferred: the first final one, else the last one
 * (core's `countingReceipt`).
 */
const byCount = `(code in (${changeable})), case when code in (${changeable}) then -id else id end`

/**
 * Applies stored receipts whose message exists by now. Applies at most `dueMax` due receipts, and with each of them all
 * other receipts of its message, because the first final code of a message or part wins. Returns how many receipts
 * found their message. A message more than 7 days older than the receipt counts only if no newer message appears within
 * ten minutes, because the carrier may have reused its reference for a message that is not recorded yet. A receipt
 * without a message is tried again for 3 days, at intervals that double from one second to one hour. Messages of
 * several parts are locked before they change, because their previous code decides whether there is an event.
 */
export const matchReceipts = statement(
  'match-receipts',
  { parameters: { dueMax: 'int' }, columns: { found: 'int', named: 'int' } },
  sql`
with due as (
  select id, carrier, carrier_id
  from unmatched_delivery_receipt
  where next_try <= now()
  order by next_try
  limit :dueMax
  for update skip locked
), tried as (
  select receipt.*
  from (select distinct carrier, carrier_id from due) due
  cross join lateral (
    select *
    from unmatched_delivery_receipt kept
    where kept.carrier_id = any (array[due.carrier_id]) and kept.carrier = due.carrier
    for update skip locked
  ) receipt
), found as (
  -- Not tried.*, because a column that the next version adds could have the name of a result.
  select tried.id, carrier, carrier_id, code, at, carrier_price, carrier_currency, named_message_id, (
    select max(message.id + 0) from message where ${isMeant('message')} and message.parts_undelivered = 0
  ) message_id, (
    select array[part.id, part.part] from message_part part where ${isMeant('part')} order by part.id + 0 desc limit 1
  ) place
  from tried
), counting as (
  select distinct on (message_id) message_id, carrier_id, code, at, carrier_price, carrier_currency
  from found
  where message_id is not null
  order by message_id, ${byCount}
), counting_parts as (
  -- By message and part. No result may be named place: "distinct on" takes the name of a result before a column's.
  select distinct on (place) place[1] message_id, place[2] part, code, at
  from found
  where message_id is null and place is not null
  order by place, ${byCount}
), changed_whole as (
  update message
  set code = receipt.code, code_at = receipt.at,
    carrier_price = coalesce(message.carrier_price, receipt.carrier_price),
    carrier_currency = case when message.carrier_price is null then receipt.carrier_currency
      else message.carrier_currency end
  from (select * from counting order by carrier_id collate "C") receipt
  where message.id = any (array[receipt.message_id]) and message.code in (${changeable})
    and message.code <> receipt.code
  returning message.id, message.account_id, message.msisdn, message.code, message.code_at as at,
    message.confirms_opt_out,
    message.send_first_id, message.carrier_id is not null as has_reference, refunded
), before as materialized (
  select id, code
  from message
  where id = any (array(select message_id from counting_parts))
  order by id
  for update
), parts as (
  update message_part part
  set code = receipt.code, code_at = receipt.at
  from (select counting_parts.* from before join counting_parts on message_id = before.id offset 0) receipt
  where part.id = any (array[receipt.message_id]) and part.part = receipt.part
    and part.code in (${changeable}) and part.code <> receipt.code
  returning part.id, part.code, part.code_at
), of_message as (
  ${partsOfMessage('parts', ', max(code_at) as at')}
), changed_parts as (
  update message
  set ${setByParts('of_message', 'of_message.at')}
  from of_message
  join before using (id)
  where message.id = any (array[of_message.id])
  returning message.id, message.account_id, message.msisdn, message.code, message.code_at as at,
    message.confirms_opt_out,
    message.send_first_id, message.carrier_id is not null as has_reference, refunded,
    message.code <> before.code is_news
), changed as (
  select * from changed_whole
  union all
  select id, account_id, msisdn, code, at, confirms_opt_out, send_first_id, has_reference, refunded
  from changed_parts
  where is_news
), ${endOptedOut}${storeMessageEvents('changed', 'receipt')}, dropped as (
  delete from unmatched_delivery_receipt
  where id = any (array(
    select id
    from found
    where message_id is not null or place is not null or at < now() - interval '${keptDays} days'
  ))
), kept as (
  update unmatched_delivery_receipt
  set tries = tries + 1, next_try = now() + make_interval(secs => least(${retrySecondsMax}, 2 ^ tries))
  where id = any (array(
    select id from found where message_id is null and place is null and at >= now() - interval '${keptDays} days'
  ))
)
select count(*) filter (where message_id is not null or place is not null)::int as found,
  count(*) filter (where message_id is null and place is null and named_message_id is not null)::int as named
from found`,
)

/** SQL for the tag of the own id of a message of `send`: core's `ownIdTag` of the time at which it was first due. */
const ownIdTagOfSend = `(${milliseconds('coalesce(scheduled_at, created_at)')} & ${ownIdTags - 1})::int`

/**
 * Gives messages of unknown outcome without a reference the references of stored receipts that have their own ids
 * (core's `namedReferences`). These receipts are then due, for `matchReceipts`. Returns the number of messages. May be
 * run again. Runs on the ordinary connections, because it reads all stored receipts with own ids.
 */
export const nameUnknownMessages = statement(
  'name-unknown-messages',
  { parameters: {}, columns: { resolved: 'int' } },
  sql`
with naming as (
  select named_message_id, own_id_tag, carrier, carrier_id, msisdn, of_part, min(at) at
  from unmatched_delivery_receipt
  where named_message_id is not null
  group by named_message_id, own_id_tag, carrier, carrier_id, msisdn, of_part
), fitting as (
  select message.id, message.msisdn, message.sent_at, message.carrier, send.parts, naming.carrier_id, naming.at,
    naming.of_part and send.parts > 1 as in_parts
  from naming
  cross join lateral (
    select id, msisdn, sent_at, carrier, send_first_id
    from message
    where id = any (array[naming.named_message_id]) and message.carrier = naming.carrier
      and message.msisdn = coalesce(naming.msisdn, message.msisdn)
      and code = ${OUTCOME.unknown} and (message.carrier_id || '') is null offset 0
  ) message
  cross join lateral (
    select parts, ${ownIdTagOfSend} tag from send where first_id = message.send_first_id offset 0
  ) send
  where send.tag = naming.own_id_tag
), by_reference as (
  select id, msisdn, sent_at, carrier, parts, carrier_id, min(at) at, bool_or(in_parts) in_parts
  from fitting
  group by id, msisdn, sent_at, carrier, parts, carrier_id
), whole as (
  select id, case when bool_or(in_parts) then array_agg(carrier_id order by at, carrier_id collate "C")
    else array[(array_agg(carrier_id order by at, carrier_id collate "C"))[1]] end carrier_ids
  from by_reference
  group by id, parts
  having not bool_or(in_parts) or count(*) = parts
), resolved as (
  update message
  set carrier_id = carrier_ids[1], parts_undelivered = case cardinality(carrier_ids) when 1 then 0
    else cardinality(carrier_ids) end
  from (select * from whole order by id) whole
  where message.id = any (array[whole.id]) and message.code = ${OUTCOME.unknown}
    and (message.carrier_id || '') is null
  returning message.id, message.msisdn, message.sent_at, message.carrier, carrier_ids
), parts as (
  insert into message_part (id, part, msisdn, sent_at, carrier, code, carrier_id)
  select id, part, msisdn, sent_at, carrier, ${OUTCOME.sent}, reference
  from resolved
  cross join lateral unnest(carrier_ids) with ordinality x(reference, part)
  where cardinality(carrier_ids) > 1
), incidents as (
  insert into incident (message_id, what) select id, '${INCIDENT.named}' from resolved
), due_now as (
  update unmatched_delivery_receipt set next_try = now() where named_message_id in (select id from resolved)
)
select count(*)::int as resolved from resolved`,
)

/**
 * Matches stored receipts that are at least `ageSeconds` old to messages with an unknown outcome, which get their
 * references. The other times are those of core's `adoptionWindow` and `receiptMatching`. May be run again.
 */
export const adoptReceipts = statement(
  'adopt-receipts',
  {
    parameters: {
      ageSeconds: 'float8',
      beforeSubmittedSeconds: 'float8',
      beforeReceiptSeconds: 'float8',
      afterSeconds: 'float8',
      referenceDays: 'int',
    },
    columns: { adopted: 'int' },
  },
  sql`
select adopt_delivery_receipts(
  :ageSeconds, :beforeSubmittedSeconds, :beforeReceiptSeconds, :afterSeconds, :referenceDays
) as adopted`,
)

/** Lists stored receipts without a message, for operators after a restore. Reads all waiting messages. */
export const listUnmatchedReceipts = statement(
  'list-unmatched-receipts',
  {
    parameters: { countMax: 'int' },
    columns: {
      carrier: carrierId,
      reference: 'text',
      code: column<DeliveryReceiptCode>('int'),
      number: nullable(msisdn),
      at: instant,
      waiting: column<readonly MessageId[]>('json'),
    },
  },
  sql`
with kept as materialized (
  select carrier, carrier_id, code, msisdn, min(at) at, min(id) id
  from unmatched_delivery_receipt
  group by carrier, carrier_id, code, msisdn
  order by min(at), min(id) limit :countMax
), waiting as (
  select message.id, send.msisdns[message.id - send.first_id + 1] msisdn
  from (select first_id, lo, hi from due union all select first_id, lo, hi from later
    union all select first_id, lo, hi from in_doubt) range
  join send using (first_id)
  cross join lateral generate_series(range.lo, range.hi - 1) message(id)
  where send.msisdns[message.id - send.first_id + 1] in (select msisdn from kept)
)
select carrier.name carrier, kept.carrier_id reference, kept.code::int, kept.msisdn::text number,
  ${milliseconds('kept.at')} as at,
  (select coalesce(json_agg(waiting.id order by waiting.id), '[]') from waiting where waiting.msisdn = kept.msisdn) waiting
from kept join carrier on carrier.id = kept.carrier
order by kept.at, kept.id`,
)
