import { openAccounts, type Account } from './accounts.ts'
import type { Database } from './postgres.ts'

/** Content of a database before a benchmark begins. */
export interface Filling {
  /**
   * Number of finished messages of the last 60 days, a multiple of 10,000: nine tenths in sends of 1000, the others in
   * single sends.
   */
  readonly history: number
  readonly accounts: number
  /** Number of suppressed numbers. A tenth of them apply to all accounts. */
  readonly suppressions: number
  /** Number of messages scheduled within the next 30 days, half of them single sends. */
  readonly scheduled: number
}

const perBlock = 10_000
const perPartition = 5_000_000
/** First index of the numbers in the history. The loads of a benchmark use other numbers. */
const historyNumbers = 40_000_000
const suppressedNumbers = 70_000_000

/**
 * SQL functions that return the n-th phone number, in the same form as the loads, and the account of an id. The first
 * account has a tenth of all messages. Each function is a single expression that PostgreSQL inlines, because otherwise
 * the function calls would take most of the time.
 */
const functions = `
create function benchmark_number(n bigint) returns bigint immutable parallel safe language sql as $$
  select 27000000000 + ('{82,83,84,72,73,74,76,78,79}'::bigint[])[1 + n * 7368787 % 72000000 / 8000000] * 10000000
    + n * 7368787 % 8000000 / 80 * 100 + n * 7368787 % 80 $$;
create function benchmark_single(id bigint) returns bool immutable parallel safe language sql as $$ select id / 10000 % 10 = 9 $$;
create function benchmark_first(id bigint) returns bigint immutable parallel safe language sql as $$
  select case when id / 10000 % 10 = 9 then id else id / 1000 * 1000 end $$;
create function benchmark_account(first bigint, accounts int) returns int immutable parallel safe language sql as $$
  select (case when first / 1000 % 10 = 0 then 1 else 1 + first * 7919 / 1000 % accounts end)::int $$;`

const body = 'Your parcel is on its way and will be with you on Wednesday.'

export interface Filled {
  readonly accounts: readonly Account[]
  /** Range of ids of the history; the end is exclusive. */
  readonly ids: readonly [number, number]
}

/**
 * Fills the empty tables of a database by set-based inserts: partitions, blocks of ids, sends, messages and balances.
 * All checks pass on the result. 20 million messages take some minutes.
 */
export async function fill(database: Database, filling: Filling): Promise<Filled> {
  const accounts = await openAccounts(database, filling.accounts)
  await database.query(functions)
  await database.query(`insert into carrier (name) values ('simulator') on conflict do nothing`)
  const ids = [perBlock, perBlock + filling.history] as const
  await fillHistory(database, filling, ids)
  await database.query(
    `insert into suppression (account_id, msisdn, kind, since)
    select case when g % 10 = 0 then 0 else 1 + g % $2::int end, benchmark_number($3::bigint + g), case when g % 10 = 0 then 3 else 1 end, now()
    from generate_series(1, $1::int) g`,
    [filling.suppressions, filling.accounts, suppressedNumbers],
  )
  await addScheduled(database, filling)
  await settleBalances(database)
  await database.query('vacuum analyze')
  return { accounts, ids }
}

/** Fills the history, two partitions at a time. Indexes are created after the rows. */
async function fillHistory(database: Database, { history, accounts }: Filling, [lo, hi]: readonly [number, number]) {
  const partitions = Array.from({ length: Math.floor((hi - 1) / perPartition) + 1 }, (_, k) => k)
  for (const k of partitions) await database.query(`drop table if exists send_p${k}, message_p${k}`)
  const each = async (start: number): Promise<void> => {
    for (const k of partitions.filter((partition) => partition % 2 === start)) {
      const from = Math.max(lo, k * perPartition)
      const to = Math.min(hi, (k + 1) * perPartition)
      await database.query(partitionSql({ k, from, to, hi, history, accounts }))
    }
  }
  await Promise.all([each(0), each(1)])
  for (const k of partitions) await database.query(attachSql(k))
  await takeBlocks(database, lo / perBlock, hi / perBlock)
}

interface Part {
  readonly k: number
  readonly from: number
  readonly to: number
  readonly hi: number
  readonly history: number
  readonly accounts: number
}

const partitionSql = ({ k, from, to, hi, history, accounts }: Part): string => `
set synchronous_commit = off; set maintenance_work_mem = '512MB'; set statement_timeout = 0;
create table message_p${k} (like message including defaults including constraints) with (fillfactor=45);
create table send_p${k} (like send including defaults including constraints including storage);
insert into message_p${k} (id, send_first_id, msisdn, sent_at, code_at, account_id, carrier, code, carrier_id)
  select id, first, benchmark_number(${historyNumbers} + id % 20000000), at, at + interval '3 s', benchmark_account(first, ${accounts}),
    (select id from carrier where name = 'simulator'), case when id % 20 = 0 then 103 else 0 end, 'h' || lpad(id::text, 15, '0')
  from (select id, benchmark_first(id) first, now() - interval '60 days' * ((${hi} - benchmark_first(id))::float8 / ${history}) as at
    from generate_series(${from}::bigint, ${to - 1}) id offset 0) x;
insert into send_p${k} (first_id, created_at, n, account_id, price, body, msisdns)
  select first, now() - interval '60 days' * ((${hi} - first)::float8 / ${history}), n, benchmark_account(first, ${accounts}), 10, '${body}',
    array(select benchmark_number(${historyNumbers} + i % 20000000) from generate_series(first, first + n - 1) i)
  from (select id first, case when benchmark_single(id) then 1 else 1000 end n from generate_series(${from}::bigint, ${to - 1}) id
    where benchmark_single(id) or id % 1000 = 0) x;
alter table message_p${k} add primary key (id), add constraint ids check (id >= ${k * perPartition} and id < ${(k + 1) * perPartition});
create index on message_p${k} (carrier_id);
create index on message_p${k} (msisdn);
alter table send_p${k} add primary key (first_id), add constraint ids check (first_id >= ${k * perPartition} and first_id < ${(k + 1) * perPartition});
reset synchronous_commit; reset maintenance_work_mem; reset statement_timeout`

const attachSql = (k: number): string => `
alter table message attach partition message_p${k} for values from (${k * perPartition}) to (${(k + 1) * perPartition});
alter table send attach partition send_p${k} for values from (${k * perPartition}) to (${(k + 1) * perPartition});
create trigger count_updated after update on message_p${k} referencing old table as before new table as after
  for each statement execute function count_outcomes();
insert into outcome_sum (account_id, day, carrier, code, messages)
  select account_id, gateway_day(sent_at), carrier, code, count(*) from message_p${k} group by 1, 2, 3, 4
  on conflict (account_id, day, carrier, code) do update set messages = outcome_sum.messages + excluded.messages`

/**
 * Marks blocks of ids as used, so that processes lease only later blocks, and adds the partitions of these later
 * blocks.
 */
async function takeBlocks(database: Database, from: number, to: number): Promise<void> {
  await database.query(`insert into id_lease (block) select generate_series($1::int, $2::int - 1)`, [from, to])
  await database.query(`select setval('id_block', $1::bigint - 1)`, [to])
  await addPartitions(database, to)
}

/**
 * Leases consecutive blocks for this number of ids and returns the first id. Processes may lease other blocks
 * meanwhile.
 */
async function nextIds(database: Database, count: number): Promise<number> {
  const blocks = Math.ceil(count / perBlock)
  const [row] = await database.query<{ first: string; last: string }>(
    `with b as (insert into id_lease (block) select nextval('id_block') from generate_series(1, $1::int) returning block)
    select min(block) first, max(block) last from b`,
    [blocks],
  )
  const [first, last] = [Number(row?.first), Number(row?.last)]
  if (last - first + 1 !== blocks) throw new Error('another process leased ids in between')
  await addPartitions(database, last + 1)
  return first * perBlock
}

/** Adds the partitions of the block and of the next two. */
async function addPartitions(database: Database, block: number): Promise<void> {
  await database.query(
    `select add_partition(k) from generate_series($1::bigint, $1::bigint + 2) k where to_regclass('send_p' || k) is null`,
    [Math.floor((block * perBlock) / perPartition)],
  )
}

const sendOf = (first: string, n: string, account: string, scheduled: string): string =>
  `insert into send (first_id, scheduled_at, n, account_id, price, body, msisdns)
  select ${first}, ${scheduled}, ${n}, ${account}, 10, '${body}', array(select benchmark_number(${historyNumbers} + i % 20000000) from generate_series(first, first + n - 1) i)`

async function addScheduled(database: Database, { scheduled, accounts }: Filling): Promise<void> {
  const ids = await nextIds(database, scheduled)
  await database.query(
    `with x as (
      select first, n, 1 + (first / n * 7919 % $3::int)::int account, date_trunc('minute', now()) + interval '1 day' + make_interval(mins => (first / n % 40000)::int) as at
      from (select g first, 1 n from generate_series($1::bigint, $1::bigint + $2::bigint / 2 - 1) g
        union all select g, 1000 from generate_series(($1::bigint + $2::bigint / 2 + 999) / 1000 * 1000, $1::bigint + $2::bigint - 1000, 1000) g) y
    ), s as (${sendOf('first', 'n', 'account', 'at')} from x)
    insert into later (lane, account_id, lo, hi, first_id, due_at, at)
    select case when n <= 10 then 0 else 1 end, account, first, first + n, first, at, at from x`,
    [ids, scheduled, accounts],
  )
  await database.query(
    `with counted as (
      insert into scheduled_block (account_id, due_at, block, n)
      select account_id, due_at, lo / 1000, sum(hi - lo) from later where attempt = 0 group by 1, 2, 3
    )
    insert into scheduled_hour (account_id, hour, n)
    select account_id, date_bin('1 hour', due_at, 'epoch'), sum(hi - lo) from later where attempt = 0 group by 1, 2`,
  )
}

/** Adds due messages, in sends of 1000 from up to 1000 accounts. */
export async function addBacklog(database: Database, messages: number, accounts: number): Promise<void> {
  const ids = await nextIds(database, messages)
  await database.query(
    `with x as (
      select g first, 1000 n, 1 + (g / 1000 * 7919 % least($3::int, 1000))::int account
      from generate_series($1::bigint, $1::bigint + $2::bigint - 1000, 1000) g
    ), s as (${sendOf('first', 'n', 'account', 'null')} from x)
    insert into due (lane, account_id, lo, hi, first_id) select 1, account, first, first + n, first from x`,
    [ids, messages, accounts],
  )
  await settleBalances(database)
  await database.query('vacuum analyze due')
}

/** Sets the balance of each account to its grants less the cost of its sends. */
async function settleBalances(database: Database): Promise<void> {
  await database.query(
    `update account a set balance = l.total - coalesce(s.total, 0)
    from (select account_id, sum(amount) total from ledger group by 1) l
    left join (select account_id, sum(n::bigint * price) total from send group by 1) s using (account_id)
    where l.account_id = a.id and a.balance <> l.total - coalesce(s.total, 0)`,
  )
  await database.query('vacuum analyze account')
}
