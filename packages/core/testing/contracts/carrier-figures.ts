import { strict as assert } from 'node:assert'
import type { StoredPorts } from '@gateway/core'
import type { PrefixCounts } from '@gateway/core/fleet'
import { aCarrierId } from '../builders.ts'
import { concurrentCallers, type Contract } from './shared.ts'

const [a, b] = [aCarrierId('a'), aCarrierId('b')]

const counts = (prefix: string, ...[delivered, failed, unknown, refused]: readonly number[]): PrefixCounts => ({
  ...{ prefix, delivered: delivered ?? 0, failed: failed ?? 0, unknown: unknown ?? 0, refused: refused ?? 0 },
})

/** Contract of the port `CarrierFigures`. */
export const carrierFiguresContract: Contract<StoredPorts> = {
  'counts of processes are summed by carrier and prefix': async ({ carrierFigures: figures }) => {
    assert.deepEqual(await figures.of(a), [])
    await figures.add(a, [counts('27', 5, 1, 2, 3), counts('', 0, 0, 1)])
    await figures.add(a, [counts('27', 10), counts('1', 0, 0, 0, 4)])
    await figures.add(b, [counts('27', 100)])
    await figures.add(a, [])
    const figuresOfA = await figures.of(a)
    assert.deepEqual(
      figuresOfA.map(({ prefix, day }) => ({ prefix, ...day })),
      [counts('', 0, 0, 1), counts('1', 0, 0, 0, 4), counts('27', 15, 1, 2, 3)],
    )
    for (const { hour, day } of figuresOfA) assert.deepEqual(hour, day)
  },

  'concurrent additions are all counted': async ({ carrierFigures: figures }) => {
    const some = [counts('27', 1), counts('1', 1), counts('44', 1)]
    await Promise.all(
      Array.from({ length: concurrentCallers }, (_, at) => figures.add(a, at % 2 === 0 ? some : some.toReversed())),
    )
    assert.deepEqual(
      (await figures.of(a)).map(({ day }) => day.delivered),
      [concurrentCallers, concurrentCallers, concurrentCallers],
    )
  },
}
