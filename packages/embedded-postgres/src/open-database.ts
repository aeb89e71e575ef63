import { startEmbeddedPostgres, type EmbeddedPostgres } from './start-embedded-postgres.ts'

export interface DatabaseOptions {
  /** The address of a PostgreSQL that somebody else runs; undefined: one of our own. */
  readonly url: string | undefined
  /** Where the data of our own is. */
  readonly dataDir: string
  /** As of `EmbeddedPostgresOptions`, for one of our own. */
  readonly make?: boolean
  readonly companions?: readonly string[]
  readonly log?: (line: string) => void
  /** Aborted: nobody waits any more for one of our own that is not ready; this throws, and leaves none that it started. */
  readonly signal?: AbortSignal
}

/** The database of a process of ours: the one at `url`, which is left alone, or the embedded one under `dataDir`. */
export const openDatabase = ({ url, ...own }: DatabaseOptions): Promise<EmbeddedPostgres> =>
  url === undefined
    ? startEmbeddedPostgres(own)
    : Promise.resolve({ connectionString: url, stop: () => Promise.resolve() })
