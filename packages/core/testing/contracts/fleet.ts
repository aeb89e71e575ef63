import { strict as assert } from 'node:assert'
import type { StoredPorts } from '@gateway/core'
import type { CarrierStatus } from '@gateway/core/dispatch'
import type { CarrierReport, CarrierUser, Fleet, Heartbeat, PrefixCounts } from '@gateway/core/fleet'
import type { SealedSecret } from '@gateway/core/webhooks'
import { aCarrierId } from '../builders.ts'
import { until } from '../until.ts'
import { watching } from './fleet-watches.ts'
import { combined, concurrentCallers, type Contract } from './shared.ts'

const status: CarrierStatus = {
  window: 100,
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
  circuit: {
    ...{ state: 'half-open', since: 1_790_000_000_000, reason: 'silent', answerMilliseconds: undefined },
    ...{ silentSeconds: 5, slowSeconds: 7.5, failuresPercent: 50, probeSeconds: 3, probeSecondsMax: 50 },
  },
}

const aReport = (carrier: string, more: Partial<CarrierReport> = {}): CarrierReport => ({
  ...{ carrier: aCarrierId(carrier), mode: 'running', window: 50, unanswered: 3, status },
  ...more,
})

const aUser = (nth: number, host = 'alpha'): CarrierUser => ({
  process: { id: `0195e9c4-0000-4000-8000-00000000000${nth}`, host, pid: 10 + nth },
  ...{ version: 0, simulated: undefined },
})
const one = aUser(1)
const other = aUser(2, 'beta')

const beatOf = (user: CarrierUser, more: Partial<Heartbeat> = {}): Heartbeat => ({
  ...{ user, seconds: 60, reports: undefined, counts: [] },
  ...more,
})

const report = (fleet: Fleet, user: CarrierUser, ...reports: readonly CarrierReport[]) =>
  fleet.beat(beatOf(user, { reports }))

const reportsOf = async (fleet: Fleet, staleSeconds = 60) =>
  (await fleet.reports(staleSeconds)).map(({ carrier, process, isStale }) => [carrier, process.host, isStale])

const pausedIn = async (fleet: Fleet) =>
  (await fleet.state()).paused.map(({ carrier, mode, by }) => [carrier, mode, by])

const [a, b] = [aCarrierId('a'), aCarrierId('b')]

const counted = (prefix: string, ...[delivered, failed, unknown, refused]: readonly number[]): PrefixCounts => ({
  ...{ prefix, delivered: delivered ?? 0, failed: failed ?? 0, unknown: unknown ?? 0, refused: refused ?? 0 },
})

const reporting: Contract<StoredPorts> = {
  'a process runs for the time of its last heartbeat, with the version that this named': async ({ fleet }) => {
    assert.deepEqual(await fleet.users(), [])
    await fleet.beat(beatOf(other))
    await fleet.beat(beatOf(one))
    assert.deepEqual(await fleet.users(), [one, other])
    const simulating = { ...one, simulated: '{}' }
    await fleet.beat(beatOf(simulating))
    assert.deepEqual(await fleet.users(), [simulating, other])
    await fleet.beat(beatOf({ ...one, version: 3 }))
    assert.deepEqual(await fleet.users(), [{ ...one, version: 3 }, other])
  },

  'a heartbeat of 0 seconds without carriers leaves nothing of the process behind': async ({ fleet }) => {
    await report(fleet, one, aReport('a'))
    await report(fleet, other, aReport('a'))
    await fleet.beat(beatOf(one, { seconds: 0, reports: [], counts: [{ carrier: a, counts: [counted('27', 1)] }] }))
    assert.deepEqual(await fleet.users(), [other])
    assert.deepEqual(await reportsOf(fleet), [['a', 'beta', false]])
    assert.equal((await fleet.figures(a))[0]?.day.delivered, 1)
  },

  'a heartbeat returns the last version, the paused carriers and the watches': async (ports) => {
    const { fleet, carrierVersions } = ports
    assert.deepEqual(await fleet.beat(beatOf(one)), { version: 0, paused: [], watches: [] })
    const next = { sealed: 'sealed' as SealedSecret, digest: 'x', carriers: [], routes: [], storedBy: 'a test' }
    await carrierVersions.store(next, 0, { onPurpose: true })
    await carrierVersions.store(next, 1, { onPurpose: true })
    await fleet.setMode(b, 'paused', 'the operator')
    await fleet.setMode(a, 'drained', 'the operator')
    const watches = [1, 2].map((nth) => ({
      ...{ id: `0195e9c4-0000-4000-8000-00000000000${nth}`, carrier: a, hasText: nth === 2 },
      number: nth === 1 ? undefined : '27825550101',
    }))
    for (const watch of watches.toReversed()) await fleet.renewWatch(watch, 60)
    const state = await fleet.beat(beatOf(one))
    assert.deepEqual([state.version, state.watches], [2, watches])
    assert.deepEqual(
      state.paused.map(({ carrier, mode, by }) => [carrier, mode, by]),
      [
        ['a', 'drained', 'the operator'],
        ['b', 'paused', 'the operator'],
      ],
    )
    assert.equal(typeof state.paused[0]?.since, 'number')
    assert.deepEqual(await fleet.state(), state)
    for (const { id } of watches) await fleet.endWatch(id)
    assert.deepEqual((await fleet.beat(beatOf(one))).watches, [])
  },

  'reports are listed unchanged': async ({ fleet }) => {
    assert.deepEqual(await fleet.reports(60), [])
    const bare = {
      links: [],
      perSecond: undefined,
      lastError: undefined,
      receipts: { received: 0, missed: 0, form: undefined },
    }
    await report(
      fleet,
      one,
      aReport('a'),
      aReport('b', { mode: 'paused', status: undefined }),
      aReport('c', { status: { ...status, ...bare }, overflowed: 7 }),
    )
    const [first, second, third] = await fleet.reports(60)
    assert.equal(typeof first?.reportedAt, 'number')
    assert.deepEqual(
      { ...first, reportedAt: 0 },
      { ...aReport('a'), process: one.process, reportedAt: 0, isStale: false },
    )
    assert.deepEqual([second?.carrier, second?.mode, second?.status], ['b', 'paused', undefined])
    assert.deepEqual([third?.mode, third?.status, third?.overflowed], ['running', { ...status, ...bare }, 7])
  },

  'reports replace the previous ones of the same process and no others, and a heartbeat without reports keeps them':
    async ({ fleet }) => {
      await report(fleet, other, aReport('a'))
      await report(fleet, one, aReport('a'), aReport('b'))
      await report(fleet, one, aReport('b'), aReport('c'))
      await fleet.beat(beatOf(one))
      assert.deepEqual(await reportsOf(fleet), [
        ['a', 'beta', false],
        ['b', 'alpha', false],
        ['c', 'alpha', false],
      ])
      await report(fleet, one)
      assert.deepEqual(await reportsOf(fleet), [['a', 'beta', false]])
    },

  'reports are sorted by carrier, then host, and are stale after the requested time': async ({ fleet }) => {
    await report(fleet, other, aReport('b'), aReport('a'))
    await report(fleet, one, aReport('b'))
    assert.deepEqual(await reportsOf(fleet, 0), [
      ['a', 'beta', true],
      ['b', 'alpha', true],
      ['b', 'beta', true],
    ])
  },

  'a carrier has the mode that was set last, whatever processes report, and other carriers are not affected': async ({
    fleet,
  }) => {
    assert.equal(await fleet.setMode(b, 'paused', 'one'), true)
    assert.equal(await fleet.setMode(a, 'drained', 'one'), true)
    const [, first] = (await fleet.state()).paused
    await report(fleet, one, aReport('a', { mode: 'running' }), aReport('c', { mode: 'paused' }))
    assert.equal(await fleet.setMode(b, 'paused', 'two'), false)
    assert.deepEqual((await fleet.state()).paused[1], first)
    assert.equal(await fleet.setMode(b, 'drained', 'three'), true)
    assert.deepEqual(await pausedIn(fleet), [
      ['a', 'drained', 'one'],
      ['b', 'drained', 'three'],
    ])
    assert.equal(await fleet.setMode(b, 'running', 'four'), true)
    assert.equal(await fleet.setMode(b, 'running', 'four'), false)
    assert.deepEqual(await pausedIn(fleet), [['a', 'drained', 'one']])
  },

  'listeners are notified of modes and versions': async ({ fleet, carrierVersions }) => {
    let notifications = 0
    fleet.onChange(() => notifications++)
    const version = { sealed: 'sealed' as SealedSecret, digest: 'x', carriers: [], routes: [], storedBy: 'a test' }
    const changes: readonly (() => Promise<unknown>)[] = [
      () => fleet.setMode(a, 'paused', 'one'),
      () => fleet.setMode(a, 'running', 'one'),
      () => carrierVersions.store(version, 0, { onPurpose: true }),
    ]
    for (const change of changes) {
      const before = notifications
      await change()
      await until(() => notifications > before)
    }
  },

  'of concurrent changes of a mode one is the last, and each change is notified once': async ({ fleet }) => {
    const changes = await Promise.all(
      Array.from({ length: concurrentCallers }, (_, at) => fleet.setMode(a, 'paused', String(at))),
    )
    assert.equal(changes.filter(Boolean).length, 1)
    assert.deepEqual(await pausedIn(fleet), [['a', 'paused', String(changes.indexOf(true))]])
  },

  'counts of processes are summed by carrier and prefix': async ({ fleet }) => {
    assert.deepEqual(await fleet.figures(a), [])
    await fleet.beat(
      beatOf(one, { counts: [{ carrier: a, counts: [counted('27', 5, 1, 2, 3), counted('', 0, 0, 1)] }] }),
    )
    await fleet.beat(
      beatOf(other, {
        counts: [
          { carrier: a, counts: [counted('27', 10), counted('1', 0, 0, 0, 4)] },
          { carrier: b, counts: [counted('27', 100)] },
        ],
      }),
    )
    await fleet.beat(beatOf(one, { counts: [{ carrier: a, counts: [] }] }))
    const figures = await fleet.figures(a)
    assert.deepEqual(
      figures.map(({ prefix, day }) => ({ prefix, ...day })),
      [counted('', 0, 0, 1), counted('1', 0, 0, 0, 4), counted('27', 15, 1, 2, 3)],
    )
    for (const { hour, day } of figures) assert.deepEqual(hour, day)
    assert.equal((await fleet.figures(b))[0]?.day.delivered, 100)
  },

  'the counts and reports of concurrent heartbeats are all stored': async ({ fleet }) => {
    const some = [a, b].map((carrier) => ({ carrier, counts: ['27', '1', '44'].map((prefix) => counted(prefix, 1)) }))
    const users = Array.from({ length: concurrentCallers }, (_, at) => ({
      ...one,
      process: { ...one.process, id: `0195e9c4-0000-4000-8000-${String(at).padStart(12, '0')}`, pid: at },
    }))
    await Promise.all(
      users.map((user, at) =>
        fleet.beat(beatOf(user, { reports: [aReport('a')], counts: at % 2 === 0 ? some : some.toReversed() })),
      ),
    )
    for (const carrier of [a, b])
      assert.deepEqual(
        (await fleet.figures(carrier)).map(({ day }) => day.delivered),
        [concurrentCallers, concurrentCallers, concurrentCallers],
      )
    assert.equal((await fleet.reports(60)).length, concurrentCallers)
    assert.deepEqual(await fleet.users(), users)
  },
}

export const fleetContract: Contract<StoredPorts> = combined(reporting, watching)
