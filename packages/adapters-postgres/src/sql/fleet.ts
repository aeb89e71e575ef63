import type { CarrierReport, CarrierWatch, PausedCarrier } from '@gateway/core/fleet'
import { milliseconds } from './arrays.ts'
import { instant } from './columns.ts'
import { column, sql, statement } from './statement.ts'

// Run these statements on the ordinary connections (`pools.ordinary`). The tables are small: one row for each process,
// carrier or watch, and one row for each carrier, prefix and five minutes of a day.

/** Watch as JSON, in which a missing number is null. */
type StoredWatch = Omit<CarrierWatch, 'number'> & { readonly number: string | null }

const stateColumns = {
  version: 'int',
  paused: column<readonly PausedCarrier[]>('json'),
  watches: column<readonly StoredWatch[]>('json'),
} as const

const state = sql`
select
  (select coalesce(max(version), 0) from carrier_version) as version,
  (
    select coalesce(json_agg(
      json_build_object('carrier', carrier, 'mode', mode, 'since', ${milliseconds('since')}, 'by', set_by)
      order by carrier collate "C"
    ), '[]')
    from carrier_mode
  ) as paused,
  (
    select coalesce(json_agg(
      json_build_object('id', id, 'carrier', carrier, 'number', number, 'hasText', has_text) order by id
    ), '[]')
    from carrier_watch
    where watched_until > now()
  ) as watches`

/** Returns the facts about the carriers that every process needs. */
export const readFleetState = statement('read-fleet-state', { parameters: {}, columns: stateColumns }, state)

/**
 * Stores the heartbeat of a process and returns the state. With `reported`, replaces the reports of the process on its
 * carriers and deletes reports of other processes older than a day. Adds counts to the current five minutes and deletes
 * counts of these carriers older than 25 hours. Writes counts in one order, so that two heartbeats cannot deadlock.
 */
export const beat = statement(
  'beat',
  {
    parameters: {
      process: 'text',
      host: 'text',
      pid: 'int',
      version: 'int',
      simulated: 'text?',
      seconds: 'float8',
      reported: 'bool',
      carriers: 'text[]',
      reports: 'text[]',
      countedCarriers: 'text[]',
      prefixes: 'text[]',
      delivered: 'bigint[]',
      failed: 'bigint[]',
      unknown: 'bigint[]',
      refused: 'bigint[]',
    },
    columns: stateColumns,
  },
  sql`
with used as (
  insert into carrier_user (process, host, pid, version, simulated, lease_until)
  values (:process, :host, :pid, :version, :simulated, now() + make_interval(secs => :seconds))
  on conflict (process) do update
  set version = excluded.version, simulated = excluded.simulated, lease_until = excluded.lease_until
), replaced as (
  delete from carrier_status
  where :reported
    and case when process = :process then carrier <> all (:carriers) else told_at < now() - interval '1 day' end
), reported as (
  insert into carrier_status (process, host, pid, carrier, report, told_at)
  select :process, :host, :pid, carrier, report, now() from unnest(:carriers, :reports) reported(carrier, report)
  on conflict (process, carrier) do update set report = excluded.report, told_at = excluded.told_at
), forgotten as (
  delete from carrier_figure where carrier = any (:countedCarriers) and slot < now() - interval '25 hours'
), counted as (
  insert into carrier_figure (carrier, slot, prefix, delivered, failed, unknown, refused)
  select carrier, date_bin('5 minutes', now(), 'epoch'), prefix, delivered, failed, unknown, refused
  from unnest(:countedCarriers, :prefixes, :delivered, :failed, :unknown, :refused)
    counted(carrier, prefix, delivered, failed, unknown, refused)
  order by carrier collate "C", prefix collate "C"
  on conflict (carrier, slot, prefix) do update
  set delivered = carrier_figure.delivered + excluded.delivered, failed = carrier_figure.failed + excluded.failed,
    unknown = carrier_figure.unknown + excluded.unknown, refused = carrier_figure.refused + excluded.refused
)${state}`,
)

/** Report of a process on a carrier. It has no mode if the version of the process had no modes. */
type StoredReport = Omit<CarrierReport, 'carrier' | 'mode'> & Partial<Pick<CarrierReport, 'mode'>>

/** Lists all reports. A report is stale if it is at least `staleSeconds` old. */
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

const sumsOf = (column: string): string => `sum(${column})::bigint ${column},
  coalesce(sum(${column}) filter (where slot > now() - interval '1 hour'), 0)::bigint hour_${column}`

/** Sums up the counts of a carrier in the last hour and the last day, by prefix. */
export const sumFigures = statement(
  'sum-figures',
  {
    parameters: { carrier: 'text' },
    columns: {
      prefix: 'text',
      delivered: 'bigint',
      failed: 'bigint',
      unknown: 'bigint',
      refused: 'bigint',
      hour_delivered: 'bigint',
      hour_failed: 'bigint',
      hour_unknown: 'bigint',
      hour_refused: 'bigint',
    },
  },
  sql`
select prefix, ${['delivered', 'failed', 'unknown', 'refused'].map(sumsOf).join(',\n  ')}
from carrier_figure
where carrier = :carrier and slot > now() - interval '1 day'
group by prefix
order by prefix collate "C"`,
)
