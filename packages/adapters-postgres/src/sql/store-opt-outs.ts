import { OUTCOME } from '@gateway/core/messages'
import { erasedNumber } from '@gateway/core/personal-data'
import { carrierOptOutText } from '@gateway/core/suppressions'
import { EVENT_CODE, SUPPRESSION } from '../stored-codes.ts'
import { storeEvent } from './store-events.ts'

/**
 * Three CTEs that record the opt-outs of those rows of the CTE `changed` (id, account_id, msisdn, code of messages)
 * that ended because their number has opted out at the carrier (212, ruling 6.2), with their events. A number that has
 * opted out already does not change. Writes in the order of accounts and numbers, so that two statements cannot
 * deadlock.
 */
export const storeOptOuts = (changed: string): string => `
opted_out as (
  insert into suppression (account_id, msisdn, kind, since)
  select account_id, msisdn, ${SUPPRESSION['opt-out']}, now()
  from ${changed}
  where code = ${OUTCOME.optedOut} and msisdn <> ${erasedNumber}
  group by account_id, msisdn
  order by account_id, msisdn
  on conflict do nothing
  returning account_id, msisdn
), opt_out_replies as (
  insert into opt_out_reply (account_id, msisdn, since, text, answers)
  select account_id, msisdn, now(), '${carrierOptOutText}', max(${changed}.id)
  from opted_out
  join ${changed} using (account_id, msisdn)
  where ${changed}.code = ${OUTCOME.optedOut}
  group by account_id, msisdn
  order by account_id, msisdn
  on conflict (account_id, msisdn) do update
  set since = excluded.since, inbound_message_id = null, text = excluded.text, answers = excluded.answers
), opt_out_events as (${storeEvent(EVENT_CODE['optout.added'], {
  account: 'opted_out.account_id',
  subject: '0',
  number: 'opted_out.msisdn',
  text: `'${carrierOptOutText}'`,
  from: ' cross join opted_out',
})})`
