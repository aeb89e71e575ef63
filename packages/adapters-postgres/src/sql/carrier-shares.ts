import { sql, statement } from './statement.ts'

const until = sql`clock_timestamp() + make_interval(secs => :seconds)`

/**
 * Leases to the holder up to `count` of the carrier's binds 1 to `bindsMax`, the lowest first. If two holders lease the
 * same number at once, the later one waits and then does not get it. Runs on the ordinary connections, like the other
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
