import { Client } from 'pg'
import { listenForChanges } from '../src/changes.ts'
import { postgresWakeups } from '../src/claimed-batches/postgres-wakeups.ts'
import { openPools, type Pools } from '../src/pools.ts'
import { watchPrimaryLooks } from '../src/promotions/primary-watch.ts'
import { serverAddress } from '../src/server-address.ts'
import { defaultSettings, silent } from '../src/settings.ts'
import { rememberFirst } from '../src/sql/promotions.ts'
import { storedPorts, type DatabasePorts } from '../src/stored-ports.ts'
import { valueTypes } from '../src/value-types.ts'
import { freshDatabase } from './fresh-database.ts'
import { patientSettings } from './patient-settings.ts'

/** Database for checking many promises one after the other. */
export interface SharedDatabase {
  /**
   * Checks a promise on tables in their initial state, with new ports whose caches are empty. `replace` may return
   * other ports on the same pools.
   */
  check(
    promise: (ports: DatabasePorts) => Promise<void>,
    replace?: (ports: DatabasePorts, pools: Pools) => DatabasePorts,
  ): Promise<void>
  /** Puts the database into the state in which a process has just noticed a promotion without a synchronous standby. */
  promote(): Promise<void>
  close(): Promise<void>
}

/**
 * Saves the rows that migrations inserted in another schema, and creates a function that restores tables and sequences.
 */
const keepAndEmpty = `
create schema kept;
do $$
declare name text; filled bool;
begin
  for name in select relname from pg_class where relnamespace = 'cell'::regnamespace and relkind = 'r' loop
    execute format('select exists (select from cell.%I)', name) into filled;
    if filled and name <> 'schema_migration' then
      execute format('create table kept.%I as table cell.%1$I', name);
    end if;
  end loop;
end $$;
create function kept.empty_tables() returns void language plpgsql as $$
declare name text; filled text;
begin
  set local session_replication_role = replica; -- rows of all tables go, in any order
  select string_agg(case when pg_relation_size(oid) > 65536 then format('truncate %s cascade', oid::regclass)
    else format('delete from %s', oid::regclass) end, ';') into filled from pg_class
    where relnamespace = 'cell'::regnamespace and relkind = 'r' and relname <> 'schema_migration'
      and pg_relation_size(oid) > 0;
  execute filled;
  for name in select relname from pg_class where relnamespace = 'kept'::regnamespace and relkind = 'r' loop
    execute format('insert into cell.%I overriding system value table kept.%1$I', name);
  end loop;
  perform setval(seqrelid, seqstart, false) from pg_sequence;
end $$;`

/**
 * Creates a database whose connections stay open, because opening five connections for each promise took most of the
 * time.
 */
export async function sharedDatabase(): Promise<SharedDatabase> {
  const database = await freshDatabase()
  const address = serverAddress(database.connectionString)
  const settings = { ...defaultSettings, ...patientSettings }
  const pools = openPools(address, settings, silent)
  const changes = listenForChanges(address, settings.connectionSeconds, silent)
  const administrator = new Client({ connectionString: database.connectionString })
  await administrator.connect()
  await administrator.query(keepAndEmpty)
  return {
    check: async (promise, replace = (ports) => ports) => {
      await administrator.query('select kept.empty_tables()')
      const wakeups = postgresWakeups(address, settings.connectionSeconds, silent)
      try {
        await promise(replace(storedPorts({ pools, changes, wakeups, settings, log: silent }), pools))
      } finally {
        await wakeups.close()
      }
    },
    promote: async () => {
      const client = new Client({ connectionString: database.connectionString, types: valueTypes })
      await client.connect()
      try {
        await client.query(rememberFirst.text)
        await client.query('update primary_look set timeline = timeline - 1, synchronous = false')
        await watchPrimaryLooks(silent).admit(client)
      } finally {
        await client.end()
      }
    },
    close: async () => {
      await Promise.all([changes.close(), pools.close(5), administrator.end()])
      await database.drop()
    },
  }
}
