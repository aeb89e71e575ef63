import { strict as assert } from 'node:assert'
import type { StoredPorts } from '@gateway/core'
import type { CarrierWatch, WatchedTraffic } from '@gateway/core/fleet'
import { aCarrierId } from '../builders.ts'
import { until } from '../until.ts'
import type { Contract } from './shared.ts'

const aWatch = (at: number, more: Partial<CarrierWatch> = {}): CarrierWatch => ({
  ...{ id: `0195e9c4-0000-4000-8000-00000000000${at}`, carrier: aCarrierId('one'), number: undefined, hasText: false },
  ...more,
})
const [first, second] = [aWatch(1), aWatch(2, { number: '27825550101', hasText: true })]

const aPdu = (watch: CarrierWatch, sequence: number): WatchedTraffic => ({
  ...{ watch: watch.id, host: 'alpha', pid: 11, at: 1_790_000_000_123, leftOut: 0 },
  ...{ direction: 'sent', role: 'transceiver', fields: { command: 'submit_sm', sequence, note: '"\\ \u2028 é' } },
})

/** Contract of the port `CarrierWatches`. */
export const carrierWatchesContract: Contract<StoredPorts> = {
  'a watch is listed whole until it is over or ends, and is told to who waits for changes': async ({
    carrierWatches,
  }) => {
    let told = 0
    carrierWatches.onChange(() => told++)
    assert.deepEqual(await carrierWatches.list(), [])
    await carrierWatches.renew(first, 60)
    await until(() => told > 0)
    await carrierWatches.renew(second, 60)
    await carrierWatches.renew(second, 60)
    assert.deepEqual(
      (await carrierWatches.list()).toSorted((a, b) => (a.id < b.id ? -1 : 1)),
      [first, second],
    )
    const before = told
    await carrierWatches.end(first.id)
    await carrierWatches.end(first.id)
    await until(() => told > before)
    assert.deepEqual(await carrierWatches.list(), [second])
    await carrierWatches.renew(second, 0)
    assert.deepEqual(await carrierWatches.list(), [])
  },

  'what is told of a watch is taken once, whole and in order; what is of none is dropped': async ({
    carrierWatches,
  }) => {
    await carrierWatches.renew(first, 60)
    await carrierWatches.renew(second, 60)
    await carrierWatches.tell([aPdu(first, 1), aPdu(aWatch(3), 2), aPdu(second, 3), aPdu(first, 4)])
    await carrierWatches.tell([aPdu(first, 5)])
    await carrierWatches.tell([])
    assert.deepEqual(await carrierWatches.take(first.id, 2), [aPdu(first, 1), aPdu(first, 4)])
    assert.deepEqual(await carrierWatches.take(first.id, 2), [aPdu(first, 5)])
    assert.deepEqual(await carrierWatches.take(first.id, 2), [])
    await carrierWatches.end(second.id)
    assert.deepEqual(await carrierWatches.take(second.id, 2), [])
    assert.deepEqual(await carrierWatches.take(aWatch(3).id, 2), [])
  },

  'of many that tell and take at the same time nothing is lost or taken twice': async ({ carrierWatches }) => {
    await carrierWatches.renew(first, 60)
    const sequences = Array.from({ length: 64 }, (_, at) => at)
    const taken: WatchedTraffic[] = []
    const takeSome = async () => void taken.push(...(await carrierWatches.take(first.id, 5)))
    await Promise.all(sequences.flatMap((at) => [carrierWatches.tell([aPdu(first, at)]), takeSome()]))
    for (let rest = -1; rest !== taken.length;) {
      rest = taken.length
      await takeSome()
    }
    assert.deepEqual(
      taken.map(({ fields }) => fields['sequence'] as number).toSorted((a, b) => a - b),
      sequences,
    )
  },
}
