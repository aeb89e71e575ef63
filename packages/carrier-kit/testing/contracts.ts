import { strict as assert } from 'node:assert'
import type { CarrierSharePorts, LeasedBinds } from '@gateway/carrier-kit'
import type { Contract } from '@gateway/core/contracts'
import { aCarrierId, until } from '@gateway/core/testing'

const carrier = aCarrierId('shared')
const wanting = (count: number, max = 3, seconds = 60) => ({ count, max, seconds })
const sorted = ({ numbers }: Pick<LeasedBinds, 'numbers'>): readonly number[] => numbers.toSorted((a, b) => a - b)

const carrierBinds: Contract<CarrierSharePorts> = {
  'each bind is leased once, up to the maximum': async ({ carrierBinds: binds }) => {
    assert.deepEqual(sorted(await binds.lease(carrier, 'one', wanting(2))), [1, 2])
    const second = await binds.lease(carrier, 'two', wanting(2))
    assert.deepEqual(second.numbers, [3])
    assert.ok((second.freeInMilliseconds ?? 0) > 30_000 && (second.freeInMilliseconds ?? 0) <= 60_000)
    const third = await binds.lease(carrier, 'three', wanting(1))
    assert.deepEqual(third.numbers, [])
    assert.deepEqual(await binds.lease(aCarrierId('other'), 'three', wanting(1)), {
      numbers: [1],
      freeInMilliseconds: undefined,
    })
  },

  'never more than the maximum of binds are leased, whatever the concurrency': async ({ carrierBinds: binds }) => {
    const holders = Array.from({ length: 24 }, (_, at) => `holder ${at}`)
    for (let round = 0; round < 5; round++) {
      const leased = await Promise.all(holders.map((holder) => binds.lease(carrier, holder, wanting(2, 7))))
      const numbers = leased.flatMap((one) => one.numbers)
      assert.equal(new Set(numbers).size, numbers.length)
      assert.ok(numbers.length <= 7 && numbers.length > 0)
      const rest = await binds.lease(carrier, 'last', wanting(9, 7))
      assert.deepEqual(sorted({ numbers: [...numbers, ...rest.numbers] }), [1, 2, 3, 4, 5, 6, 7])
      await Promise.all([
        ...holders.map((holder, at) => binds.release(carrier, holder, leased[at]?.numbers ?? [])),
        binds.release(carrier, 'last', rest.numbers),
      ])
    }
  },

  'a released lease is free at once, and only its holder can release it': async ({ carrierBinds: binds }) => {
    await binds.lease(carrier, 'one', wanting(3))
    await binds.release(carrier, 'two', [1, 2, 3])
    assert.deepEqual((await binds.lease(carrier, 'two', wanting(1))).numbers, [])
    await binds.release(carrier, 'one', [2])
    assert.deepEqual((await binds.lease(carrier, 'two', wanting(3))).numbers, [2])
    assert.deepEqual(sorted({ numbers: await binds.renew(carrier, 'one', 60) }), [1, 3])
  },

  'a lease that is not renewed ends, and its holder loses it': async ({ carrierBinds: binds }) => {
    assert.deepEqual((await binds.lease(carrier, 'one', wanting(1, 1, 0.2))).numbers, [1])
    await until(async () => (await binds.lease(carrier, 'two', wanting(1, 1))).numbers.length === 1)
    assert.deepEqual(await binds.renew(carrier, 'one', 60), [])
    await binds.release(carrier, 'one', [1])
    assert.deepEqual(await binds.renew(carrier, 'two', 60), [1])
  },

  'renewal extends a lease from the present time': async ({ carrierBinds: binds }) => {
    await binds.lease(carrier, 'one', wanting(2, 2, 30))
    assert.deepEqual(sorted({ numbers: await binds.renew(carrier, 'one', 300) }), [1, 2])
    const { numbers, freeInMilliseconds = 0 } = await binds.lease(carrier, 'two', wanting(1, 2))
    assert.deepEqual(numbers, [])
    assert.ok(freeInMilliseconds > 60_000)
  },

  'leases under a larger maximum count towards a smaller one': async ({ carrierBinds: binds }) => {
    await binds.lease(carrier, 'one', wanting(2, 5))
    await binds.lease(carrier, 'two', wanting(3, 5))
    await binds.release(carrier, 'one', [1, 2])
    assert.deepEqual((await binds.lease(carrier, 'three', wanting(5, 3))).numbers, [])
    assert.deepEqual((await binds.lease(carrier, 'three', wanting(5, 4))).numbers, [1])
  },
}

const wantedRate = (inUse: number, need: number, seconds = 60) => ({ perSecond: 20, inUse, need, seconds })

const carrierRates: Contract<CarrierSharePorts> = {
  'a process alone has the whole rate; a later one gets what the first reports as unused': async ({
    carrierRates: rates,
  }) => {
    assert.equal(await rates.renew(carrier, 'one', wantedRate(0, 0)), 20)
    assert.equal(await rates.renew(aCarrierId('other'), 'two', wantedRate(0, 20)), 20)
    assert.equal(await rates.renew(carrier, 'two', wantedRate(0, 20)), 1)
    assert.equal(await rates.renew(carrier, 'three', wantedRate(0, 0)), 0)
    assert.equal(await rates.renew(carrier, 'one', wantedRate(20, 4)), 4)
    assert.equal(await rates.renew(carrier, 'two', wantedRate(1, 20)), 1)
    assert.equal(await rates.renew(carrier, 'one', wantedRate(4, 4)), 4)
    assert.equal(await rates.renew(carrier, 'two', wantedRate(1, 20)), 15)
    assert.equal(await rates.renew(carrier, 'three', wantedRate(0, 0)), 1)
  },

  'a lease that is not renewed ends, and its share becomes free': async ({ carrierRates: rates }) => {
    assert.equal(await rates.renew(carrier, 'one', wantedRate(0, 20, 0)), 20)
    assert.equal(await rates.renew(carrier, 'two', wantedRate(0, 20)), 20)
    assert.equal(await rates.renew(carrier, 'one', wantedRate(20, 20)), 0)
    assert.equal(await rates.renew(carrier, 'one', wantedRate(0, 20)), 1)
  },

  'after an outage of the store, a returning process leaves shares to others whose leases ended meanwhile, once':
    async ({ carrierRates: rates }) => {
      const ends = (inUse: number) => wantedRate(inUse, 20, 0)
      for (const inUse of [0, 20]) await rates.renew(carrier, 'one', wantedRate(inUse, 20))
      await rates.renew(carrier, 'two', wantedRate(0, 20))
      await rates.renew(carrier, 'one', wantedRate(20, 20))
      assert.equal(await rates.renew(carrier, 'one', wantedRate(10, 20)), 10)
      assert.equal(await rates.renew(carrier, 'two', wantedRate(1, 20)), 10)
      assert.equal(await rates.renew(carrier, 'one', ends(10)), 10)
      assert.equal(await rates.renew(carrier, 'two', { ...wantedRate(10, 20), wasAway: true }), 10)
      assert.equal(await rates.renew(carrier, 'one', { ...ends(10), wasAway: true }), 10)
      assert.equal(await rates.renew(carrier, 'two', wantedRate(10, 20)), 20)
    },

  'with continuous concurrent renewals, the total never exceeds the rate by more than one, and each process soon has its share':
    async ({ carrierRates: rates }) => {
      const shares = new Map(Array.from({ length: 8 }, (_, at) => [`holder ${at}`, 0]))
      const renewAll = (holders: readonly string[]) =>
        Promise.all(
          holders.map(async (holder) => {
            const inUse = shares.get(holder) ?? 0
            shares.set(holder, await rates.renew(carrier, holder, wantedRate(inUse, 20)))
          }),
        )
      const sum = (): number => [...shares.values()].reduce((all, one) => all + one, 0)
      await renewAll([...shares.keys()].slice(0, 3))
      assert.ok(sum() <= 21)
      for (let round = 0; round < 6; round++) {
        await renewAll([...shares.keys()])
        assert.ok(sum() <= 21, `${sum()} a second`)
      }
      assert.deepEqual([...new Set(shares.values())].toSorted(), [2, 3])
      assert.equal(sum(), 20)
    },
}

/** Contracts of the ports through which processes share a carrier. Every adapter of these ports must pass all. */
export const carrierShareContracts: { readonly [Port in keyof CarrierSharePorts]: Contract<CarrierSharePorts> } = {
  carrierBinds,
  carrierRates,
}
