import { EVENT_CODE, SUPPRESSION } from '../stored-codes.ts'
import { wakeIdle } from './idle-dispatchers.ts'
import type { PreparedStatement } from './prepared-statement.ts'
import { storeEvent } from './store-events.ts'

const optOutChanged = {
  account: 'changed.account_id',
  subject: '0',
  number: 'changed.msisdn',
  from: ` cross join (select * from changed where kind = ${SUPPRESSION['opt-out']}) changed`,
}

/** Adds to scope $1 number $2 of kind $3, since $4; one row if it was not there. For the ordinary connections. */
export const addSuppression: PreparedStatement<{ kind: number }> = {
  name: 'add-suppression',
  text: `
with changed as (
  insert into suppression (account_id, msisdn, kind, since)
  values ($1::int, $2::bigint, $3::smallint, $4::timestamptz)
  on conflict do nothing
  returning account_id, msisdn, kind
), events as (${storeEvent(EVENT_CODE['optout.added'], optOutChanged)} returning 1)
select kind, case when exists (select from events) then ${wakeIdle} end as woken
from changed`,
}

/**
 * Removes it; one row if it was there. The reply that made an opt-out holds for its moment only: what an entry that is gone was made by is
 * nobody's business. For the ordinary connections.
 */
export const removeSuppression: PreparedStatement<{ kind: number }> = {
  name: 'remove-suppression',
  text: `
with changed as (
  delete from suppression
  where account_id = $1::int and msisdn = $2::bigint and kind = $3::smallint
  returning account_id, msisdn, kind
), replies as (
  delete from opt_out_reply
  where account_id = $1::int and msisdn = $2::bigint and $3::smallint = ${SUPPRESSION['opt-out']}
), events as (${storeEvent(EVENT_CODE['optout.removed'], optOutChanged)} returning 1)
select kind, case when exists (select from events) then ${wakeIdle} end as woken
from changed`,
}
