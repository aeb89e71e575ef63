import { sql, statement } from './statement.ts'

/** Reads settings that decide whether data survives a crash or failover, for the operator to check. */
export const examineSettings = statement(
  'examine-settings',
  { parameters: {}, columns: { name: 'text', setting: 'text' } },
  sql`
select name, setting from pg_settings
where name in ('server_version', 'fsync', 'full_page_writes', 'synchronous_commit', 'synchronous_standby_names',
  'wal_level', 'max_connections')`,
)

/** Reads the standbys. Their state is null if the role lacks the privilege to read it. */
export const examineStandbys = statement(
  'examine-standbys',
  { parameters: {}, columns: { name: 'text?', state: 'text?', isSynchronous: 'bool?', lagBytes: 'float8?' } },
  sql`
select application_name as name, state, sync_state in ('sync', 'quorum') as "isSynchronous",
  case when not pg_is_in_recovery() then pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn)::float8 end as "lagBytes"
from pg_stat_replication order by application_name`,
)

/**
 * Reads figures that are scraped: used and available connections, and the age of the last archived log, null without an
 * archive. Costs 0.3 ms.
 */
export const examineVitals = statement(
  'examine-vitals',
  { parameters: {}, columns: { connections: 'int', connectionsMax: 'int', archiveSeconds: 'float8?' } },
  sql`
select
  (select count(*) from pg_stat_activity where backend_type = 'client backend')::int as connections,
  current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
    as "connectionsMax",
  (select extract(epoch from clock_timestamp() - last_archived_time) from pg_stat_archiver
    where current_setting('archive_mode') <> 'off')::float8 as "archiveSeconds"`,
)

/** Reads figures about load. Transactions of other roles count only if this role may see them. */
export const examineWork = statement(
  'examine-work',
  {
    parameters: {},
    columns: { connections: 'int', longestSeconds: 'float8?', partitionsAhead: 'int', databaseBytes: 'float8' },
  },
  sql`
select
  (select count(*) from pg_stat_activity where backend_type = 'client backend')::int as connections,
  (select extract(epoch from max(clock_timestamp() - xact_start)) from pg_stat_activity
    where backend_type = 'client backend' and pid <> pg_backend_pid())::float8 as "longestSeconds",
  (select count(*) from pg_inherits
    where inhparent = 'send'::regclass and substring(inhrelid::regclass::text from '_p([0-9]+)')::bigint
      > (select last_value / 500 from id_block))::int as "partitionsAhead",
  pg_database_size(current_database())::float8 as "databaseBytes"`,
)
