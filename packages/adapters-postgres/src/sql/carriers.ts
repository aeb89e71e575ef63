import { milliseconds } from './arrays.ts'
import { rows, sql, statement } from './statement.ts'

const until = sql`clock_timestamp() + make_interval(secs => :seconds)`

/**
 * Leases to the holder up to `count` of the binds 1 to `bindsMax` of the carrier, the lowest first. Two that take the
 * same number at the same time: the later one waits, and then finds it leased. For the ordinary connections, as are
 * the others.
 */
export const leaseBinds = statement(
  'lease-binds',
  {
    parameters: { carrier: 'text', holder: 'text', count: 'int', bindsMax: 'int', seconds: 'float8' },
    columns: { number: 'int' },
  },
  sql`
with live as materialized (
  select number from carrier_bind where carrier = :carrier and lease_until > clock_timestamp()
), free as (
  select number from generate_series(1, :bindsMax) number
  where number not in (select number from live)
  order by number
  limit (select greatest(0, least(:count, :bindsMax - count(*)::int)) from live)
)
insert into carrier_bind (carrier, number, holder, lease_until)
select :carrier, number, :holder, ${until} from free
on conflict (carrier, number) do update set holder = excluded.holder, lease_until = excluded.lease_until
  where carrier_bind.lease_until <= clock_timestamp()
returning number`,
)

/** Milliseconds until the first lease of another holder ends; no row: there is none. */
export const nextFreeBind = statement(
  'next-free-bind',
  { parameters: { carrier: 'text', holder: 'text' }, columns: { milliseconds: 'int' } },
  sql`
select greatest(0, ceil(extract(epoch from min(lease_until) - clock_timestamp()) * 1000))::int milliseconds
from carrier_bind
where carrier = :carrier and holder <> :holder and lease_until > clock_timestamp()
having count(*) > 0`,
)

/** Leases anew what the holder has leased of the carrier. */
export const renewBinds = statement(
  'renew-binds',
  { parameters: { carrier: 'text', holder: 'text', seconds: 'float8' }, columns: { number: 'int' } },
  sql`
update carrier_bind set lease_until = ${until}
where carrier = :carrier and holder = :holder and lease_until > clock_timestamp()
returning number`,
)

/** Gives back those of the numbers that are the holder's. */
export const releaseBinds = statement(
  'release-binds',
  { parameters: { carrier: 'text', holder: 'text', numbers: 'int[]' } },
  sql`delete from carrier_bind where carrier = :carrier and holder = :holder and number = any (:numbers)`,
)

/**
 * Leases anew the share that the holder has of the carrier's rate, if it is still this one. Returns all shares of the
 * carrier, in the order of holders; no row: it is another one.
 */
export const keepRate = statement(
  'keep-rate',
  {
    parameters: { carrier: 'text', holder: 'text', share: 'int', seconds: 'float8' },
    columns: { holder: 'text', share: 'int', need: 'int' },
  },
  sql`
with kept as (
  update carrier_rate set lease_until = ${until}
  where carrier = :carrier and holder = :holder and share = :share and lease_until > clock_timestamp()
  returning share
)
select holder, share, need
from carrier_rate
where carrier = :carrier and lease_until > clock_timestamp() and exists (select from kept)
order by holder collate "C"`,
)

/**
 * A process tells of carriers the reports, and of no others. Forgets what others told over a day ago. For the
 * ordinary connections: the table has a row for each process and carrier.
 */
export const tellCarriers = statement(
  'tell-carriers',
  { parameters: { process: 'text', host: 'text', pid: 'int', carriers: 'text[]', reports: 'text[]' } },
  sql`
with forgotten as (
  delete from carrier_status
  where case when process = :process then carrier <> all (:carriers) else told_at < now() - interval '1 day' end
)
insert into carrier_status (process, host, pid, carrier, report, told_at)
select :process, :host, :pid, carrier, report, now() from unnest(:carriers, :reports) told(carrier, report)
on conflict (process, carrier) do update set report = excluded.report, told_at = excluded.told_at`,
)

export interface CarrierStatusRow {
  readonly process: string
  readonly host: string
  readonly pid: number
  readonly carrier: string
  readonly report: string
  readonly told_at: number
  readonly stale: boolean
}

/** All of them; stale is what was told `staleSeconds` ago or more. For the ordinary connections. */
export const listCarriers = statement(
  'list-carriers',
  {
    parameters: { staleSeconds: 'float8' },
    columns: rows<CarrierStatusRow>({
      process: 'text',
      host: 'text',
      pid: 'int',
      carrier: 'text',
      report: 'text',
      told_at: 'bigint',
      stale: 'bool',
    }),
  },
  sql`
select process, host, pid, carrier, report, ${milliseconds('told_at')} told_at,
  told_at <= now() - make_interval(secs => :staleSeconds) stale
from carrier_status
order by carrier collate "C", host collate "C", process collate "C"`,
)
