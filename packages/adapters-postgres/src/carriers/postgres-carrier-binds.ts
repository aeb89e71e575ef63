import type { CarrierBinds } from '@gateway/core'
import type { Context } from '../context.ts'
import { arrayOf } from '../sql/arrays.ts'
import { leaseBinds, nextFreeBind, releaseBinds, renewBinds } from '../sql/carrier-binds.ts'

export const postgresCarrierBinds = ({ pools: { ordinary } }: Context): CarrierBinds => ({
  async lease(carrier, holder, { count, max, seconds }) {
    const leased = await ordinary.run(leaseBinds, [carrier, holder, count, max, seconds])
    const numbers = leased.map(({ number }) => number)
    const [next] = numbers.length < count ? await ordinary.run(nextFreeBind, [carrier, holder]) : []
    return { numbers, freeInMilliseconds: next?.milliseconds }
  },
  renew: async (carrier, holder, seconds) =>
    (await ordinary.run(renewBinds, [carrier, holder, seconds])).map(({ number }) => number),
  async release(carrier, holder, numbers) {
    await ordinary.run(releaseBinds, [carrier, holder, arrayOf(numbers)])
  },
})
