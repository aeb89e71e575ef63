import { dailySumDays } from '@gateway/core/messages'
import type { GatewayDay } from '@gateway/core/time'
import { accountId, carrierId, outcomeCode } from './columns.ts'
import { column, nullable, sql, statement } from './statement.ts'

const gatewayDay = column<GatewayDay>('int')

// Run these statements on the ordinary connections (`pools.ordinary`). The trigger `count_outcomes` writes the changes.

/**
 * Returns SQL for the rows that match the condition, from the sums and from the changes that are not yet added to the
 * sums.
 */
const sumsWhere = (condition: string): string => `(
  select account_id, day, carrier, code, messages from outcome_sum where ${condition}
  union all
  select account_id, day, carrier, code, change from outcome_change where ${condition}
) sums`

/** Name of a carrier; null for carrier 0, which has no name and stands for no carrier. */
const carrierName = `nullif(carrier.name, '') "carrier"`
const withName = 'join carrier on carrier.id = sums.carrier'

export const dailySumsOfAccount = statement(
  'daily-sums-of-account',
  {
    parameters: { account: 'int', from: 'int' },
    columns: { day: gatewayDay, carrier: nullable(carrierId), code: outcomeCode, messages: 'bigint' },
  },
  sql`
select day, ${carrierName}, code, sum(messages)::bigint messages
from ${sumsWhere('account_id = :account and day >= :from')}
${withName}
group by day, carrier.name, code
having sum(messages) <> 0
order by day, carrier.name collate "C", code`,
)

export const dailySumsByCarrier = statement(
  'daily-sums-by-carrier',
  {
    parameters: { from: 'int' },
    columns: { carrier: nullable(carrierId), code: outcomeCode, messages: 'bigint' },
  },
  sql`
select ${carrierName}, code, sum(messages)::bigint messages
from ${sumsWhere('day >= :from')}
${withName}
group by carrier.name, code
having sum(messages) <> 0
order by carrier.name collate "C", code`,
)

export const busiestAccounts = statement(
  'busiest-accounts',
  { parameters: { from: 'int', limit: 'int' }, columns: { account: accountId, messages: 'bigint' } },
  sql`
select account_id account, sum(messages)::bigint messages
from ${sumsWhere('day >= :from')}
group by account_id
having sum(messages) <> 0
order by 2 desc, 1
limit :limit`,
)

/**
 * Adds at most `changesMax` changes to the sums and deletes sums that are too old. Skips changes that a concurrent call
 * has locked, and writes sums in one order, so that two calls cannot deadlock.
 */
export const foldDailySums = statement(
  'fold-daily-sums',
  { parameters: { changesMax: 'int' }, columns: { folded: 'int' } },
  sql`
with picked as materialized (
  select ctid place from outcome_change limit :changesMax for update skip locked
), taken as (
  delete from outcome_change
  where ctid = any (array(select place from picked))
  returning account_id, day, carrier, code, change
), added as (
  insert into outcome_sum (account_id, day, carrier, code, messages)
  select account_id, day, carrier, code, sum(change)
  from taken
  group by account_id, day, carrier, code
  having sum(change) <> 0
  order by account_id, day, carrier, code
  on conflict (account_id, day, carrier, code) do update set messages = outcome_sum.messages + excluded.messages
), forgotten as (
  delete from outcome_sum where day < gateway_day(now()) - ${dailySumDays.kept}
)
select count(*)::int folded from taken`,
)

/** Compares the sums with the messages since the day `from`. Reads every one of these messages. */
export const checkDailySums = statement(
  'check-daily-sums',
  {
    parameters: { from: 'int' },
    columns: { account: accountId, day: gatewayDay, code: outcomeCode, sum: 'bigint', counted: 'bigint' },
  },
  sql`
select account_id account, day, code, sum(messages)::bigint "sum", sum(counted)::bigint counted
from (
  select account_id, day, carrier, code, messages, 0 counted from ${sumsWhere('day >= :from')}
  union all
  select account_id, gateway_day(sent_at), carrier, code, 0, 1 from message
  where sent_at >= to_timestamp((:from - 1) * 86400.0) and gateway_day(sent_at) >= :from and not confirms_opt_out
) compared
group by account_id, day, carrier, code
having sum(messages) <> sum(counted)
order by account_id, day, code
limit 100`,
)
