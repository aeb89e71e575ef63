import { OUTCOME } from '@gateway/core/messages'
import { accountId, msisdn } from './columns.ts'
import { sql, statement } from './statement.ts'

// Run these statements on the ordinary connections (`pools.ordinary`), because few carriers report a message as
// unknown.

/** Stores references that a carrier reported as unknown. May be run again. */
export const keepUnknownReferences = statement(
  'keep-unknown-references',
  { parameters: { carrier: 'smallint', references: 'text[]' } },
  sql`
insert into unknown_reference (carrier, carrier_id)
select :carrier, reference
from unnest(:references) kept(reference)
order by reference
on conflict do nothing`,
)

/**
 * Claims references that may be queried at the carrier now, and returns those whose message or part is still unknown.
 * If a carrier reused a reference, returns the newest message. Every claimed reference counts as queried, even if none
 * of its messages was found.
 */
export const takeUnknownMessages = statement(
  'take-unknown-messages',
  {
    parameters: { carrier: 'smallint', afterSeconds: 'float8', withinSeconds: 'float8', countMax: 'int' },
    columns: { reference: 'text', number: msisdn, account: accountId, sender: 'int' },
  },
  sql`
with due as materialized (
  select carrier_id, at
  from unknown_reference
  where carrier = :carrier and not asked and at <= now() - make_interval(secs => :afterSeconds)
    and at > now() - make_interval(secs => :withinSeconds)
  order by at
  limit :countMax
  for update skip locked
), asked as (
  update unknown_reference
  set asked = true
  where carrier = :carrier and carrier_id = any (array(select carrier_id from due))
)
select due.carrier_id as reference, message.msisdn::text as number, message.account_id as account, message.sender
from due
cross join lateral (
  select id, code
  from (
    select id, code, sent_at
    from message
    where message.carrier_id = any (array[due.carrier_id]) and carrier = :carrier and parts_undelivered = 0
    union all
    select id, code, sent_at
    from message_part part
    where part.carrier_id = any (array[due.carrier_id]) and carrier = :carrier
  ) known
  where sent_at > now() - make_interval(secs => :withinSeconds)
  order by id desc
  limit 1
) named
join message on message.id = any (array[named.id])
where named.code = ${OUTCOME.unknown}
order by due.at, due.carrier_id`,
)
