import type { StoredPorts } from '@gateway/core'
import { sql } from 'kysely'
import { runExclusively } from './run-exclusively.ts'
import { listenForChanges, listenToNobody } from './changes.ts'
import { checkServer } from './check-server.ts'
import { serversOf } from './client.ts'
import { examine, type DatabaseReadings } from './examine.ts'
import { databaseClock, type DatabaseClock } from './database-clock.ts'
import { postgresWakeups } from './claimed-batches/postgres-wakeups.ts'
import { hasSchema, migrate, type AppliedMigration } from './migrate.ts'
import { openPools, type Pools } from './pools.ts'
import { certificatesOf, serverAddress, type DatabaseCertificates } from './server-address.ts'
import { defaultSettings, silent, type Log, type Settings } from './settings.ts'
import { storedPorts } from './stored-ports.ts'
import { waitAtMost } from './wait-at-most.ts'
import { reasonOf, writeTrouble, type WriteTrouble } from './write-trouble.ts'
import type { Timings } from './timings.ts'

export interface PostgresOptions {
  /**
   * A URL of PostgreSQL 15 or later, or one that leads to a socket: `postgres://user@/database?host=/folder`. A direct
   * connection: no pooler. What it says about TLS, `serverAddress` tells.
   */
  readonly connectionString: string
  readonly log?: Log
  /** What is left out has its default. */
  readonly settings?: Partial<Settings>
}

export interface PostgresPorts {
  readonly ports: StoredPorts
  /**
   * For `Ports.clock`: what rests on it then does not rest on the clock of this machine. To be compared before it is
   * used.
   */
  readonly clock: DatabaseClock
  /** In PEM, what `sslrootcert` and `sslcert` name, if TLS is used. */
  readonly certificates: readonly DatabaseCertificates[]
  /** How its connections are used now, and how long the database took since the start. */
  readonly figures: Pick<Pools, 'use'> & Pick<Timings, 'statements' | 'commits'>
  /** Brings the schema up to what this version knows; returns what that took. Until then the ports do not work. */
  readonly migrate: () => Promise<readonly AppliedMigration[]>
  /** Whether any version has made its schema there. */
  readonly hasSchema: () => Promise<boolean>
  /** Throws an Error for a server that could lose accepted messages, or is too old. */
  readonly checkServer: () => Promise<void>
  /** How its servers are set up, and what they are at. */
  readonly examine: () => Promise<DatabaseReadings>
  /** Whether the database answers, takes writes, and has the schema; undefined: it does. Within a second. */
  readonly trouble: () => Promise<WriteTrouble | undefined>
  /** Whether the database answers, and the schema is there. Throws if not. */
  readonly ping: () => Promise<void>
  /**
   * Runs `work` alone: of all processes on this schema, and of all calls here, one at a time does `what`. Who dies in
   * the middle keeps nobody out. Throws what `work` throws.
   */
  readonly runExclusively: (what: string, work: () => Promise<void>) => Promise<void>
  /**
   * Ends the connections as they become free; after `seconds` (default 5) it breaks off what is still at work. A
   * migration, or a wait for `runExclusively`, is broken off at once.
   */
  readonly close: (seconds?: number) => Promise<void>
}

/** A comparison of clocks is waited for so long, before connections end. */
const clockSeconds = 1

/**
 * Every stored port on one database. Throws for a URL that cannot be used. Connects when first used; what a lost
 * connection interrupted is found out, not guessed.
 */
export function postgresPorts(options: PostgresOptions): PostgresPorts {
  const { connectionString, log = silent } = options
  const settings = { ...defaultSettings, ...options.settings }
  const address = serverAddress(connectionString)
  const pools = openPools(address, settings, log)
  const changes =
    settings.cacheSeconds > 0 ? listenForChanges(address, settings.connectionSeconds, log) : listenToNobody()
  const wakeups = postgresWakeups(address, settings.connectionSeconds, log)
  const clock = databaseClock({ ask: () => timeOf(pools), log })
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
    runExclusively: (what, work) => runExclusively(address, what, work, closing.signal),
    checkServer: () => checkServer(pools, address, log),
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
