import { Kysely, PostgresDialect } from 'kysely'
import { watchServers } from './client.ts'
import type { ClientBase } from 'pg'
import { lookNowAndThen, watchPrimaryLooks } from './promotions/primary-watch.ts'
import type { PoolUse } from './client-pool.ts'
import { openConnections, type Connections } from './connections.ts'
import { DatabaseLiveness } from './database-liveness.ts'
import type { ServerAddress } from './server-address.ts'
import type { Log, Settings } from './settings.ts'
import type { Tables } from './tables.ts'
import { createTimings, type Timings } from './timings.ts'
import { waitAtMost } from './wait-at-most.ts'
import { WriteHealth, writeProbes } from './write-health.ts'

export interface Pools {
  /** Connections for the statements that every message needs, with plans that suit empty and full tables. */
  readonly hot: Connections
  /** Connections for lists, reports and commands of operators, where joins of whole tables are right. */
  readonly ordinary: Connections
  /** Queries on ordinary connections, which fail as soon as the database is unreachable. */
  readonly kysely: Kysely<Tables>
  readonly writes: WriteHealth
  readonly timings: Timings
  readonly use: () => Readonly<Record<'hot' | 'ordinary', PoolUse>>
  /** Closes all connections. After `seconds`, ends those still in use. */
  close(seconds: number): Promise<void>
}

/**
 * Settings that make the planner use indexes. New partitions have no statistics, and plans that rely on statistics cost
 * 4 to 20 times as much. Bitmap scans are off, because they made a receipt cost a quarter more and made claims read all
 * suppressions of an account.
 */
export const hotPlans = {
  plan_cache_mode: 'force_generic_plan',
  enable_seqscan: 'off',
  enable_bitmapscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  enable_material: 'off',
  enable_incremental_sort: 'off',
  jit: 'off',
}
/** Settings that turn off JIT compilation of statements, which took 0.15 to 0.7 s on nearly empty tables. */
export const ordinaryPlans = { jit: 'off' }

/** Longest wait for a probe of writes before connections end. */
const probeSeconds = 1

/** Creates the pools, which connect when first used. */
export function openPools(address: ServerAddress, settings: Settings, log: Log): Pools {
  const { connectionSeconds, lockSeconds, retrySeconds, statementSeconds, longStatementSeconds } = settings
  const failed = (error: unknown): void => writes.failed(error)
  const timings = createTimings()
  const primary = watchPrimaryLooks(log)
  const admit = (client: ClientBase): Promise<void> => primary.admit(client)
  const common = { address, timings, connectionSeconds, lockSeconds, retrySeconds, failed, admit }
  const liveness = new DatabaseLiveness(address, connectionSeconds, log)
  const hot = openConnections(
    {
      ...common,
      applicationName: 'gateway messages',
      connectionsMax: settings.hotConnectionsMax,
      statementSeconds,
      serverSettings: hotPlans,
    },
    liveness,
    log,
  )
  const ordinary = openConnections(
    {
      ...common,
      applicationName: 'gateway',
      connectionsMax: settings.ordinaryConnectionsMax,
      statementSeconds: longStatementSeconds,
      serverSettings: ordinaryPlans,
    },
    liveness,
    log,
  )
  const writes = new WriteHealth(writeProbes(hot, ordinary), log)
  const ignoreServers = watchServers(address)
  const endLooks = lookNowAndThen(primary, ordinary)
  const pool = { connect: () => ordinary.failFast.connect(), end: () => Promise.resolve() }
  const kysely = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) })
  return {
    hot,
    ordinary,
    kysely,
    writes,
    timings,
    use: () => ({ hot: hot.use(), ordinary: ordinary.use() }),
    close: async (seconds) => {
      const begun = performance.now()
      ignoreServers()
      endLooks()
      await waitAtMost(probeSeconds, writes.close())
      const remaining = Math.max(0, seconds - (performance.now() - begun) / 1000)
      await Promise.all([hot.close(remaining), ordinary.close(remaining)])
      liveness.close()
    },
  }
}
