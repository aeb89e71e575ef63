import type { Fleet, WatchedTraffic } from '@gateway/core/fleet'
import { sql } from 'kysely'
import { notifyOthers } from '../changes.ts'
import type { Context } from '../context.ts'
import { secondsFromNow } from '../query-parts.ts'

/** Returns the part of the port that is about the watches of operators. */
export const postgresCarrierWatches = ({
  pools: { kysely },
  changes,
}: Context): Pick<Fleet, 'renewWatch' | 'endWatch' | 'reportTraffic' | 'takeTraffic'> => ({
  renewWatch: ({ id, carrier, number, hasText }, seconds) =>
    changes.around(
      kysely.transaction().execute(async (transaction) => {
        const isOver = sql<boolean>`watched_until <= now()`
        await transaction.deleteFrom('carrier_watch').where(isOver).where('id', '<>', id).execute()
        const values = { carrier, number: number ?? null, has_text: hasText }
        const until = { watched_until: secondsFromNow(seconds) }
        await transaction
          .insertInto('carrier_watch')
          .values({ id, ...values, ...until })
          .onConflict((conflict) => conflict.column('id').doUpdateSet(until))
          .execute()
        await sql`select ${notifyOthers}`.execute(transaction)
      }),
    ),
  endWatch: async (id) => {
    await changes.around(
      kysely.deleteFrom('carrier_watch').where('id', '=', id).returning(notifyOthers.as('notified')).execute(),
    )
  },
  async reportTraffic(traffic) {
    if (traffic.length === 0) return
    const [watches, texts] = [traffic.map(({ watch }) => watch), traffic.map((one) => JSON.stringify(one))]
    await sql`
      insert into watched_pdu (watch, pdu)
      select watch, pdu
      from unnest(${watches}::uuid[], ${texts}::text[]) with ordinality told(watch, pdu, position)
      where exists (select from carrier_watch where id = watch and watched_until > now() for key share)
      order by position`.execute(kysely)
  },
  async takeTraffic(id, countMax) {
    const { rows } = await sql<{ pdu: WatchedTraffic }>`
      with taken as (
        delete from watched_pdu
        where id in (
          select id from watched_pdu where watch = ${id} order by id limit ${countMax} for update skip locked
        )
        returning id, pdu
      )
      select pdu::json from taken order by id`.execute(kysely)
    return rows.map(({ pdu }) => pdu)
  },
})
