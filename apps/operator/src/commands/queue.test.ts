import type { Lane } from '@gateway/core/dispatch'
import { secondsAfter } from '@gateway/core/time'
import { aCarrierId, anAccount, anOrder, numbers, steppingClock } from '@gateway/core/testing'
import { anOperator } from '../../testing/operate.ts'

const carrier = (name: string) => aCarrierId(name)
const claimRequest = (name: string, lane: Lane, messagesMax: number, markedMax: number) =>
  ({ carrier: carrier(name), lane, messagesMax, markedMax, leaseSeconds: 30 }) as const

test('dispatchers are listed with their start and the messages in flight by carrier', async () => {
  const clock = steppingClock()
  const operator = anOperator({ clock })
  const { claimedBatches, messages } = operator.ports
  const account = await anAccount(operator.ports)
  await messages.accept(anOrder(account.id, { to: numbers(20) }, { to: numbers(3) }))
  const [first, second] = [
    await claimedBatches.register(30, '0.9.1', { host: 'alpha', pid: 11 }),
    await claimedBatches.register(90),
  ]
  await claimedBatches.claim(first, claimRequest('sim', 'bulk', 15, 5))
  await claimedBatches.claim(first, claimRequest('other', 'single', 10, 1))
  await claimedBatches.claim(second, claimRequest('sim', 'bulk', 4, 4))
  await claimedBatches.register(300, '10.0.0')
  clock.step(31)
  await claimedBatches.extend(second, 60)
  expect(await operator.rows('dispatcher', 'list')).toEqual([
    {
      id: 1,
      since: '2026-10-18T08:00:00.000Z',
      version: '0.9.1',
      host: 'alpha',
      pid: 11,
      leaseUntil: '2026-10-18T08:00:30.000Z',
      leaseOver: true,
      carriers: [
        { carrier: 'other', batches: 1, claimed: 3, marked: 1 },
        { carrier: 'sim', batches: 1, claimed: 15, marked: 5 },
      ],
    },
    {
      id: 2,
      since: '2026-10-18T08:00:00.000Z',
      version: null,
      host: null,
      pid: null,
      leaseUntil: '2026-10-18T08:01:31.000Z',
      leaseOver: false,
      carriers: [{ carrier: 'sim', batches: 1, claimed: 4, marked: 4 }],
    },
    {
      id: 3,
      since: '2026-10-18T08:00:00.000Z',
      version: '10.0.0',
      host: null,
      pid: null,
      leaseUntil: '2026-10-18T08:05:00.000Z',
      leaseOver: false,
      carriers: [],
    },
  ])
  expect((await operator.run(['dispatcher', 'list'])).out).toBe(
    [
      'ID  PROCESS   SINCE (GMT+2)        VERSION  LEASE UNTIL                 BATCHES  CLAIMED  MARKED  CARRIERS',
      '1   alpha:11  2026/10/18 10:00:00  0.9.1    2026/10/18 10:00:30 (over)  2        18       6       other 3 (1 marked), sim 15 (5 marked)',
      '2             2026/10/18 10:00:00           2026/10/18 10:01:31         1        4        4       sim',
      '3             2026/10/18 10:00:00  10.0.0   2026/10/18 10:05:00         0        0        0',
      '',
    ].join('\n'),
  )
})

test('the absence of dispatchers is reported', async () => {
  const { code, out, err } = await anOperator().run(['dispatcher', 'list'])
  expect([code, out.startsWith('ID  PROCESS'), err]).toEqual([0, true, 'No dispatcher runs, so nothing is sent.\n'])
  expect(await anOperator().rows('dispatcher', 'list')).toEqual([])
})

test('the start of a dispatcher may be unknown', async () => {
  const operator = anOperator({
    ports: (ports) => ({
      ...ports,
      overview: {
        ...ports.overview,
        dispatchers: async () => (await ports.overview.dispatchers()).map((one) => ({ ...one, since: undefined })),
      },
    }),
  })
  await operator.ports.claimedBatches.register(30)
  expect(await operator.rows('dispatcher', 'list')).toMatchObject([{ since: null }])
  expect((await operator.run(['dispatcher', 'list'])).out).toMatch(/\n1 {12}not known {15}2026/)
})

test('waiting messages are counted by account and lane, with the oldest and the sums', async () => {
  const clock = steppingClock()
  const operator = anOperator({ clock })
  const { claimedBatches, messages } = operator.ports
  const [first, second] = [await anAccount(operator.ports), await anAccount(operator.ports)]
  await messages.accept(anOrder(first.id, { to: numbers(1) }))
  const dispatcher = await claimedBatches.register(30)
  const batch = await claimedBatches.claim(dispatcher, claimRequest('sim', 'single', 10, 10))
  if (typeof batch === 'string') throw new Error(batch)
  await claimedBatches.postpone(
    dispatcher,
    batch.id,
    batch.messages.map(({ id }) => id),
    600,
  )
  clock.step(10)
  const later = secondsAfter(clock.now(), 3600)
  await messages.accept(anOrder(first.id, { to: numbers(2) }, { to: numbers(4), due: later }, { to: numbers(11) }))
  clock.step(60)
  await messages.accept(anOrder(second.id, { to: numbers(1) }))
  clock.step(5)
  const oldest = '2026-10-18T08:00:10.000Z'
  expect(await operator.json('queue', 'show')).toEqual({
    rows: [
      { account: 1, lane: 'single', dueNow: 2, oldestDue: oldest, scheduled: 4, toRetry: 1 },
      { account: 1, lane: 'bulk', dueNow: 11, oldestDue: oldest, scheduled: 0, toRetry: 0 },
      { account: 2, lane: 'single', dueNow: 1, oldestDue: '2026-10-18T08:01:10.000Z', scheduled: 0, toRetry: 0 },
    ],
    total: 3,
    sums: { dueNow: 14, oldestDue: oldest, scheduled: 4, toRetry: 1 },
  })
  expect((await operator.run(['queue', 'show'])).out).toBe(
    [
      'ACCOUNT  LANE    DUE  OLDEST DUE (GMT+2)          SCHEDULED  TO RETRY',
      '1        single  2    2026/10/18 10:00:10 (65 s)  4          1',
      '1        bulk    11   2026/10/18 10:00:10 (65 s)  0          0',
      '2        single  1    2026/10/18 10:01:10 (5 s)   0          0',
      'all              14   2026/10/18 10:00:10 (65 s)  4          1',
      '',
    ].join('\n'),
  )
})

test('an empty queue is printed as zero sums', async () => {
  const operator = anOperator()
  await anAccount(operator.ports)
  expect(await operator.json('queue', 'show')).toEqual({
    rows: [],
    total: 0,
    sums: { dueNow: 0, oldestDue: null, scheduled: 0, toRetry: 0 },
  })
  expect((await operator.run(['queue', 'show'])).out).toBe(
    'ACCOUNT  LANE  DUE  OLDEST DUE (GMT+2)  SCHEDULED  TO RETRY\nall            0                        0          0\n',
  )
})

test('due messages are also counted by route', async () => {
  const clock = steppingClock()
  const operator = anOperator({ clock })
  const account = await anAccount(operator.ports)
  await operator.ports.messages.accept(anOrder(account.id, { to: numbers(3) }))
  clock.step(90)
  expect(await operator.rows('queue', 'show', '--routes')).toEqual([
    { routeName: null, dueNow: 3, oldestDue: '2026-10-18T08:00:00.000Z' },
  ])
  expect((await operator.run(['queue', 'show', '--routes'])).out).toContain('3    2026/10/18 10:00:00 (90 s)\n')
})
