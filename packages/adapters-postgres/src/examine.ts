import type { Pools } from './pools.ts'
import type { ServerReading } from './primary.ts'
import { examineSettings, examineStandbys, examineWork } from './sql/examine.ts'

/** What a database says of itself, for an operator. */
export interface DatabaseReadings {
  /** By name, as PostgreSQL writes them. */
  readonly settings: ReadonlyMap<string, string>
  readonly standbys: readonly Standby[]
  /** Those of the address, in its order; none where it does not want the primary. */
  readonly servers: readonly ServerReading[]
  readonly connections: number
  /** Undefined: no transaction runs but this one. */
  readonly longestTransactionSeconds: number | undefined
  /** Partitions of messages that are made and not begun. */
  readonly partitionsAhead: number
  readonly bytes: number
}

export interface Standby {
  readonly name: string
  /** Undefined: this role may not know. */
  readonly state: string | undefined
  readonly isSynchronous: boolean
  /** Bytes of the log that it has not replayed. */
  readonly lagBytes: number | undefined
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
