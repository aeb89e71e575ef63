import { renewedShare, type CarrierBinds, type CarrierRates } from '@gateway/carrier-kit'
import { sql } from 'kysely'
import type { Context } from '../context.ts'
import { keepRate, leaseBinds, nextFreeBind, releaseBinds, renewBinds } from '../sql/carrier-shares.ts'

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
