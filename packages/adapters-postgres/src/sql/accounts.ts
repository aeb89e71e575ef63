import { burstSeconds } from '@gateway/core/accounts'
import { rows, sql, statement } from './statement.ts'

export interface AccountRow {
  readonly id: number
  readonly parent_id: number | null
  readonly login: string
  readonly first_name: string
  readonly surname: string
  readonly locked: boolean
  readonly own_number: number | null
  readonly transactional: boolean
  readonly from_networks: readonly string[]
  readonly requests_per_second: number | null
  readonly recipients_per_second: number | null
  readonly codes: readonly string[]
}

const columns = sql`account.id, account.parent_id, account.locked,
  directory.login, directory.first_name, directory.surname, directory.own_number, directory.transactional,
  directory.from_networks, directory.requests_per_second, directory.recipients_per_second,
  array(select address from sender where account_id = account.id order by assigned_at, id) as codes`

const columnTypes = {
  id: 'int',
  parent_id: 'int',
  locked: 'bool',
  login: 'text',
  first_name: 'text',
  surname: 'text',
  own_number: 'bigint',
  transactional: 'bool',
  from_networks: 'text[]',
  requests_per_second: 'int',
  recipients_per_second: 'int',
  codes: 'text[]',
} as const

interface KeyRow extends AccountRow {
  readonly expires_at: number | null
  readonly revoked_at: number | null
  readonly key_networks: readonly string[]
}

interface LoginRow extends AccountRow {
  readonly password_hash: string | null
}

const account = (id: string) =>
  sql`cross join lateral (select id, parent_id, locked from account where id = ${id} offset 0) account`

/**
 * The account whose key has the digest `hash`. On the hot connections: where a thousand accounts send less often than
 * what is remembered lasts, every request looks its key up, and planning that anew each time took the server 380 µs,
 * more than the send itself. Prepared it takes 90 to 150.
 */
export const findKey = statement(
  'find-key',
  {
    parameters: { hash: 'text' },
    columns: rows<KeyRow>({
      ...columnTypes,
      expires_at: 'timestamptz',
      revoked_at: 'timestamptz',
      key_networks: 'text[]',
    }),
  },
  sql`
select ${columns}, api_key.expires_at, api_key.revoked_at, api_key.key_networks
from api_key
${account('api_key.account_id')}
cross join lateral (select * from directory where account_id = api_key.account_id offset 0) directory
where api_key.hash = :hash`,
)

/** The account of a user name, which is ASCII and in small letters, with the hash of its password. */
export const findLogin = statement(
  'find-login',
  { parameters: { login: 'text' }, columns: rows<LoginRow>({ ...columnTypes, password_hash: 'text' }) },
  sql`
select ${columns}, directory.password_hash
from directory
${account('directory.account_id')}
where lower(directory.login collate "C") = :login`,
)

export interface AccountBalance {
  readonly balance: number
  readonly locked: boolean
}

/** What the account has at this moment. */
export const readAccount = statement(
  'read-account',
  { parameters: { account: 'int' }, columns: rows<AccountBalance>({ balance: 'bigint', locked: 'bool' }) },
  sql`select balance, locked from account where id = :account`,
)

/** The same, and nobody changes it until the transaction ends. */
export const lockAccount = statement(
  'lock-account',
  { parameters: { account: 'int' }, columns: rows<AccountBalance>({ balance: 'bigint', locked: 'bool' }) },
  sql`select balance, locked from account where id = :account for update`,
)

/** Those of the accounts that there are. */
export const readBalances = statement(
  'read-balances',
  { parameters: { accounts: 'int[]' }, columns: { id: 'int', balance: 'bigint' } },
  sql`select id, balance from account where id = any (:accounts)`,
)

/**
 * Takes `count` of what the account may have `perSecond` of a second, requests or recipients (`what`), if `useRate`
 * lets it; else the seconds until it would. A test proves over generated cases that both have one rule. Never
 * run again: it may have been taken.
 *
 * The table is unlogged, so the commit waits for no disk: 44 µs to the answer, where `select 1` takes 32.
 */
export const takeRate = statement(
  'take-rate',
  {
    parameters: { account: 'int', what: 'smallint', count: 'float8', perSecond: 'float8' },
    columns: { wait: 'float8?' },
  },
  sql`
with wanted as (
  select :account account_id, :what what, make_interval(secs => :count / :perSecond) cost,
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
 * A process tells that the accounts have so many requests and messages a second, and no others. Forgets processes
 * that told over a minute ago, those apart that another call is at. On an unlogged table with a row for each process:
 * its commit waits for no disk.
 */
export const tellAccountRates = statement(
  'tell-account-rates',
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

export interface AccountRateRow {
  readonly account: number
  readonly requests: number
  readonly messages: number
}

/** The sums of what was told in the last `seconds`. For the ordinary connections. */
export const listAccountRates = statement(
  'list-account-rates',
  {
    parameters: { seconds: 'float8' },
    columns: rows<AccountRateRow>({ account: 'int', requests: 'float8', messages: 'float8' }),
  },
  sql`
select account, sum(told.requests) requests, sum(told.messages) messages
from account_rates, unnest(accounts, account_rates.requests, account_rates.messages) told(account, requests, messages)
where told_at > now() - make_interval(secs => :seconds)
group by account
order by 2 desc, 3 desc, account`,
)

/** Of so many of the oldest failures those go that count no more: more than come with one. */
const goneMax = 20

/**
 * A log-in failed of a user or network. It counts for `seconds`, unless `failuresMax` failures count already. Returns
 * how many counted before, `failuresMax` at most, and when the first of these ends. The key that is stored is made with
 * the secret of the deployment. Not to be run again.
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
