import { sql } from 'kysely'
import type { Pools } from './pools.ts'
import { refuseChangingBackends } from './refuse-pooler.ts'
import type { ServerAddress } from './server-address.ts'
import type { Log } from './settings.ts'

const versionMin = 15

/**
 * Reads the settings of the server and checks them. Throws an Error that says what to do for an unsuitable server or a
 * pooler.
 */
export async function checkServer({ kysely }: Pools, address: ServerAddress, log: Log): Promise<void> {
  await refuseChangingBackends(address)
  const { rows } = await sql<{ name: string; setting: string }>`select name, setting from pg_settings
    where name in ('fsync', 'full_page_writes', 'synchronous_commit', 'server_version_num')`.execute(kysely)
  judgeServer(new Map(rows.map(({ name, setting }) => [name, setting])), log)
}

/**
 * Throws an Error that says what to do for a server on which an accepted message could be lost (`fsync` or
 * `full_page_writes` off), and for one that is too old. Logs a warning if a crash may lose the latest accepted
 * messages.
 */
export function judgeServer(settings: ReadonlyMap<string, string>, log: Log): void {
  const version = Math.floor(Number(settings.get('server_version_num')) / 10_000)
  if (!(version >= versionMin)) {
    throw new Error(`the database is PostgreSQL ${version}; the gateway needs PostgreSQL ${versionMin} or later`)
  }
  for (const name of ['fsync', 'full_page_writes']) {
    if (settings.get(name) !== 'on') {
      throw new Error(`the database runs with ${name} off: a crash would lose accepted messages. Set ${name} = on.`)
    }
  }
  if (settings.get('synchronous_commit') === 'off') {
    log.warn('the database runs with synchronous_commit off: a crash loses the messages accepted just before it')
  }
}
