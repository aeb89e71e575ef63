import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Account } from '../ground/accounts.ts'
import { fill, type Filling } from '../ground/fill.ts'
import type { Database } from '../ground/postgres.ts'
import type { Started } from '../ground/processes.ts'
import type { Scene } from '../ground/scene.ts'
import type { Worker } from '../loads/workers.ts'

/** One of the two databases that are compared, with its processes. */
export interface Side {
  readonly database: Database
  readonly rest: Started
  readonly worker: Worker
  /** The first one has a tenth of the history, the second a hundredth of the suppressions, the third two sub-accounts. */
  readonly accounts: readonly Account[]
  /** Ids of the history: from, up to and without. */
  readonly ids: readonly [number, number]
  /** A dispatcher that runs until it is stopped. */
  dispatch(): Promise<Started>
}

export async function openSide(scene: Scene, name: string, filling: Filling): Promise<Side> {
  const database = await scene.createDatabase()
  const folder = join(scene.folder, name)
  await mkdir(folder)
  const environment = { DATA_DIR: folder }
  const migrating = await scene.start('rest', environment, database)
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
    rest: await scene.start('rest', environment, database),
    worker: scene.worker(),
    accounts,
    ids,
    dispatch: () => scene.start('dispatcher', { ...environment, CARRIERS: 'simulator:?delayMs=0' }, database),
  }
}
