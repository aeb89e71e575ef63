import { milliseconds } from './arrays.ts'
import type { CarrierReport } from '@gateway/core/fleet'
import { instant } from './columns.ts'
import { column, sql, statement } from './statement.ts'

const until = sql`clock_timestamp() + make_interval(secs => :seconds)`

/**
 * Leases to the holder up to `count` of the carrier's binds 1 to `bindsMax`, the lowest first. If two holders lease the
 * same number at once, the later one waits and then does not get it. For the ordinary connections, as are the other
 * statements of this file.
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

/** Returns the milliseconds until the first lease of another holder ends, or no row if there is none. */
export const nextFreeBind = statement(
  'next-free-bind',
  { parameters: { carrier: 'text', holder: 'text' }, columns: { milliseconds: 'int' } },
  sql`
select greatest(0, ceil(extract(epoch from min(lease_until) - clock_timestamp()) * 1000))::int milliseconds
from carrier_bind
where carrier = :carrier and holder <> :holder and lease_until > clock_timestamp()
having count(*) > 0`,
)

/** Renews the holder's leases of the carrier's binds. */
export const renewBinds = statement(
  'renew-binds',
  { parameters: { carrier: 'text', holder: 'text', seconds: 'float8' }, columns: { number: 'int' } },
  sql`
update carrier_bind set lease_until = ${until}
where carrier = :carrier and holder = :holder and lease_until > clock_timestamp()
returning number`,
)

/** Ends the holder's leases of these numbers. */
export const releaseBinds = statement(
  'release-binds',
  { parameters: { carrier: 'text', holder: 'text', numbers: 'int[]' } },
  sql`delete from carrier_bind where carrier = :carrier and holder = :holder and number = any (:numbers)`,
)

/**
 * Renews the holder's lease of a share of the carrier's rate, if the share is still `share`. Returns all shares of the
 * carrier in the order of holders, or no row if the holder's share has changed.
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
 * Replaces the reports of a process on its carriers. Deletes reports of other processes older than a day. For the
 * ordinary connections: the table has a row for each process and carrier.
 */
export const reportCarriers = statement(
  'report-carriers',
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

/** Report of a process on a carrier. It has no mode if the version of the process had no modes. */
type StoredReport = Omit<CarrierReport, 'carrier' | 'mode'> & Partial<Pick<CarrierReport, 'mode'>>

/** Lists all reports. A report is stale if it is at least `staleSeconds` old. For the ordinary connections. */
export const listCarriers = statement(
  'list-carriers',
  {
    parameters: { staleSeconds: 'float8' },
    columns: {
      process: 'text',
      host: 'text',
      pid: 'int',
      carrier: 'text',
      report: column<StoredReport>('json'),
      told_at: instant,
      stale: 'bool',
    },
  },
  sql`
select process, host, pid, carrier, report::json, ${milliseconds('told_at')} told_at,
  told_at <= now() - make_interval(secs => :staleSeconds) stale
from carrier_status
order by carrier collate "C", host collate "C", process collate "C"`,
)
