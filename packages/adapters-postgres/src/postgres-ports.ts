import { sql } from 'kysely'
import { runExclusively } from './run-exclusively.ts'
import { listenForChanges, listenToNobody } from './changes.ts'
import { checkServer } from './check-server.ts'
import { serversOf } from './client.ts'
import { examine, readVitals, type DatabaseReadings, type DatabaseVitals } from './examine.ts'
import { DatabaseClock } from './database-clock.ts'
import { postgresWakeups } from './claimed-batches/postgres-wakeups.ts'
import { hasSchema, migrate, type AppliedMigration } from './migrate.ts'
import { openPools, type Pools } from './pools.ts'
import { certificatesOf, serverAddress, type DatabaseCertificates } from './server-address.ts'
import { defaultSettings, silent, type Log, type Settings } from './settings.ts'
import { storedPorts, type DatabasePorts } from './stored-ports.ts'
import { waitAtMost } from './wait-at-most.ts'
import { reasonOf, writeTrouble, type WriteTrouble } from './write-trouble.ts'
import type { Timings } from './timings.ts'

export interface PostgresOptions {
  /**
   * URL of PostgreSQL 15 or later, or of a Unix socket: `postgres://user@/database?host=/folder`. It must not lead to a
   * pooler. `serverAddress` documents its TLS options.
   */
  readonly connectionString: string
  readonly log?: Log
  /** Missing settings have their defaults. */
  readonly settings?: Partial<Settings>
}

export interface PostgresPorts {
  readonly ports: DatabasePorts
  /** Clock for `Ports.clock`, independent of the clock of this machine. Call `compare` before using it. */
  readonly clock: DatabaseClock
  /** Certificates in PEM that `sslrootcert` and `sslcert` name, if TLS is used. */
  readonly certificates: readonly DatabaseCertificates[]
  /** Current use of connections, and response times of the database since the start. */
  readonly figures: Pick<Pools, 'use'> & Pick<Timings, 'statements' | 'commits'>
  /** Upgrades the schema to this version and returns the applied migrations. The ports do not work before that. */
  readonly migrate: () => Promise<readonly AppliedMigration[]>
  /** Returns true if any version has created its schema in the database. */
  readonly hasSchema: () => Promise<boolean>
  /** Throws an Error for a server that could lose accepted messages or is too old. */
  readonly checkServer: () => Promise<void>
  /** Reads figures of the server, cheaply enough for every scrape. */
  readonly vitals: () => Promise<DatabaseVitals>
  /** Reads the settings and the state of the servers. */
  readonly examine: () => Promise<DatabaseReadings>
  /**
   * Returns why the database cannot be used, or undefined if it answers, accepts writes and has the schema. Takes at
   * most a second.
   */
  readonly trouble: () => Promise<WriteTrouble | undefined>
  /** Throws if the database does not answer or lacks the schema. */
  readonly ping: () => Promise<void>
  /**
   * Runs `work` while no other process on this schema and no other call runs work of the same name. A process that dies
   * releases the name. Throws what `work` throws.
   */
  readonly runExclusively: (name: string, work: () => Promise<void>) => Promise<void>
  /**
   * Ends each connection when it becomes free. After `seconds` (default 5), ends the connections that are still in use.
   * A migration or a wait for `runExclusively` is aborted at once.
   */
  readonly close: (seconds?: number) => Promise<void>
}

/** Longest wait for a comparison of clocks before connections end. */
const clockSeconds = 1

/**
 * Creates all stored ports on one database. Throws for a URL that cannot be used. Connects when first used. After a
 * lost connection, the ports look up whether the interrupted change was committed.
 */
export function postgresPorts(options: PostgresOptions): PostgresPorts {
  const { connectionString, log = silent } = options
  const settings = { ...defaultSettings, ...options.settings }
  const address = serverAddress(connectionString)
  const pools = openPools(address, settings, log)
  const changes =
    settings.cacheSeconds > 0 ? listenForChanges(address, settings.connectionSeconds, log) : listenToNobody()
  const wakeups = postgresWakeups(address, settings.connectionSeconds, log)
  const clock = new DatabaseClock({ ask: () => timeOf(pools), log })
  const closing = new AbortController()
  async function ping(): Promise<void> {
    await pools.kysely.selectFrom('price').select('prefix').limit(1).execute()
  }
  return {
    ports: storedPorts({ pools, changes, wakeups, settings, log }),
    clock,
    certificates: certificatesOf(address),
    figures: { use: pools.use, ...pools.timings },
    migrate: () => migrate(connectionString, log, undefined, closing.signal),
    hasSchema: () => hasSchema(pools),
    runExclusively: (name, work) => runExclusively(address, name, work, closing.signal),
    checkServer: () => checkServer(pools, address, log),
    vitals: () => readVitals(pools),
    examine: async () => examine(pools, await serversOf(address)),
    ping,
    trouble: async () => {
      const [found, answer] = await Promise.all([
        pools.writes.trouble(),
        ping().catch((error: unknown) => writeTrouble(reasonOf(error) ?? 'no-answer')),
      ])
      return found ?? answer ?? undefined
    },
    close: async (seconds = 5) => {
      closing.abort()
      await waitAtMost(clockSeconds, clock.close())
      await Promise.all([changes.close(seconds), wakeups.close(), pools.close(seconds)])
    },
  }
}

async function timeOf({ kysely }: Pools): Promise<number> {
  const { rows } = await sql<{ at: number }>`select 1000 * extract(epoch from clock_timestamp())::float8 as at`.execute(
    kysely,
  )
  return rows[0]?.at ?? NaN
}
