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

/** Promises of the port `Fleet` about the watches of operators. */
export const watching: Contract<StoredPorts> = {
  'a watch is listed until it expires or ends, and listeners are notified of it': async ({ fleet }) => {
    const list = async () => (await fleet.state()).watches
    let notifications = 0
    fleet.onChange(() => notifications++)
    assert.deepEqual(await list(), [])
    await fleet.renewWatch(first, 60)
    await until(() => notifications > 0)
    await fleet.renewWatch(second, 60)
    await fleet.renewWatch(second, 60)
    assert.deepEqual(
      (await list()).toSorted((a, b) => (a.id < b.id ? -1 : 1)),
      [first, second],
    )
    const before = notifications
    await fleet.endWatch(first.id)
    await fleet.endWatch(first.id)
    await until(() => notifications > before)
    assert.deepEqual(await list(), [second])
    await fleet.renewWatch(second, 0)
    assert.deepEqual(await list(), [])
  },

  'PDUs of a watch are returned once, complete and in order; PDUs without a watch are dropped': async ({ fleet }) => {
    await fleet.renewWatch(first, 60)
    await fleet.renewWatch(second, 60)
    await fleet.reportTraffic([aPdu(first, 1), aPdu(aWatch(3), 2), aPdu(second, 3), aPdu(first, 4)])
    await fleet.reportTraffic([aPdu(first, 5)])
    await fleet.reportTraffic([])
    assert.deepEqual(await fleet.takeTraffic(first.id, 2), [aPdu(first, 1), aPdu(first, 4)])
    assert.deepEqual(await fleet.takeTraffic(first.id, 2), [aPdu(first, 5)])
    assert.deepEqual(await fleet.takeTraffic(first.id, 2), [])
    await fleet.endWatch(second.id)
    assert.deepEqual(await fleet.takeTraffic(second.id, 2), [])
    assert.deepEqual(await fleet.takeTraffic(aWatch(3).id, 2), [])
  },

  'concurrent reports and reads lose no PDU and return none twice': async ({ fleet }) => {
    await fleet.renewWatch(first, 60)
    const sequences = Array.from({ length: 64 }, (_, at) => at)
    const received: WatchedTraffic[] = []
    const takeSome = async () => void received.push(...(await fleet.takeTraffic(first.id, 5)))
    await Promise.all(sequences.flatMap((at) => [fleet.reportTraffic([aPdu(first, at)]), takeSome()]))
    for (let rest = -1; rest !== received.length;) {
      rest = received.length
      await takeSome()
    }
    assert.deepEqual(
      received.map(({ fields }) => fields['sequence'] as number).toSorted((a, b) => a - b),
      sequences,
    )
  },
}
