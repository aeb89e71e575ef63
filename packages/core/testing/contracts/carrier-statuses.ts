import { strict as assert } from 'node:assert'
import type { CarrierReport, CarrierStatus, StoredPorts } from '@gateway/core'
import { aCarrierId } from '../ids.ts'
import type { Contract } from './contract.ts'

const status: CarrierStatus = {
  links: [
    { role: 'transmitter', boundSince: 1_790_000_000_000, inUse: 3 },
    { role: 'receiver', boundSince: undefined, inUse: 0 },
  ],
  perSecond: 12.5,
  isThrottled: true,
  waiting: 4,
  lastError: 'ESME_RTHROTTLED "\u2028\\',
  receipts: { received: 7, missed: 2, form: 'hex' },
  unreadable: 1,
}

const aReport = (carrier: string, more: Partial<CarrierReport> = {}): CarrierReport => ({
  ...{ carrier: aCarrierId(carrier), window: 50, unanswered: 3, status },
  ...more,
})

const one = { id: '0195e9c4-0000-4000-8000-000000000001', host: 'alpha', pid: 11 }
const other = { id: '0195e9c4-0000-4000-8000-000000000002', host: 'beta', pid: 11 }

const told = async ({ carrierStatuses }: Pick<StoredPorts, 'carrierStatuses'>, staleSeconds = 60) =>
  (await carrierStatuses.list(staleSeconds)).map(({ carrier, process, isStale }) => [carrier, process.host, isStale])

/** What the port `CarrierStatuses` promises. */
export const carrierStatusesContract: Contract<StoredPorts> = {
  'what was told is listed, whole': async ({ carrierStatuses }) => {
    assert.deepEqual(await carrierStatuses.list(60), [])
    const bare = {
      links: [],
      perSecond: undefined,
      lastError: undefined,
      receipts: { received: 0, missed: 0, form: undefined },
    }
    await carrierStatuses.tell(one, [
      aReport('a'),
      aReport('b', { status: undefined }),
      aReport('c', { status: { ...status, ...bare } }),
    ])
    const [a, b, c] = await carrierStatuses.list(60)
    assert.equal(typeof a?.toldAt, 'number')
    assert.deepEqual({ ...a, toldAt: 0 }, { ...aReport('a'), process: one, toldAt: 0, isStale: false })
    assert.deepEqual([b?.carrier, b?.status], ['b', undefined])
    assert.deepEqual(c?.status, { ...status, ...bare })
  },

  'a process replaces what it told, and touches nothing of another': async (ports) => {
    await ports.carrierStatuses.tell(other, [aReport('a')])
    await ports.carrierStatuses.tell(one, [aReport('a'), aReport('b')])
    await ports.carrierStatuses.tell(one, [aReport('b'), aReport('c')])
    assert.deepEqual(await told(ports), [
      ['a', 'beta', false],
      ['b', 'alpha', false],
      ['c', 'alpha', false],
    ])
    await ports.carrierStatuses.tell(one, [])
    assert.deepEqual(await told(ports), [['a', 'beta', false]])
  },

  'they are listed by carrier, then host, and are stale after the time that is asked for': async (ports) => {
    await ports.carrierStatuses.tell(other, [aReport('b'), aReport('a')])
    await ports.carrierStatuses.tell(one, [aReport('b')])
    assert.deepEqual(await told(ports, 0), [
      ['a', 'beta', true],
      ['b', 'alpha', true],
      ['b', 'beta', true],
    ])
  },
}
