import { strict as assert } from 'node:assert'
import type { StoredPorts } from '@gateway/core'
import { credits, priceFor, priceMax } from '@gateway/core/credits'
import { anAccount, aNumber } from '../builders.ts'
import { concurrentCallers, type Contract } from './shared.ts'

export const pricesContract: Contract<StoredPorts> = {
  'a new store has one price, 1.0 for every number (ruling 1.4)': async ({ prices }) => {
    assert.deepEqual([...(await prices.table())], [['', 10]])
  },

  'prices are set, replaced and removed, including that of all other numbers': async ({ prices }) => {
    await prices.set('27', credits(7))
    await prices.set('2782', credits(0))
    await prices.set('27', credits(8))
    await prices.set('', credits(25))
    assert.deepEqual(
      await prices.table(),
      new Map([
        ['', 25],
        ['27', 8],
        ['2782', 0],
      ]),
    )
    assert.equal(await prices.remove('27'), true)
    assert.equal(await prices.remove('27'), false)
    assert.equal(await prices.remove(''), true)
    assert.equal(await prices.remove('2'), false, 'no such row')
    const table = await prices.table()
    assert.deepEqual(table, new Map([['2782', 0]]))
    assert.equal(priceFor(undefined, table, aNumber('27821234567')), 0)
    assert.equal(priceFor(undefined, table, aNumber('27831234567')), undefined)
  },

  'an account may have prices of its own, which do not apply to others': async (ports) => {
    const { prices } = ports
    const [one, other] = [await anAccount(ports), await anAccount(ports)]
    assert.equal(await prices.of(one.id), undefined)
    await prices.set('2782', credits(7))
    await prices.set('27', credits(3), one.id)
    await prices.set('27', credits(4), one.id)
    assert.deepEqual(await prices.of(one.id), new Map([['27', 4]]))
    assert.equal(await prices.of(other.id), undefined)
    assert.deepEqual(
      await prices.table(),
      new Map([
        ['', 10],
        ['2782', 7],
      ]),
    )
    assert.equal(await prices.remove('27', other.id), false)
    assert.equal(await prices.remove('27', one.id), true)
    assert.equal(await prices.remove('27', one.id), false)
    assert.equal(await prices.of(one.id), undefined)
    await assert.rejects(prices.set('27', credits(-1), one.id), RangeError)
  },

  'concurrent changes and removals of a price of one account leave one row or none': async (ports) => {
    const { id } = await anAccount(ports)
    await Promise.all(Array.from({ length: concurrentCallers }, (_, i) => ports.prices.set('44', credits(i + 1), id)))
    assert.equal((await ports.prices.of(id))?.size, 1)
    const removed = await Promise.all(Array.from({ length: concurrentCallers }, () => ports.prices.remove('44', id)))
    assert.equal(removed.filter(Boolean).length, 1)
  },

  'a large price is stored exactly': async ({ prices }) => {
    await prices.set('999', credits(1_234_567))
    assert.equal((await prices.table()).get('999'), 1_234_567)
  },

  'an invalid price is not set and changes nothing': async ({ prices }) => {
    await prices.set('44', priceMax)
    for (const wrong of [-1, priceMax + 1, Number.MAX_SAFE_INTEGER]) {
      await assert.rejects(prices.set('44', credits(wrong)), RangeError)
    }
    assert.equal((await prices.table()).get('44'), priceMax)
  },

  'of concurrent prices for one prefix one stays': async ({ prices }) => {
    await Promise.all(Array.from({ length: concurrentCallers }, (_, i) => prices.set('44', credits(i + 1))))
    const table = await prices.table()
    assert.equal(table.size, 2)
    const price = table.get('44') ?? assert.fail('no price')
    assert.ok(price >= 1 && price <= concurrentCallers)
  },

  'of concurrent removals of one price one succeeds, and nothing is left': async ({ prices }) => {
    await prices.set('44', credits(1))
    const removed = await Promise.all(Array.from({ length: concurrentCallers }, () => prices.remove('44')))
    assert.equal(removed.filter(Boolean).length, 1)
    assert.deepEqual([...(await prices.table())], [['', 10]])
  },
}
