import { INCIDENT, OUTCOME } from '@gateway/core/messages'
import { erasedNumber } from '@gateway/core/personal-data'
import { rangeColumns } from './claim.ts'
import { sql, statement } from './statement.ts'

/** Locks the choice of repetitions until the transaction ends, so that two callers get different messages. */
export const lockRepetitions = statement(
  'lock-repetitions',
  { parameters: {} },
  sql`select pg_advisory_xact_lock('incident'::regclass::oid::bigint)`,
)

/**
 * Chooses messages of unknown outcome to repeat and records the repetitions, in the transaction of `lockRepetitions`.
 * Reads the unknown outcomes of the time by the index `incident_unknown`. Runs on the ordinary connections.
 */
export const takeRepeatable = statement(
  'take-repeatable',
  {
    parameters: { carrier: 'smallint', withinSeconds: 'float8', afterSeconds: 'float8', countMax: 'int' },
    columns: rangeColumns,
  },
  sql`
with doubtful as materialized (
  select message_id, max(at) at
  from incident
  where what in ('${INCIDENT.recovered}', '${INCIDENT.unknown}') and at > now() - make_interval(secs => :withinSeconds)
  group by message_id
), waited as materialized (
  select message_id
  from doubtful
  cross join lateral (
    select max(at) last from incident where message_id = doubtful.message_id and what = '${INCIDENT.repeated}'
  ) repeated
  where at <= now() - make_interval(secs => :afterSeconds)
    and (last is null or now() - last >= greatest(make_interval(secs => :afterSeconds), last - at))
), chosen as materialized (
  select message.*, send.*, coalesce(scheduled_at, created_at) due_at
  from waited
  cross join lateral (
    select id, send_first_id, msisdn
    from message
    where id = any (array[waited.message_id]) and message.carrier = :carrier and code = ${OUTCOME.unknown}
      and (carrier_id || '') is null and msisdn <> ${erasedNumber} offset 0
  ) message
  cross join lateral (
    select first_id, account_id, created_at, scheduled_at, expires_at, priority, flash, options, sender,
      confirms_opt_out, body, parts
    from send
    where first_id = message.send_first_id offset 0
  ) send
  where coalesce(scheduled_at, created_at) > now() - make_interval(secs => :withinSeconds)
  order by due_at, id
  limit :countMax
), repeated as (
  insert into incident (message_id, what, carrier) select id, '${INCIDENT.repeated}', :carrier from chosen
)
select id lo, first_id as send, account_id account, 1::smallint attempt, due_at due, expires_at expires, priority, flash,
  options, sender, confirms_opt_out as "confirmsOptOut", body, parts, array[msisdn]::text numbers, account.locked, (
    select array_agg(array[1, kind::int])
    from suppression
    where suppression.account_id in (0, chosen.account_id) and msisdn = chosen.msisdn
  ) suppressed
from chosen
cross join lateral (select locked from account where account.id = chosen.account_id offset 0) account
order by due_at, id`,
)
