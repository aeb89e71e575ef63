import { OUTCOME } from '@gateway/core'
import { setMarks } from './mark.ts'
import type { PreparedStatement } from './prepared-statement.ts'
import { storeSentEvents } from './store-events.ts'

/**
 * What the carrier accepted, of any claimed batches of dispatcher $1, becomes 100, and the finished batches $2 end. $4 ids (ascending), $5 numbers,
 * $6 references, and $3 of each message the position, from 1, in what it has in common with its neighbours: $7 batches, $8 accounts, $9 sends,
 * $10 senders, $11 whether they confirm an opt-out, $14 carriers (written out for each message they cost 2 µs). Of the batches $12 the first $13
 * messages may leave once this has committed. Only for batches that are there: fewer rows than asked for, or 23505, mean that a recovery was
 * faster or that this ran before; then record-late tells the rest. The batches go first, so that this and a recovery wait for each other in one order.
 *
 * Cost: 10 µs, 400 bytes of log a message (150 of one send). With "on conflict" 12 % more.
 */
export const record: PreparedStatement<Recorded> = {
  name: 'record',
  text: textOf({ column: '', array: '', stored: '' }),
}

interface Recorded {
  readonly recorded: number
  readonly marked: number
}

/**
 * The same where the carrier took messages as several parts: $15 of each message how many (0: as one), and of each part $16 the place of its message in
 * $4, $17 its own from 1, $18 its reference.
 *
 * Cost: 19 µs a message of three parts, where `record` took 8 for one of one part in the same run.
 */
export const recordParts: PreparedStatement<Recorded> = {
  name: 'record-parts',
  text: textOf({
    column: ', parts_undelivered',
    array: ', $15::smallint[]',
    stored: `, parts as (
  insert into message_part (id, part, msisdn, carrier, code, carrier_id)
  select ($4::bigint[])[place], part, ($5::bigint[])[place], ($14::smallint[])[($3::int[])[place]], ${OUTCOME.sent}, reference
  from unnest($16::int[], $17::smallint[], $18::text[]) part(place, part, reference)
  where case when ($4::bigint[])[place] in (select id from messages) then true end
)`,
  }),
}

function textOf({
  column,
  array,
  stored,
}: {
  readonly column: string
  readonly array: string
  readonly stored: string
}): string {
  return `
with finished as (
  delete from claimed_batch where dispatcher = $1::bigint and seq = any ($2::int[]) returning seq
), messages as (
  insert into message (id, msisdn, carrier_id, code, account_id, send_first_id, sender, confirms_opt_out, carrier${column})
  select outcome.id, outcome.msisdn, outcome.reference, ${OUTCOME.sent},
    ($8::int[])[position], ($9::bigint[])[position], ($10::int[])[position], ($11::bool[])[position],
    ($14::smallint[])[position]${column}
  from (select count(*) from finished) ended,
    unnest($3::int[], $4::bigint[], $5::bigint[], $6::text[]${array}) outcome(position, id, msisdn, reference${column})
  where ($7::int[])[position] = any (array(select seq from claimed_batch where dispatcher = $1::bigint))
  returning id, account_id, send_first_id, msisdn, carrier_id is not null as has_reference, confirms_opt_out
)${stored}, ${storeSentEvents('messages', '$8::int[]')}, ${setMarks('$12', '$13')}
select (select count(*) from messages)::int as recorded, (select count(*) from marks)::int as marked`
}
