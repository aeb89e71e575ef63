import { createReadStream } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { countIds, type IdRanges } from '../loads/id-ranges.ts'
import type { Database } from './postgres.ts'
import type { BenchmarkEnvironment } from './environment.ts'

/**
 * Checks the results of a benchmark that sends: no id is lost or duplicated, each message is delivered once, every
 * balance is exact.
 */
export async function checkEnvironment(environment: BenchmarkEnvironment): Promise<void> {
  const { database, accepted } = environment
  if (accepted.length === 0) return
  environment.check('no id was given twice', twice(accepted))
  environment.check('what was accepted is stored, and nothing else', await storedProblem(database, accepted))
  environment.check('each id is in exactly one place', await placesProblem(database, accepted))
  environment.check(
    'what was submitted was submitted once, and is delivered or on its way',
    await recordProblem(environment),
  )
  environment.check('every balance is the sum of its entries', await ledgerProblem(database))
}

/**
 * Checks a database that had contents before the benchmark: each stored id is in one place, and every balance is the
 * sum of its entries.
 */
export async function checkFilled(environment: BenchmarkEnvironment, name: string, database: Database): Promise<void> {
  const [row] = await database.query<{ stored: string; found: string }>(
    `select (select sum(n) from send) stored, (select coalesce(sum(hi - lo), 0) from due) + (select coalesce(sum(hi - lo), 0) from later)
      + (select count(*) from message) + (select count(*) from claimed_batch, unnest(ids) i where i is not null) found`,
  )
  const isWhole = row !== undefined && row.stored === row.found
  environment.check(
    `${name}: each id is in one place`,
    isWhole ? undefined : `${row?.stored ?? '?'} stored, ${row?.found ?? '?'} found`,
  )
  environment.check(`${name}: every balance is the sum of its entries`, await ledgerProblem(database))
}

function twice(ranges: IdRanges): string | undefined {
  const pairs: [number, number][] = []
  for (let at = 0; at < ranges.length; at += 2) pairs.push([ranges[at] ?? 0, ranges[at + 1] ?? 0])
  pairs.sort(([a], [b]) => a - b)
  const overlap = pairs.find(([lo], at) => lo < (pairs[at - 1]?.[1] ?? 0))
  return overlap === undefined ? undefined : `id ${overlap[0]}`
}

const bounds = (ranges: IdRanges): [number[], number[]] => [
  ranges.filter((_, at) => at % 2 === 0),
  ranges.filter((_, at) => at % 2 === 1),
]

const acceptedRanges = `(select range_agg(int8range(lo, hi)) from unnest($1::bigint[], $2::bigint[]) u(lo, hi))`

async function storedProblem(database: Database, accepted: IdRanges): Promise<string | undefined> {
  const [row] = await database.query<{ same: boolean; stored: string }>(
    `select range_agg(int8range(first_id, first_id + n)) = ${acceptedRanges} same, sum(n) stored from send`,
    bounds(accepted),
  )
  const count = countIds(accepted)
  if (row?.same === true && Number(row.stored) === count) return undefined
  return `${count} accepted, ${row?.stored ?? 0} stored; ${await differenceOf(database, accepted)}`
}

/**
 * Describes the sends whose acceptance was not reported: when they were stored, and other sends to the same numbers.
 */
async function differenceOf(database: Database, accepted: IdRanges): Promise<string> {
  const rows = await database.query<{
    first_id: string
    n: number
    account_id: number
    at: string
    again: string | null
  }>(
    `with x as (select * from send where not int8multirange(int8range(first_id, first_id + n)) <@ ${acceptedRanges} order by first_id limit 8)
    select first_id, n, account_id, to_char(created_at, 'HH24:MI:SS.MS') at,
      (select string_agg(o.first_id || ' of ' || to_char(o.created_at, 'HH24:MI:SS.MS'), ', ') from send o
        where o.account_id = x.account_id and o.first_id <> x.first_id and o.msisdns && x.msisdns) again
    from x`,
    bounds(accepted),
  )
  const unreported = rows.map(
    (send) =>
      `${send.first_id} (${send.n} of account ${send.account_id}, ${send.at}; to the same numbers: ${send.again ?? 'none'})`,
  )
  return unreported.length === 0
    ? 'some are missing'
    : `the acceptance of these sends was not reported: ${unreported.join(', ')}`
}

/**
 * Compares the number and the ranges of the stored ids with those of the accepted messages. If both are equal, each id
 * is stored exactly once.
 */
async function placesProblem(database: Database, accepted: IdRanges): Promise<string | undefined> {
  const [row] = await database.query<{ same: boolean; found: string }>(
    `with places as (
      select lo, hi from due union all select lo, hi from later
      union all select i, i + 1 from claimed_batch, unnest(ids) i where i is not null and not exists (select from message where id = i)
      union all select id, id + 1 from message
    )
    select range_agg(int8range(lo, hi)) = ${acceptedRanges} same, sum(hi - lo) found from places`,
    bounds(accepted),
  )
  const count = countIds(accepted)
  return row?.same === true && Number(row.found) === count ? undefined : `${count} accepted, ${row?.found ?? 0} found`
}

/** Compares the carrier's own record with the table of messages. */
async function recordProblem({ database, folder }: BenchmarkEnvironment): Promise<string | undefined> {
  const ids = await submittedIds(folder)
  ids.sort()
  const again = ids.find((id, at) => id === ids[at - 1])
  if (again !== undefined) return `id ${again} was submitted twice`
  const [row] = await database.query<{ delivered: string; others: string }>(
    `select count(*) filter (where code = 0) delivered, count(*) filter (where code not in (0, 100)) others from message`,
  )
  const [delivered, others] = [Number(row?.delivered), Number(row?.others)]
  if (others > 0) return `${others} messages have another outcome`
  if (delivered > ids.length) return `${delivered} delivered, ${ids.length} submitted`
  const flying = await database.number(`select count(*) from claimed_batch`)
  return flying === 0 && delivered !== ids.length ? `${delivered} delivered, ${ids.length} submitted` : undefined
}

async function submittedIds(folder: string): Promise<Float64Array> {
  const ids: number[] = []
  for await (const { id } of submissions(folder)) ids.push(id)
  return Float64Array.from(ids)
}

export interface Submission {
  readonly id: number
  /** Milliseconds since 1970. */
  readonly at: number
}

/** Yields the records of all simulated carriers of a folder. */
export async function* submissions(folder: string): AsyncGenerator<Submission> {
  const files = await readdir(folder, { recursive: true }).catch(() => [])
  for (const file of files.filter((name) => /submissions[^/]*\.jsonl$/.test(name))) {
    for await (const line of createInterface(createReadStream(join(folder, file)))) {
      const read = /"time":"([^"]+)","messageId":(\d+)/.exec(line)
      if (read !== null) yield { id: Number(read[2]), at: Date.parse(read[1] ?? '') }
    }
  }
}

async function ledgerProblem(database: Database): Promise<string | undefined> {
  const [row] = await database.query<{ wrong: string }>(
    `select count(*) wrong from account a
      left join (select account_id, sum(amount) total from ledger group by 1) l on l.account_id = a.id
      left join (select account_id, sum(n::bigint * price) total from send group by 1) s on s.account_id = a.id
    where a.balance <> coalesce(l.total, 0) - coalesce(s.total, 0)`,
  )
  return Number(row?.wrong) === 0 ? undefined : `${row?.wrong ?? '?'} accounts differ`
}
