import { carrierId, type CarrierStatus } from '@gateway/core/dispatch'
import type { CarrierUser, Fleet, FleetState, Heartbeat, ReportedCarrier } from '@gateway/core/fleet'
import { sql, type Kysely, type Selectable, type Transaction } from 'kysely'
import { notifyOthers } from '../changes.ts'
import type { Context } from '../context.ts'
import { isAhead, now } from '../query-parts.ts'
import { beat, listCarriers, readFleetState, sumFigures } from '../sql/fleet.ts'
import { postgresCarrierWatches } from './postgres-carrier-watches.ts'
import type { RowOf } from '../sql/statement.ts'
import type { Tables } from '../tables.ts'

export const postgresFleet = (context: Context): Fleet => {
  const {
    pools: { kysely, ordinary },
    changes,
  } = context
  return {
    ...postgresCarrierWatches(context),
    beat: async (heartbeat) => stateOf(await ordinary.run(beat, valuesOf(heartbeat))),
    state: async () => stateOf(await ordinary.run(readFleetState, {})),
    onChange(changed) {
      changes.listen()
      changes.onChange(changed)
    },
    setMode: (...change) =>
      changes.around(
        kysely.transaction().execute(async (transaction) => {
          const isChange = (await writeMode(transaction, ...change)).length > 0
          if (isChange) await sql`select ${notifyOthers}`.execute(transaction)
          return isChange
        }),
      ),
    users: async () => (await runningUsers(kysely).execute()).map(userOf),
    reports: async (staleSeconds) => (await ordinary.run(listCarriers, { staleSeconds })).flatMap(reportedCarrier),
    figures: async (carrier) =>
      (await ordinary.run(sumFigures, { carrier })).map((row) => ({
        prefix: row.prefix,
        day: { delivered: row.delivered, failed: row.failed, unknown: row.unknown, refused: row.refused },
        hour: {
          ...{ delivered: row.hour_delivered, failed: row.hour_failed },
          ...{ unknown: row.hour_unknown, refused: row.hour_refused },
        },
      })),
  }
}

function valuesOf({ user: { process, version, simulated }, seconds, reports, counts }: Heartbeat) {
  const counted = counts.flatMap(({ carrier, counts: some }) => some.map((one) => ({ carrier, ...one })))
  return {
    ...{ process: process.id, host: process.host, pid: process.pid, version, simulated, seconds },
    reported: reports !== undefined,
    carriers: (reports ?? []).map(({ carrier }) => carrier),
    reports: (reports ?? []).map(({ carrier: _, ...report }) => JSON.stringify(report)),
    countedCarriers: counted.map(({ carrier }) => carrier),
    prefixes: counted.map(({ prefix }) => prefix),
    delivered: counted.map(({ delivered }) => delivered),
    failed: counted.map(({ failed }) => failed),
    unknown: counted.map(({ unknown }) => unknown),
    refused: counted.map(({ refused }) => refused),
  }
}

function stateOf([row]: readonly RowOf<typeof readFleetState>[]): FleetState {
  if (row === undefined) throw new Error('reading the state of the carriers returned no row')
  return { ...row, watches: row.watches.map((watch) => ({ ...watch, number: watch.number ?? undefined })) }
}

async function writeMode(transaction: Transaction<Tables>, ...[carrier, mode, by]: Parameters<Fleet['setMode']>) {
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

/** Returns the query for the running processes, by host and process id. */
export const runningUsers = (database: Kysely<Tables>) =>
  database
    .selectFrom('carrier_user')
    .selectAll()
    .where(isAhead('lease_until'))
    .orderBy(sql`host collate "C"`)
    .orderBy('pid')
    .orderBy('process')

function reportedCarrier(row: RowOf<typeof listCarriers>): readonly ReportedCarrier[] {
  const carrier = carrierId(row.carrier)
  if (carrier === undefined) return []
  const { mode = 'running', window, unanswered, status, overflowed } = row.report
  const process = { id: row.process, host: row.host, pid: row.pid }
  const [reportedAt, isStale] = [row.told_at, row.stale]
  const report = { carrier, mode, window, unanswered, status: status && whole(status), process, reportedAt, isStale }
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

export const userOf = (row: Selectable<Tables['carrier_user']>): CarrierUser => ({
  process: { id: row.process, host: row.host, pid: row.pid },
  version: row.version,
  simulated: row.simulated ?? undefined,
})
