import { OUTCOME } from '@gateway/core/messages'
import { erasedNumber } from '@gateway/core/personal-data'
import { carrierOptOutText } from '@gateway/core/suppressions'
import { EVENT_CODE, SUPPRESSION } from '../stored-codes.ts'
import { wants } from './store-events.ts'

/**
 * Three CTEs that record the opt-outs of those rows of the CTE `changed` (id, account_id, msisdn, code of messages)
 * that ended because their number has opted out at the carrier (212, ruling 6.2), with their events. A number that has
 * opted out already does not change. The messages and the opt-outs are grouped together, because a join of two CTEs
 * compares each row with each row. The event has the id of the message as its `send_first_id`. Writes in the order of
 * accounts and numbers, so that two statements cannot deadlock.
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
  select account_id, msisdn, now(), '${carrierOptOutText}', max(id)
  from (
    select account_id, msisdn, id, false as is_new from ${changed} where code = ${OUTCOME.optedOut}
    union all
    select account_id, msisdn, null, true from opted_out
  ) candidates
  group by account_id, msisdn
  having bool_or(is_new)
  order by account_id, msisdn
  on conflict (account_id, msisdn) do update
  set since = excluded.since, inbound_message_id = null, text = excluded.text, answers = excluded.answers
  returning account_id, msisdn, answers
), opt_out_events as (
  insert into webhook_event (webhook_id, type, sequence, at, send_first_id, subjects, msisdns, text)
  select endpoint.id, ${EVENT_CODE['optout.added']}, 1, now(), answers, array[0]::bigint[], array[msisdn],
    '${carrierOptOutText}'
  from opt_out_replies
  cross join lateral (
    select id from webhook where account_id = opt_out_replies.account_id and ${wants(EVENT_CODE['optout.added'])}
    offset 0
  ) endpoint
)`
