import { milliseconds } from './milliseconds.ts'
import type { PreparedStatement } from './prepared-statement.ts'

/**
 * Process $1 on host $2 with process id $3 tells of carriers $4 the reports $5, and of no others. Forgets what others told over a day ago.
 * For the ordinary connections: the table has a row for each process and carrier.
 */
export const tellCarriers: PreparedStatement<never> = {
  name: 'tell-carriers',
  text: `
with forgotten as (
  delete from carrier_status
  where case when process = $1 then carrier <> all ($4::text[]) else told_at < now() - interval '1 day' end
)
insert into carrier_status (process, host, pid, carrier, report, told_at)
select $1, $2, $3, carrier, report, now() from unnest($4::text[], $5::text[]) told(carrier, report)
on conflict (process, carrier) do update set report = excluded.report, told_at = excluded.told_at`,
}

export interface CarrierStatusRow {
  readonly process: string
  readonly host: string
  readonly pid: number
  readonly carrier: string
  readonly report: string
  readonly told_at: number
  readonly stale: boolean
}

/** All of them; stale is what was told $1 seconds ago or more. For the ordinary connections. */
export const listCarriers: PreparedStatement<CarrierStatusRow> = {
  name: 'list-carriers',
  text: `
select process, host, pid, carrier, report, ${milliseconds('told_at')} told_at,
  told_at <= now() - make_interval(secs => $1) stale
from carrier_status
order by carrier collate "C", host collate "C", process collate "C"`,
}
