import type { PreparedStatement } from './prepared-statement.ts'

/**
 * Process $1 tells that the accounts $2 have $3 requests and $4 messages a second, and no others. Forgets processes that told over a minute ago,
 * those apart that another call is at. On an unlogged table with a row for each process: its commit waits for no disk.
 */
export const tellAccountRates: PreparedStatement<never> = {
  name: 'tell-account-rates',
  text: `
with old as materialized (
  select ctid from account_rates where told_at < now() - interval '1 minute' and process <> $1::uuid for update skip locked
), forgotten as (
  delete from account_rates where ctid = any (array(select ctid from old))
)
insert into account_rates (process, told_at, accounts, requests, messages) values ($1::uuid, now(), $2::int[], $3::float8[], $4::float8[])
on conflict (process) do update
set told_at = excluded.told_at, accounts = excluded.accounts, requests = excluded.requests, messages = excluded.messages`,
}

export interface AccountRateRow {
  readonly account: number
  readonly requests: number
  readonly messages: number
}

/** The sums of what was told in the last $1 seconds. For the ordinary connections. */
export const listAccountRates: PreparedStatement<AccountRateRow> = {
  name: 'list-account-rates',
  text: `
select account, sum(told.requests) requests, sum(told.messages) messages
from account_rates, unnest(accounts, account_rates.requests, account_rates.messages) told(account, requests, messages)
where told_at > now() - make_interval(secs => $1)
group by account
order by 2 desc, 3 desc, account`,
}
