import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Account } from '../environment/accounts.ts'
import { fill, type Filling } from '../environment/fill.ts'
import type { Database } from '../environment/postgres.ts'
import type { Started } from '../environment/processes.ts'
import type { BenchmarkEnvironment } from '../environment/environment.ts'
import type { Worker } from '../loads/workers.ts'

/** One of the two compared databases, with its processes. */
export interface Side {
  readonly database: Database
  readonly rest: Started
  readonly worker: Worker
  /**
   * Accounts. The first one has a tenth of the history, the second a hundredth of the suppressions, the third two sub
   * accounts.
   */
  readonly accounts: readonly Account[]
  /** Range of ids of the history; the end is exclusive. */
  readonly ids: readonly [number, number]
  /** Starts a dispatcher that runs until it is stopped. */
  dispatch(): Promise<Started>
}

export async function openSide(environment: BenchmarkEnvironment, name: string, filling: Filling): Promise<Side> {
  const database = await environment.createDatabase()
  const folder = join(environment.folder, name)
  await mkdir(folder)
  const variables = { DATA_DIR: folder }
  const migrating = await environment.start('rest', variables, database)
  await migrating.stop()
  const { accounts, ids } = await fill(database, filling)
  const [, second, third, ...subs] = accounts
  await database.query(
    `insert into suppression (account_id, msisdn, kind, since)
    select $1::int, benchmark_number(60000000 + g), 1, now() from generate_series(1, $2::int) g on conflict do nothing`,
    [second?.id, filling.suppressions / 100],
  )
  await database.query('update account set parent_id = $1::int where id = any ($2::int[])', [
    third?.id,
    subs.slice(0, 2).map(({ id }) => id),
  ])
  return {
    database,
    rest: await environment.start('rest', variables, database),
    worker: environment.worker(),
    accounts,
    ids,
    dispatch: () => environment.start('dispatcher', { ...variables, CARRIERS: 'simulator:?delayMs=0' }, database),
  }
}
