import { carrierId, type CarrierStatus } from '@gateway/core/dispatch'
import {
  renewedShare,
  type CarrierBinds,
  type CarrierFigures,
  type CarrierModes,
  type CarrierRates,
  type CarrierReport,
  type CarrierStatuses,
  type CarrierUser,
  type CarrierVersion,
  type CarrierVersions,
  type ReportedCarrier,
} from '@gateway/core/fleet'
import { sql, type Kysely, type Selectable, type Transaction } from 'kysely'
import { notifyOthers } from '../changes.ts'
import type { Context } from '../context.ts'
import { isAhead, now, secondsFromNow } from '../query-parts.ts'
import { publishRoutes } from '../routes/postgres-routes.ts'
import {
  keepRate,
  leaseBinds,
  nextFreeBind,
  releaseBinds,
  renewBinds,
  listCarriers,
  reportCarriers,
} from '../sql/carriers.ts'
import { addFigures, sumFigures } from '../sql/carrier-figures.ts'
import type { RowOf } from '../sql/statement.ts'
import type { Tables } from '../tables.ts'

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
    latestNumber: () => latestNumberIn(kysely),
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
    renew: (user, seconds) => use(kysely, user, seconds),
    async leave(process) {
      await kysely.deleteFrom('carrier_user').where('process', '=', process).execute()
    },
    users: async () => (await running(kysely).execute()).map(userOf),
    onChange(changed) {
      changes.listen()
      changes.onChange(changed)
    },
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

const running = (database: Kysely<Tables>) =>
  database
    .selectFrom('carrier_user')
    .selectAll()
    .where(isAhead('lease_until'))
    .orderBy(sql`host collate "C"`)
    .orderBy('pid')
    .orderBy('process')

/** Finds a running process that uses simulated carriers other than `besides` in place of a stored version. */
async function simulating(database: Kysely<Tables>, besides?: string): Promise<CarrierUser | undefined> {
  const rows = await running(database).where('simulated', 'is not', null).execute()
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

const userOf = (row: Selectable<Tables['carrier_user']>): CarrierUser => ({
  process: { id: row.process, host: row.host, pid: row.pid },
  version: row.version,
  simulated: row.simulated ?? undefined,
})

export const postgresCarrierFigures = ({ pools: { ordinary } }: Context): CarrierFigures => ({
  async add(carrier, counts) {
    if (counts.length === 0) return
    await ordinary.run(addFigures, {
      carrier,
      prefixes: counts.map(({ prefix }) => prefix),
      delivered: counts.map(({ delivered }) => delivered),
      failed: counts.map(({ failed }) => failed),
      unknown: counts.map(({ unknown }) => unknown),
      refused: counts.map(({ refused }) => refused),
    })
  },
  of: async (carrier) =>
    (await ordinary.run(sumFigures, { carrier })).map((row) => ({
      prefix: row.prefix,
      day: { delivered: row.delivered, failed: row.failed, unknown: row.unknown, refused: row.refused },
      hour: {
        ...{ delivered: row.hour_delivered, failed: row.hour_failed },
        ...{ unknown: row.hour_unknown, refused: row.hour_refused },
      },
    })),
})

export function postgresCarrierModes({ pools: { kysely }, changes }: Context): CarrierModes {
  async function write(transaction: Transaction<Tables>, ...[carrier, mode, by]: Parameters<CarrierModes['set']>) {
    if (mode === 'running') {
      return transaction.deleteFrom('carrier_mode').where('carrier', '=', carrier).returning('carrier').execute()
    }
    return transaction
      .insertInto('carrier_mode')
      .values({ carrier, mode, set_by: by })
      .onConflict((conflict) =>
        conflict.column('carrier').doUpdateSet({ mode, since: now, set_by: by }).where('carrier_mode.mode', '<>', mode),
      )
      .returning('carrier')
      .execute()
  }

  return {
    set: (carrier, mode, by) =>
      changes.around(
        kysely.transaction().execute(async (transaction) => {
          const isChange = (await write(transaction, carrier, mode, by)).length > 0
          if (isChange) await sql`select ${notifyOthers}`.execute(transaction)
          return isChange
        }),
      ),
    list: async () => {
      const rows = await kysely
        .selectFrom('carrier_mode')
        .selectAll()
        .orderBy(sql`carrier collate "C"`)
        .execute()
      return rows.map(({ carrier, mode, since, set_by: by }) => ({
        ...{ carrier, mode, since, by },
      }))
    },
    onChange(changed) {
      changes.listen()
      changes.onChange(changed)
    },
  }
}

type Report = Omit<CarrierReport, 'carrier'>

export const postgresCarrierStatuses = ({ pools: { ordinary } }: Context): CarrierStatuses => ({
  async tell({ id, host, pid }, reports) {
    const texts = reports.map(({ mode, window, unanswered, status, overflowed }) =>
      JSON.stringify({ mode, window, unanswered, status, ...(overflowed && { overflowed }) } satisfies Report),
    )
    const carriers = reports.map(({ carrier }) => carrier)
    await ordinary.run(reportCarriers, { process: id, host, pid, carriers, reports: texts })
  },
  list: async (staleSeconds) => (await ordinary.run(listCarriers, { staleSeconds })).flatMap(toldCarrier),
})

function toldCarrier(row: RowOf<typeof listCarriers>): readonly ReportedCarrier[] {
  const carrier = carrierId(row.carrier)
  if (carrier === undefined) return []
  const { mode = 'running', window, unanswered, status, overflowed } = row.report
  const process = { id: row.process, host: row.host, pid: row.pid }
  const [toldAt, isStale] = [row.told_at, row.stale]
  const report = { carrier, mode, window, unanswered, status: status && whole(status), process, toldAt, isStale }
  return [{ ...report, ...(overflowed && { overflowed }) }]
}

/** Adds the undefined fields that JSON omits. */
const whole = ({ links, receipts, ...status }: CarrierStatus): CarrierStatus => ({
  ...status,
  perSecond: status.perSecond,
  lastError: status.lastError,
  ...(links && { links: links.map((link) => ({ ...link, boundSince: link.boundSince })) }),
  receipts: { ...receipts, form: receipts.form },
  circuit: status.circuit && {
    ...status.circuit,
    reason: status.circuit.reason,
    answerMilliseconds: status.circuit.answerMilliseconds,
  },
})

export const postgresCarrierBinds = ({ pools: { ordinary } }: Context): CarrierBinds => ({
  async lease(carrier, holder, { count, max, seconds }) {
    const leased = await ordinary.run(leaseBinds, { carrier, holder, count, bindsMax: max, seconds })
    const numbers = leased.map(({ number }) => number)
    const [next] = numbers.length < count ? await ordinary.run(nextFreeBind, { carrier, holder }) : []
    return { numbers, freeInMilliseconds: next?.milliseconds }
  },
  renew: async (carrier, holder, seconds) =>
    (await ordinary.run(renewBinds, { carrier, holder, seconds })).map(({ number }) => number),
  async release(carrier, holder, numbers) {
    await ordinary.run(releaseBinds, { carrier, holder, numbers })
  },
})

/**
 * Shares the rate of each carrier; core decides the shares. Usually no share changes, and only the lease is renewed.
 * Otherwise a lock makes processes take turns.
 */
export const postgresCarrierRates = ({ pools: { kysely, ordinary } }: Context): CarrierRates => ({
  async renew(carrier, holder, { seconds, wasAway = false, ...request }) {
    const leases = await ordinary.run(keepRate, { carrier, holder, share: request.inUse, seconds })
    const own = leases.find((lease) => lease.holder === holder)
    if (own?.need === request.need) {
      const { granted, share } = renewedShare(request, leases.map(otherThan(holder)))
      if (granted === own.share && share === own.share) return granted
    }
    return kysely.transaction().execute(async (transaction) => {
      await sql`select pg_advisory_xact_lock('carrier_rate'::regclass::oid::bigint)`.execute(transaction)
      const until = sql<string>`clock_timestamp() + make_interval(secs => ${seconds})`
      const isOver = sql<boolean>`carrier = ${carrier} and lease_until <= clock_timestamp()`
      if (wasAway) await transaction.updateTable('carrier_rate').set({ lease_until: until }).where(isOver).execute()
      else await transaction.deleteFrom('carrier_rate').where(isOver).execute()
      const own = { carrier, holder, share: 0, need: 0, lease_until: sql<string>`clock_timestamp()` }
      const once = transaction
        .insertInto('carrier_rate')
        .values(own)
        .onConflict((conflict) => conflict.doNothing())
      await once.execute()
      const leases = await transaction
        .selectFrom('carrier_rate')
        .select(['holder', 'share', 'need'])
        .where('carrier', '=', carrier)
        .orderBy(sql`holder collate "C"`)
        .execute()
      const { granted, share } = renewedShare(request, leases.map(otherThan(holder)))
      await transaction
        .updateTable('carrier_rate')
        .set({ share, need: request.need, lease_until: until })
        .where('carrier', '=', carrier)
        .where('holder', '=', holder)
        .execute()
      return granted
    })
  },
})

const otherThan =
  (holder: string) =>
  <Lease extends { readonly holder: string }>(lease: Lease): Lease | undefined =>
    lease.holder === holder ? undefined : lease
