import type { RunningDispatcher, ReportedCarrier } from '@gateway/core/fleet'
import { instant } from '@gateway/core/time'
import { aCarrierId } from '@gateway/core/testing'
import { soundSurroundings } from '../../testing/operate.ts'
import { findings, type Readings } from './rules.ts'

const now = instant(Date.UTC(2026, 9, 18, 8))
const secondsAgo = (seconds: number) => instant(now - seconds * 1000)
const dispatcher = { id: 1, leaseUntil: now, overdue: false, loads: [] } as unknown as RunningDispatcher
const sim: ReportedCarrier = {
  carrier: aCarrierId('sim'),
  mode: 'running',
  window: 10,
  unanswered: 0,
  status: undefined,
  process: { id: 'p', host: 'h', pid: 1 },
  reportedAt: now,
  isStale: false,
}
const links = (boundSince: number | undefined) =>
  ({
    links: [{ role: 'transceiver', boundSince, inUse: 0 }],
    receipts: { received: 1, missed: 0 },
    lastError: 'refused',
  }) as unknown as NonNullable<ReportedCarrier['status']>
const sound: Readings = {
  ...soundSurroundings,
  now,
  dispatchers: [dispatcher],
  carriers: [sim],
  webhooks: [],
  promotions: [],
  oldestDue: secondsAgo(3),
}
const { database } = sound
const set = (changed: Readonly<Record<string, string>>): Partial<Readings> => ({
  database: { ...database, settings: new Map([...database.settings, ...Object.entries(changed)]) },
})
const withDatabase = (changed: Partial<Readings['database']>): Partial<Readings> => ({
  database: { ...database, ...changed },
})
const standby = { name: 'b', state: 'streaming', isSynchronous: true, lagBytes: 0 }
const synchronous = (standbys: Readings['database']['standbys']): Partial<Readings> => ({
  database: { ...database, standbys, settings: new Map([...database.settings, ['synchronous_standby_names', 'b']]) },
})
const total = (condition: 'failing' | 'paused') =>
  ({ condition, endpoints: 2 }) as unknown as Readings['webhooks'][number]
const [mebibyte, gibibyte] = [2 ** 20, 2 ** 30]

test('a healthy gateway has only good findings', () => {
  expect(findings(sound).filter(({ state }) => state !== 'good')).toEqual([])
})

test.each<[string, Partial<Readings>, readonly string[]]>([
  ['a clock that is 1.9 s ahead', { clockOffsetSeconds: 1.9 }, []],
  ['a clock that is 2 s behind', { clockOffsetSeconds: -2 }, ['warning clock']],
  ['fsync off', set({ fsync: 'off' }), ['bad fsync']],
  ['synchronous_commit off', set({ synchronous_commit: 'off' }), ['bad commits']],
  ['a standby that commits wait for', synchronous([standby]), []],
  ['no standby to wait for', synchronous([]), ['bad commits']],
  [
    'a standby that only catches up',
    synchronous([{ ...standby, state: 'catchup' }]),
    ['bad commits', 'warning standby b'],
  ],
  [
    'a standby that may not be seen',
    synchronous([{ ...standby, state: undefined }]),
    ['warning commits', 'warning standby b'],
  ],
  ['commits that do not wait', { database: { ...synchronous([standby]).database, ...set({ synchronous_commit: 'local', synchronous_standby_names: 'b' }).database } as Readings['database'] }, ['bad commits']], // prettier-ignore
  ['a standby 64 MiB behind', withDatabase({ standbys: [{ ...standby, lagBytes: 64 * mebibyte }] }), []],
  [
    'a standby 65 MiB behind',
    withDatabase({ standbys: [{ ...standby, lagBytes: 65 * mebibyte }] }),
    ['warning standby b'],
  ],
  ['a standby 2 GiB behind', withDatabase({ standbys: [{ ...standby, lagBytes: 2 * gibibyte }] }), ['bad standby b']],
  ['wal_level minimal', set({ wal_level: 'minimal' }), ['warning wal_level']],
  ['160 of 200 connections', withDatabase({ connections: 160 }), []],
  ['161 of 200 connections', withDatabase({ connections: 161 }), ['warning connections']],
  ['191 of 200 connections', withDatabase({ connections: 191 }), ['bad connections']],
  ['a disk that is nearly full', { disk: { free: 19, all: 100 } }, ['warning disk']],
  ['a disk that is full', { disk: { free: 4, all: 100 } }, ['bad disk']],
  ['the disk of another machine', { disk: undefined }, []],
  ['a transaction of 5 min', withDatabase({ longestTransactionSeconds: 300 }), ['warning transactions']],
  ['a transaction of an hour', withDatabase({ longestTransactionSeconds: 3600 }), ['bad transactions']],
  ['no partition ahead', withDatabase({ partitionsAhead: 0 }), ['bad partitions']],
  ['no dispatcher', { dispatchers: [] }, ['bad dispatchers']],
  ['a lease that is over', { dispatchers: [dispatcher, { ...dispatcher, overdue: true }] }, ['warning dispatchers']],
  ['only leases that are over', { dispatchers: [{ ...dispatcher, overdue: true }] }, ['bad dispatchers']],
  ['a message due for 1 min', { oldestDue: secondsAgo(60) }, ['warning queue']],
  ['a message due for 10 min', { oldestDue: secondsAgo(600) }, ['bad queue']],
  ['a carrier that is bound', { carriers: [{ ...sim, status: links(now) }] }, []],
  ['a carrier that is not bound', { carriers: [{ ...sim, status: links(undefined) }] }, ['bad carrier sim']],
  ['a carrier that one of two has bound', { carriers: [{ ...sim, status: links(undefined) }, { ...sim, status: links(now) }] }, []], // prettier-ignore
  ['a carrier that is paused', { carriers: [{ ...sim, mode: 'paused' }] }, ['warning carrier sim']],
  ['a carrier of a dead process', { carriers: [{ ...sim, isStale: true }] }, ['bad carrier sim']],
  ['webhooks that fail', { webhooks: [total('failing'), total('paused')] }, ['warning webhooks']],
  [
    'a certificate of 13 days',
    { certificates: [{ of: 'ca', ends: now + 13.9 * 86_400_000 }] },
    ['warning certificate ca'],
  ],
  ['a certificate of 14 days', { certificates: [{ of: 'ca', ends: now + 14 * 86_400_000 }] }, []],
  ['a certificate that has ended', { certificates: [{ of: 'ca', ends: now }] }, ['bad certificate ca']],
  [
    'an old primary, and a server that is away',
    withDatabase({
      servers: [
        { server: 'a:5432', state: 'old-primary', timeline: 1 },
        { server: 'b:5432', state: 'primary', timeline: 2 },
        { server: 'c:5432', state: 'away', timeline: undefined, problem: 'ECONNREFUSED' },
      ],
    }),
    ['bad server a:5432', 'warning server c:5432'],
  ],
])('%s', (_, changed, expected) => {
  const found = findings({ ...sound, ...changed }).filter(({ state }) => state !== 'good')
  expect(found.map(({ state, about }) => `${state} ${about}`)).toEqual(expected)
  // Every finding that is not good has advice.
  expect(found.filter(({ advice }) => advice === undefined)).toEqual([])
})

test('the printed command for rewinding an old primary can be run: it names host and port of the new one as libpq requires', () => {
  const servers = [
    { server: '127.0.0.1:27432', state: 'old-primary', timeline: 1 },
    { server: '127.0.0.1:27433', state: 'primary', timeline: 2 },
  ] as const
  const { advice } = findings({ ...sound, ...withDatabase({ servers }) }).find(({ state }) => state === 'bad') ?? {}
  expect(advice).toContain(`--source-server='host=127.0.0.1 port=27433'`)
})
