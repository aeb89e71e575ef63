import type { CarrierReport, Fleet, PrefixCounts } from '@gateway/core/fleet'
import { aCarrierId, memoryPorts, until } from '@gateway/core/testing'
import { createLog } from '@gateway/server'
import { Heartbeat, type Reporting } from './heartbeat.ts'

const log = createLog({ level: 'silent', name: 'test' })
const user = { process: { id: '0195e9c4-0000-4000-8000-000000000001', host: 'alpha', pid: 11 }, version: 1 }
const carrier = aCarrierId('a')
const aReport = (unanswered: number): CarrierReport => ({
  ...{ carrier, mode: 'running', window: 5, unanswered, status: undefined },
})
const delivered = (count: number): PrefixCounts => ({
  prefix: '27',
  delivered: count,
  failed: 0,
  unknown: 0,
  refused: 0,
})

let heartbeat: Heartbeat | undefined
afterEach(() => heartbeat?.stop().catch(() => undefined))

/** Starts a heartbeat whose calls fail as often as `fail()` requests, and records which of them had reports. */
async function start({ pauseMilliseconds = 1, fail = (): boolean => false } = {}) {
  const ports = memoryPorts()
  const beats: (readonly CarrierReport[] | undefined)[] = []
  const fleet: Fleet = {
    ...ports.fleet,
    beat: (one) => {
      beats.push(one.reports)
      return fail() ? Promise.reject(new Error('away')) : ports.fleet.beat(one)
    },
  }
  const begun = new Heartbeat({
    ...{ fleet, user: { ...user, simulated: undefined }, leaseSeconds: 30, log, pauseMilliseconds },
  })
  await begun.start()
  heartbeat = begun
  let report = aReport(0)
  let counts: readonly PrefixCounts[] = []
  const reporting: Reporting = {
    reports: () => [report],
    takeCounts: () => {
      const some = counts
      counts = []
      return some.length > 0 ? [{ carrier, counts: some }] : []
    },
    putCountsBack: (some) => {
      counts = [...counts, ...some.flatMap((one) => one.counts)]
    },
  }
  begun.reportOn(reporting)
  const change = (next: { readonly unanswered?: number; readonly counted?: number }): void => {
    if (next.unanswered !== undefined) report = aReport(next.unanswered)
    if (next.counted !== undefined) counts = [...counts, delivered(next.counted)]
  }
  return { fleet: ports.fleet, ports, heartbeat: begun, beats, change }
}

test('a process is registered with its version while it sends heartbeats, and its registration and reports end with a stop', async () => {
  const { fleet, heartbeat, change } = await start()
  expect(await fleet.users()).toEqual([heartbeat.user])
  await until(async () => (await fleet.reports(60)).length === 1)
  heartbeat.changeVersion(2)
  await until(async () => (await fleet.users())[0]?.version === 2)
  change({ counted: 3 })
  await heartbeat.stop()
  expect([await fleet.users(), await fleet.reports(60)]).toEqual([[], []])
  expect(await fleet.figures(carrier)).toMatchObject([{ prefix: '27', day: { delivered: 3 } }])
})

test('changed reports are stored, unchanged ones are not', async () => {
  const { fleet, beats, change } = await start()
  await until(() => beats.length > 5)
  expect(beats.filter((reports) => reports !== undefined)).toEqual([[aReport(0)]])
  change({ unanswered: 3 })
  await until(async () => (await fleet.reports(60))[0]?.unanswered === 3)
})

test('reports and counts of a heartbeat that failed are stored by the next one, the counts once', async () => {
  let failures = 0
  const { fleet, change } = await start({ fail: () => failures-- > 0 })
  await until(async () => (await fleet.reports(60)).length === 1)
  change({ unanswered: 7, counted: 2 })
  failures = 1
  await until(async () => (await fleet.reports(60))[0]?.unanswered === 7)
  change({ counted: 1 })
  await until(async () => (await fleet.figures(carrier))[0]?.day.delivered === 3)
})

test('a heartbeat returns a change by an operator soon after the notification, despite a long pause', async () => {
  const { fleet, heartbeat, beats } = await start({ pauseMilliseconds: 3_600_000 })
  await until(() => beats.length === 2)
  const states: (readonly string[])[] = []
  const ignore = heartbeat.onState(({ paused }) => void states.push(paused.map(({ mode }) => mode)))
  await fleet.setMode(carrier, 'paused', 'an operator')
  await until(() => states.length > 0)
  expect([states, heartbeat.state.paused.length]).toEqual([[['paused']], 1])
  ignore()
  await fleet.setMode(carrier, 'running', 'an operator')
  await until(() => heartbeat.state.paused.length === 0)
  expect(states).toEqual([['paused']])
})

test('a heartbeat that is requested during another one follows it at once', async () => {
  const { heartbeat, beats } = await start({ pauseMilliseconds: 3_600_000 })
  await until(() => beats.length === 2)
  const ignore = heartbeat.onState(() => {
    ignore()
    heartbeat.wake()
  })
  heartbeat.wake()
  await until(() => beats.length === 4)
})
