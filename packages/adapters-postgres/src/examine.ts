import type { Pools } from './pools.ts'
import type { ServerReading } from './primary.ts'
import { examineSettings, examineStandbys, examineVitals, examineWork } from './sql/examine.ts'

/** State of the database, for an operator. */
export interface DatabaseReadings {
  /** Settings by name, as PostgreSQL writes them. */
  readonly settings: ReadonlyMap<string, string>
  readonly standbys: readonly Standby[]
  /** Servers of the address, in its order. Empty if the address does not ask for the primary. */
  readonly servers: readonly ServerReading[]
  readonly connections: number
  /** Age of the oldest other transaction; undefined if there is none. */
  readonly longestTransactionSeconds: number | undefined
  /** Number of partitions of messages that exist and are not used yet. */
  readonly partitionsAhead: number
  readonly bytes: number
}

export interface Standby {
  readonly name: string
  /** Undefined if this role lacks the privilege to read it. */
  readonly state: string | undefined
  readonly isSynchronous: boolean
  /** Bytes of the log that the standby has not replayed yet. */
  readonly lagBytes: number | undefined
}

/** Figures of the database server for metrics. */
export interface DatabaseVitals {
  /** Client connections of all programs. */
  readonly connections: number
  /** Maximum number of these connections. */
  readonly connectionsMax: number
  /** Seconds since a log file was last archived; undefined without an archive. */
  readonly archiveSeconds: number | undefined
  /** Standbys whose lag this role may read. */
  readonly standbys: readonly { readonly name: string; readonly lagBytes: number }[]
}

export async function readVitals({ ordinary }: Pools): Promise<DatabaseVitals> {
  const [[vitals], standbys] = await Promise.all([
    ordinary.failFast.run(examineVitals, {}),
    ordinary.failFast.run(examineStandbys, {}),
  ])
  return {
    connections: vitals?.connections ?? 0,
    connectionsMax: vitals?.connectionsMax ?? 0,
    archiveSeconds: vitals?.archiveSeconds ?? undefined,
    standbys: standbys.flatMap(({ name, lagBytes }) => (lagBytes === null ? [] : [{ name: name ?? '', lagBytes }])),
  }
}

export async function examine({ ordinary }: Pools, servers: readonly ServerReading[]): Promise<DatabaseReadings> {
  const [settings, standbys, [work]] = await Promise.all([
    ordinary.failFast.run(examineSettings, {}),
    ordinary.failFast.run(examineStandbys, {}),
    ordinary.failFast.run(examineWork, {}),
  ])
  return {
    settings: new Map(settings.map(({ name, setting }) => [name, setting])),
    standbys: standbys.map(({ name, state, isSynchronous, lagBytes }) => ({
      name: name ?? '',
      state: state ?? undefined,
      isSynchronous: isSynchronous === true,
      lagBytes: lagBytes ?? undefined,
    })),
    servers,
    connections: work?.connections ?? 0,
    longestTransactionSeconds: work?.longestSeconds ?? undefined,
    partitionsAhead: work?.partitionsAhead ?? 0,
    bytes: work?.databaseBytes ?? 0,
  }
}
