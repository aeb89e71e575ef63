import { strict as assert } from 'node:assert'
import type { LeasedBinds, StoredPorts } from '@gateway/core'
import { aCarrierId } from '../ids.ts'
import { until } from '../until.ts'
import type { Contract } from './contract.ts'

const carrier = aCarrierId('shared')
const wanting = (count: number, max = 3, seconds = 60) => ({ count, max, seconds })
const sorted = ({ numbers }: Pick<LeasedBinds, 'numbers'>): readonly number[] => numbers.toSorted((a, b) => a - b)

/** What the port `CarrierBinds` promises. */
export const carrierBindsContract: Contract<StoredPorts> = {
  'each of the binds is leased once, and then none': async ({ carrierBinds: binds }) => {
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

  'never more than the maximum are leased, however many ask at the same time': async ({ carrierBinds: binds }) => {
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

  'a lease that was given back is free at once; only its holder can give it back': async ({ carrierBinds: binds }) => {
    await binds.lease(carrier, 'one', wanting(3))
    await binds.release(carrier, 'two', [1, 2, 3])
    assert.deepEqual((await binds.lease(carrier, 'two', wanting(1))).numbers, [])
    await binds.release(carrier, 'one', [2])
    assert.deepEqual((await binds.lease(carrier, 'two', wanting(3))).numbers, [2])
    assert.deepEqual(sorted({ numbers: await binds.renew(carrier, 'one', 60) }), [1, 3])
  },

  'a lease that is not renewed ends, and is lost to who held it': async ({ carrierBinds: binds }) => {
    assert.deepEqual((await binds.lease(carrier, 'one', wanting(1, 1, 0.2))).numbers, [1])
    await until(async () => (await binds.lease(carrier, 'two', wanting(1, 1))).numbers.length === 1)
    assert.deepEqual(await binds.renew(carrier, 'one', 60), [])
    await binds.release(carrier, 'one', [1])
    assert.deepEqual(await binds.renew(carrier, 'two', 60), [1])
  },

  'a renewed lease lasts from then on': async ({ carrierBinds: binds }) => {
    await binds.lease(carrier, 'one', wanting(2, 2, 30))
    assert.deepEqual(sorted({ numbers: await binds.renew(carrier, 'one', 300) }), [1, 2])
    const { numbers, freeInMilliseconds = 0 } = await binds.lease(carrier, 'two', wanting(1, 2))
    assert.deepEqual(numbers, [])
    assert.ok(freeInMilliseconds > 60_000)
  },

  'a smaller maximum counts what was leased under a larger one': async ({ carrierBinds: binds }) => {
    await binds.lease(carrier, 'one', wanting(2, 5))
    await binds.lease(carrier, 'two', wanting(3, 5))
    await binds.release(carrier, 'one', [1, 2])
    assert.deepEqual((await binds.lease(carrier, 'three', wanting(5, 3))).numbers, [])
    assert.deepEqual((await binds.lease(carrier, 'three', wanting(5, 4))).numbers, [1])
  },
}
