import type { CarrierUser, CarrierVersion, CarrierVersions } from '@gateway/core/fleet'
import { sql, type Kysely, type Selectable, type Transaction } from 'kysely'
import type { Context } from '../context.ts'
import { secondsFromNow } from '../query-parts.ts'
import { publishRoutes } from '../routes/postgres-routes.ts'
import type { Tables } from '../tables.ts'
import { runningUsers, userOf } from './postgres-fleet.ts'

export function postgresCarrierVersions({ pools: { kysely }, changes }: Context): CarrierVersions {
  /** Runs `work` in a transaction that excludes other such transactions of all processes. */
  const alone = <Result>(work: (transaction: Transaction<Tables>) => Promise<Result>): Promise<Result> =>
    kysely.transaction().execute(async (transaction) => {
      await sql`select pg_advisory_xact_lock('carrier_version'::regclass::oid::bigint)`.execute(transaction)
      return work(transaction)
    })
  const newest = () => kysely.selectFrom('carrier_version').selectAll().orderBy('version', 'desc')

  return {
    latest: async () => (await newest().limit(1).execute()).map(versionOf)[0],
    find: async (version) => (await newest().where('version', '=', version).execute()).map(versionOf)[0],
    list: async (countMax) => (await newest().limit(countMax).execute()).map(versionOf),
    store: ({ routes, sealed, digest, carriers, storedBy }, after, { onPurpose }) => {
      const stored = alone(async (transaction) => {
        if ((await latestNumberIn(transaction)) !== after) return 'outdated'
        const user = onPurpose ? undefined : await simulating(transaction)
        if (user !== undefined) return { user }
        const version = after + 1
        const values = { version, sealed, digest, carriers: [...carriers], stored_by: storedBy }
        await transaction.insertInto('carrier_version').values(values).execute()
        await publishRoutes(transaction, routes)
        return version
      })
      return changes.around(stored)
    },
    join: (user, seconds) =>
      alone(async (transaction) => {
        if ((await latestNumberIn(transaction)) !== user.version) return 'outdated'
        const other = user.simulated === undefined ? undefined : await simulating(transaction, user.simulated)
        if (other !== undefined) return { user: other }
        await forgetDead(transaction)
        await use(transaction, user, seconds)
        return 'joined'
      }),
    reseal: (sealAgain) =>
      alone(async (transaction) => {
        let changed = 0
        for (const row of await transaction.selectFrom('carrier_version').selectAll().execute()) {
          const sealed = sealAgain(versionOf(row))
          if (sealed === undefined || sealed === row.sealed) continue
          await transaction.updateTable('carrier_version').set({ sealed }).where('version', '=', row.version).execute()
          changed++
        }
        return changed
      }),
  }
}

async function latestNumberIn(database: Kysely<Tables>): Promise<number> {
  const { version } = await database
    .selectFrom('carrier_version')
    .select(sql<number>`coalesce(max(version), 0)`.as('version'))
    .executeTakeFirstOrThrow()
  return version
}

/** Finds a running process that uses simulated carriers other than `besides` in place of a stored version. */
async function simulating(database: Kysely<Tables>, besides?: string): Promise<CarrierUser | undefined> {
  const rows = await runningUsers(database).where('simulated', 'is not', null).execute()
  return rows.map(userOf).find(({ simulated }) => simulated !== besides)
}

async function use(database: Kysely<Tables>, { process, version, simulated }: CarrierUser, seconds: number) {
  const values = { version, simulated: simulated ?? null, lease_until: secondsFromNow(seconds) }
  await database
    .insertInto('carrier_user')
    .values({ process: process.id, host: process.host, pid: process.pid, ...values })
    .onConflict((conflict) => conflict.column('process').doUpdateSet(values))
    .execute()
}

async function forgetDead(database: Kysely<Tables>): Promise<void> {
  const isDead = sql<boolean>`lease_until < now() - interval '1 day'`
  await database.deleteFrom('carrier_user').where(isDead).execute()
}

const versionOf = (row: Selectable<Tables['carrier_version']>): CarrierVersion => ({
  version: row.version,
  sealed: row.sealed,
  digest: row.digest,
  carriers: row.carriers,
  storedAt: row.stored_at,
  storedBy: row.stored_by,
})
