import { burstSeconds } from '@gateway/core/accounts'
import type { CallingCode, SenderAddress } from '@gateway/core/messages'
import type { PasswordHash } from '@gateway/core/people'
import { accountId, credits, msisdn } from './columns.ts'
import { column, nullable, sql, statement, type RowOf } from './statement.ts'

const columns = sql`account.id, account.parent_id, account.locked,
  directory.login, directory.first_name, directory.surname, directory.own_number::text, directory.transactional,
  directory.from_networks, directory.requests_per_second, directory.recipients_per_second, directory.calling_code,
  array(select address from sender where account_id = account.id order by assigned_at, id) as codes`

const columnTypes = {
  id: accountId,
  parent_id: nullable(accountId),
  locked: 'bool',
  login: 'text',
  first_name: 'text',
  surname: 'text',
  own_number: nullable(msisdn),
  transactional: 'bool',
  from_networks: 'text[]',
  requests_per_second: 'int?',
  recipients_per_second: 'int?',
  calling_code: nullable(column<CallingCode>('text')),
  codes: column<readonly SenderAddress[]>('text[]'),
} as const

const account = (id: string) =>
  sql`cross join lateral (select id, parent_id, locked from account where id = ${id} offset 0) account`

/**
 * Finds the account whose API key has the digest `hash`. For the hot connections: when a thousand accounts each send so
 * rarely that their cached keys expire, every request looks up its key. Planning the query each time took the server
 * 380 µs, more than the send itself; prepared, it takes 90 to 150 µs.
 */
export const findKey = statement(
  'find-key',
  {
    parameters: { hash: 'text' },
    columns: {
      ...columnTypes,
      expires_at: 'timestamptz?',
      revoked_at: 'timestamptz?',
      key_networks: 'text[]',
    },
  },
  sql`
select ${columns}, api_key.expires_at, api_key.revoked_at, api_key.key_networks
from api_key
${account('api_key.account_id')}
cross join lateral (select * from directory where account_id = api_key.account_id offset 0) directory
where api_key.hash = :hash`,
)

/** Finds the account of a log-in name in lower-case ASCII, with the hash of its password. */
export const findLogin = statement(
  'find-login',
  { parameters: { login: 'text' }, columns: { ...columnTypes, password_hash: nullable(column<PasswordHash>('text')) } },
  sql`
select ${columns}, directory.password_hash
from directory
${account('directory.account_id')}
where lower(directory.login collate "C") = :login`,
)

export type AccountRow = Omit<RowOf<typeof findLogin>, 'password_hash'>
export type AccountBalance = RowOf<typeof readAccount>

/** Reads the balance of an account and whether the account is locked. */
export const readAccount = statement(
  'read-account',
  { parameters: { account: 'int' }, columns: { balance: credits, locked: 'bool' } },
  sql`select balance, locked from account where id = :account`,
)

/** Reads the same as `readAccount`, and locks the row until the transaction ends. */
export const lockAccount = statement(
  'lock-account',
  { parameters: { account: 'int' }, columns: { balance: credits, locked: 'bool' } },
  sql`select balance, locked from account where id = :account for update`,
)

/** Reads the balances of those accounts that exist. */
export const readBalances = statement(
  'read-balances',
  { parameters: { accounts: 'int[]' }, columns: { id: accountId, balance: credits } },
  sql`select id, balance from account where id = any (:accounts)`,
)

/**
 * Consumes `count` units of an account's rate limit of `perSecond` units a second, if core's `useRate` allows it;
 * otherwise returns the seconds until it would. `unit` is the code of requests or recipients. A test compares this
 * statement with `useRate` over generated cases. Must not be run again, because the units may have been consumed.
 *
 * The table is unlogged, so the commit does not wait for the disk: the statement takes 44 µs where `select 1` takes 32.
 */
export const takeRate = statement(
  'take-rate',
  {
    parameters: { account: 'int', unit: 'smallint', count: 'float8', perSecond: 'float8' },
    columns: { wait: 'float8?' },
  },
  sql`
with wanted as (
  select :account account_id, :unit what, make_interval(secs => :count / :perSecond) cost,
    make_interval(secs => ${burstSeconds}) burst
), taken as (
  insert into rate_use as used (account_id, what, paid_off)
  select account_id, what, now() - burst + cost from wanted
  on conflict (account_id, what) do update
  set paid_off = greatest(used.paid_off, now() - make_interval(secs => ${burstSeconds}))
    + make_interval(secs => :count / :perSecond)
  where greatest(used.paid_off, now() - make_interval(secs => ${burstSeconds}))
    + least(make_interval(secs => :count / :perSecond), make_interval(secs => ${burstSeconds})) <= now()
  returning account_id
)
select case when not exists (select from taken) then
  (select extract(epoch from used.paid_off + least(cost, burst) - now())
    from wanted join rate_use used using (account_id, what))
end::float8 as wait`,
)

/**
 * Replaces the rates that a process reports: requests and messages a second of each account. Deletes reports of other
 * processes older than a minute, except rows that another call has locked. The table is unlogged and has one row for
 * each process, so the commit does not wait for the disk.
 */
export const reportAccountRates = statement(
  'report-account-rates',
  { parameters: { process: 'uuid', accounts: 'int[]', requests: 'float8[]', messages: 'float8[]' } },
  sql`
with old as materialized (
  select ctid from account_rates
  where told_at < now() - interval '1 minute' and process <> :process
  for update skip locked
), forgotten as (
  delete from account_rates where ctid = any (array(select ctid from old))
)
insert into account_rates (process, told_at, accounts, requests, messages)
values (:process, now(), :accounts, :requests, :messages)
on conflict (process) do update
set told_at = excluded.told_at, accounts = excluded.accounts, requests = excluded.requests,
  messages = excluded.messages`,
)

/** Sums the rates that processes reported in the last `seconds`, by account. Runs on the ordinary connections. */
export const listAccountRates = statement(
  'list-account-rates',
  {
    parameters: { seconds: 'float8' },
    columns: { account: accountId, requests: 'float8', messages: 'float8' },
  },
  sql`
select account, sum(told.requests) requests, sum(told.messages) messages
from account_rates, unnest(accounts, account_rates.requests, account_rates.messages) told(account, requests, messages)
where told_at > now() - make_interval(secs => :seconds)
group by account
order by 2 desc, 3 desc, account`,
)

/**
 * Maximum number of expired failures that are deleted with each new failure. One log-in adds fewer failures than this,
 * so that the table does not grow.
 */
const goneMax = 20

/**
 * Counts a failed log-in of a user or network for `seconds`, unless `failuresMax` failures count already. Returns how
 * many counted before, at most `failuresMax`, and the seconds until the first of these stops counting. The key is
 * stored as a digest made with the secret of the deployment. Must not be run again.
 */
export const countLoginFailure = statement(
  'count-login-failure',
  {
    parameters: { key: 'text', failuresMax: 'int', seconds: 'float8' },
    columns: { earlier: 'int', seconds: 'float8?' },
  },
  sql`
with asked as (
  select substr(sha256(secret || convert_to(:key, 'UTF8')), 1, 16) as key from login_secret
), earlier as materialized (
  select latest.until
  from asked
  cross join lateral (
    select until from login_failure
    where key = asked.key and until > now()
    order by until desc limit :failuresMax
  ) latest
), counted as (
  insert into login_failure (key, counted_by, failures, until)
  select key, '00000000-0000-0000-0000-000000000000', 1, now() + make_interval(secs => :seconds) from asked
  where (select count(*) from earlier) < :failuresMax
), oldest as materialized (
  select ctid, until from login_failure where id > 0 order by id limit ${goneMax} for update skip locked
), gone as (
  delete from login_failure where ctid = any (array(select ctid from oldest where until < now()))
)
select count(*)::int as earlier, extract(epoch from min(until) - now())::float8 as seconds from earlier`,
)
