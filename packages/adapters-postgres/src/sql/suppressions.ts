import type { InboundMessageId } from '@gateway/core/inbox'
import type { MessageId } from '@gateway/core/messages'
import { EVENT_CODE, SUPPRESSION } from '../stored-codes.ts'
import { milliseconds } from './arrays.ts'
import { wakeIdle } from './idle-dispatchers.ts'
import { column, sql, statement } from './statement.ts'
import { storeEvent } from './store-events.ts'

/**
 * Returns the suppressions that apply to pairs of account and number. `place` is the position of the pair, counted from
 * 1. If neither these accounts nor the whole gateway have suppressed numbers, no pair is looked up. The statement then
 * takes 0.07 µs a pair instead of 1 µs.
 */
export const matchingSuppressions = statement(
  'matching-suppressions',
  { parameters: { accounts: 'int[]', numbers: 'bigint[]' }, columns: { place: 'bigint', kind: 'smallint' } },
  sql`
select asked.place, holding.kind
from unnest(:accounts, :numbers) with ordinality asked(account, number, place)
cross join lateral (
  select kind
  from suppression
  where account_id in (asked.account, 0) and msisdn = asked.number offset 0
) holding
where (
  select exists (select from suppression where account_id = 0)
    or exists (select from suppression where account_id = any (:accounts))
)`,
)

/**
 * Removes the suppression of a number, and returns a row if it existed. Also deletes the reply by which the number
 * opted out, because the reply is kept only as long as the opt-out. Runs on the ordinary connections.
 */
export const removeSuppression = statement(
  'remove-suppression',
  { parameters: { account: 'int', number: 'bigint', kind: 'smallint' }, columns: { kind: 'smallint' } },
  sql`
with changed as (
  delete from suppression
  where account_id = :account and msisdn = :number and kind = :kind
  returning account_id, msisdn, kind
), replies as (
  delete from opt_out_reply
  where account_id = :account and msisdn = :number and :kind = ${SUPPRESSION['opt-out']}
), events as (${storeEvent(EVENT_CODE['optout.removed'], {
    account: 'changed.account_id',
    subject: '0',
    number: 'changed.msisdn',
    from: ` cross join (select * from changed where kind = ${SUPPRESSION['opt-out']}) changed`,
  })} returning 1)
select kind, case when exists (select from events) then ${wakeIdle} end as woken
from changed`,
)

/**
 * Adds suppressions of a kind to the scope `account` (0 is the whole gateway). Each has a time and, for an opt-out, the
 * text of the reply or null. Ignores numbers that are suppressed already, and all but the first entry of a number.
 * Returns how many suppressions were added. Writes in the order of the numbers, so that two calls cannot deadlock. Runs
 * on the ordinary connections.
 *
 * Cost of a number, with 5000 numbers a statement: 5.1 µs and 305 bytes of log without a text, 7.5 µs and 525 bytes
 * with a text, and 2.4 to 2.8 µs if the number is suppressed already.
 */
export const addSuppressions = statement(
  'add-suppressions',
  {
    parameters: { account: 'int', kind: 'smallint', numbers: 'bigint[]', since: 'timestamptz[]', texts: 'text?[]' },
    columns: { added: 'int' },
  },
  sql`
with given as materialized (
  select distinct on (msisdn) *
  from unnest(:numbers, :since, :texts) with ordinality entry(msisdn, since, text, place)
  order by msisdn, place
), added as (
  insert into suppression (account_id, msisdn, kind, since)
  select :account, msisdn, :kind, since
  from given
  order by msisdn
  on conflict do nothing
  returning msisdn
), replies as (
  insert into opt_out_reply (account_id, msisdn, since, text)
  select :account, msisdn, since, text
  from given
  where text is not null and msisdn in (select msisdn from added)
  order by msisdn
  on conflict (account_id, msisdn) do update
  set since = excluded.since, inbound_message_id = null, text = excluded.text, answers = null
), old_replies as (
  delete from opt_out_reply reply
  using given, added
  where given.text is null and added.msisdn = given.msisdn and :kind = ${SUPPRESSION['opt-out']}
    and reply.account_id = :account and reply.msisdn = given.msisdn
), events as (${storeEvent(EVENT_CODE['optout.added'], {
    account: ':account',
    subject: '0',
    number: 'changed.msisdn',
    text: 'changed.text',
    from: ' cross join (select msisdn, text from added join given using (msisdn)) changed',
  })} and :kind = ${SUPPRESSION['opt-out']}
  returning 1
)
select count(*)::int as added, case when exists (select from events) then ${wakeIdle} end as woken
from added`,
)

/** Reply by which a number opted out: the inbound message, its text and the message that it answered. */
export type StoredReply = readonly [id: InboundMessageId | null, text: string, answers: MessageId | null]

/**
 * Lists at most `limit` opt-outs of the account after the number `after`, in the order of numbers as text. Returns them
 * in one row, because with a row for each, half a million opt-outs made 50 MB of objects and the process grew by 75 MB.
 * Replies are looked up one by one, because a join could read all replies of the account in each call. Runs on the
 * ordinary connections.
 *
 * `numbers` and `since` (milliseconds) hold values separated by commas; both are null if no opt-out is left. A number
 * that was added by hand has the reply null.
 */
export const listOptOuts = statement(
  'list-opt-outs',
  {
    parameters: { account: 'int', after: 'text', limit: 'int' },
    joined: { numbers: 'text', since: 'text', replies: column<readonly (StoredReply | null)[]>('json') },
  },
  sql`
with listed as (
  select msisdn, since, (msisdn::text) collate "C" as number
  from suppression
  where account_id = :account and kind = ${SUPPRESSION['opt-out']} and (msisdn::text) collate "C" > :after
  order by (msisdn::text) collate "C"
  limit :limit
)
select string_agg(listed.number, ',' order by listed.number) as numbers,
  string_agg(${milliseconds('listed.since')}::text, ',' order by listed.number) as since,
  json_agg(
    case when reply.text is not null then json_build_array(reply.inbound_message_id, reply.text, reply.answers) end
    order by listed.number
  ) as replies
from listed
left join lateral (
  select *
  from opt_out_reply
  where account_id = :account and msisdn = listed.msisdn and since = listed.since
  limit 1
) reply on true`,
)
