import type { PreparedStatement } from './prepared-statement.ts'

const until = (seconds: string): string => `clock_timestamp() + make_interval(secs => ${seconds}::float8)`

/**
 * Leases to holder $2 up to $3 of the binds 1 to $4 of carrier $1 for $5 seconds, the lowest first. Two that take the same number at the same
 * time: the later one waits, and then finds it leased. For the ordinary connections, as are the others.
 */
export const leaseBinds: PreparedStatement<{ number: number }> = {
  name: 'lease-binds',
  text: `
with live as materialized (
  select number from carrier_bind where carrier = $1 and lease_until > clock_timestamp()
), free as (
  select number from generate_series(1, $4::int) number
  where number not in (select number from live)
  order by number
  limit (select greatest(0, least($3::int, $4::int - count(*)::int)) from live)
)
insert into carrier_bind (carrier, number, holder, lease_until)
select $1, number, $2, ${until('$5')} from free
on conflict (carrier, number) do update set holder = excluded.holder, lease_until = excluded.lease_until
  where carrier_bind.lease_until <= clock_timestamp()
returning number`,
}

/** Milliseconds until the first lease of carrier $1 ends of another holder than $2; no row: there is none. */
export const nextFreeBind: PreparedStatement<{ milliseconds: number }> = {
  name: 'next-free-bind',
  text: `
select greatest(0, ceil(extract(epoch from min(lease_until) - clock_timestamp()) * 1000))::int milliseconds
from carrier_bind
where carrier = $1 and holder <> $2 and lease_until > clock_timestamp()
having count(*) > 0`,
}

/** Leases anew for $3 seconds what holder $2 has leased of carrier $1. */
export const renewBinds: PreparedStatement<{ number: number }> = {
  name: 'renew-binds',
  text: `
update carrier_bind set lease_until = ${until('$3')}
where carrier = $1 and holder = $2 and lease_until > clock_timestamp()
returning number`,
}

/** Gives back the numbers $3 of carrier $1, where they are holder $2's. */
export const releaseBinds: PreparedStatement<never> = {
  name: 'release-binds',
  text: `delete from carrier_bind where carrier = $1 and holder = $2 and number = any ($3::int[])`,
}
