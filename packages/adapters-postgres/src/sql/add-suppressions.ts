import { EVENT_CODE, SUPPRESSION } from '../stored-codes.ts'
import { wakeIdle } from './idle-dispatchers.ts'
import type { PreparedStatement } from './prepared-statement.ts'
import { storeEvent } from './store-events.ts'

/**
 * Adds to scope $1 of kind $2 the numbers $3 that are not there, with their times $4 and, of opt-outs, texts $5 or null; of a number
 * that comes twice the first. Returns how many it added. In the order of the numbers, so that two of these never wait for
 * each other in a circle. For the ordinary connections.
 *
 * Cost, 5000 a statement: 5.1 µs and 305 bytes of log a number, 7.5 and 525 with a text; 2.4 to 2.8 µs where it is there.
 */
export const addSuppressions: PreparedStatement<{ added: number }> = {
  name: 'add-suppressions',
  text: `
with given as materialized (
  select distinct on (msisdn) *
  from unnest($3::bigint[], $4::timestamptz[], $5::text[]) with ordinality entry(msisdn, since, text, place)
  order by msisdn, place
), added as (
  insert into suppression (account_id, msisdn, kind, since)
  select $1::int, msisdn, $2::smallint, since
  from given
  order by msisdn
  on conflict do nothing
  returning msisdn
), replies as (
  insert into opt_out_reply (account_id, msisdn, since, text)
  select $1::int, msisdn, since, text
  from given
  where text is not null and msisdn in (select msisdn from added)
  order by msisdn
  on conflict (account_id, msisdn) do update
  set since = excluded.since, inbound_message_id = null, text = excluded.text, answers = null
), old_replies as (
  delete from opt_out_reply reply
  using given, added
  where given.text is null and added.msisdn = given.msisdn and $2::smallint = ${SUPPRESSION['opt-out']}
    and reply.account_id = $1::int and reply.msisdn = given.msisdn
), events as (${storeEvent(EVENT_CODE['optout.added'], {
    account: '$1::int',
    subject: '0',
    number: 'changed.msisdn',
    text: 'changed.text',
    from: ' cross join (select msisdn, text from added join given using (msisdn)) changed',
  })} and $2::smallint = ${SUPPRESSION['opt-out']}
  returning 1
)
select count(*)::int as added, case when exists (select from events) then ${wakeIdle} end as woken
from added`,
}
