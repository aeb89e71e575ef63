import { OUTCOME } from '@gateway/core/messages'
import { instant, secondsAfter } from '@gateway/core/time'
import { aCarrierId, anAccount, anOrder, aNumber, numbers, steppingClock } from '@gateway/core/testing'
import { anOperator } from '../../testing/operate.ts'

const number = aNumber('27825550101')
const find = ['message', 'find', '--number', number]
const dispatching = { carrier: aCarrierId(), lane: 'single', messagesMax: 1, markedMax: 1, leaseSeconds: 30 } as const

interface Found {
  readonly rows: readonly { readonly id: number; readonly place: string; readonly statusCode: number | null }[]
  readonly total: number
  readonly next: number | null
}

async function aBusyNumber() {
  const clock = steppingClock()
  const operator = anOperator({ clock })
  const { messages, claimedBatches } = operator.ports
  const [a, b] = [await anAccount(operator.ports), await anAccount(operator.ports)]
  const dispatcher = await claimedBatches.register(3600)
  await messages.accept(anOrder(a.id, { to: [number] }))
  const batch = await claimedBatches.claim(dispatcher, dispatching)
  if (typeof batch === 'string') throw new Error(batch)
  const recorded = batch.messages.map((message) => ({
    batch: batch.id,
    message,
    handover: { outcome: 'accepted', reference: 'r' } as const,
  }))
  await claimedBatches.record(dispatcher, recorded)
  clock.step(60)
  await messages.accept(anOrder(b.id, { to: [number] }))
  await claimedBatches.claim(dispatcher, dispatching)
  clock.step(86_400)
  await messages.accept(anOrder(a.id, { to: [...numbers(1), number], text: 'secret' }))
  await messages.accept(anOrder(b.id, { to: [number], due: secondsAfter(clock.now(), 3600) }))
  return { operator, clock }
}

test('messages to a number are listed with their outcomes, latest due first, and never with their texts', async () => {
  const { operator } = await aBusyNumber()
  const { out } = await operator.run(find)
  expect(out).toBe(
    [
      'ID  ACCOUNT  DUE (GMT+2)          CHARGED  RETURNED  NET  STATE',
      '5   2        2026/10/19 11:01:00  1.0      0.0       1.0  scheduled',
      '4   1        2026/10/19 10:01:00  1.0      0.0       1.0  in the queue',
      '2   2        2026/10/18 10:01:00  1.0      0.0       1.0  at a carrier, may have been submitted',
      '1   1        2026/10/18 10:00:00  1.0      0.0       1.0  SENT 100 (no delivery report yet), 2026/10/18 10:00:00',
      '',
    ].join('\n'),
  )
  const { rows, next } = await operator.json<Found>(...find)
  expect(next).toBeNull()
  expect(rows.map(({ id, place, statusCode }) => [id, place, statusCode])).toEqual([
    [5, 'scheduled', null],
    [4, 'queue', null],
    [2, 'claimed', null],
    [1, 'decided', OUTCOME.sent],
  ])
  expect(rows[3]).toEqual({
    id: 1,
    account: 1,
    from: '12025550100',
    number: '27825550101',
    reference: null,
    category: null,
    confirmation: false,
    accepted: '2026-10-18T08:00:00.000Z',
    due: '2026-10-18T08:00:00.000Z',
    scheduledTime: null,
    cost: 1,
    charged: 1,
    returned: 0,
    net: 1,
    place: 'decided',
    statusCode: 100,
    since: '2026-10-18T08:00:00.000Z',
    until: null,
  })
  expect(JSON.stringify(rows)).not.toContain('secret')
})

test('a cancelled message is found with its charge returned', async () => {
  const { operator } = await aBusyNumber()
  expect((await operator.run(['message', 'cancel', '5', '--yes'])).code).toBe(0)
  const [cancelled] = await operator.rows(...find)
  expect(cancelled).toMatchObject({ id: 5, charged: 1, returned: 1, net: 0 })
  expect((await operator.run(find)).out).toMatch(/\n5 +2 +2026\/10\/19 11:01:00 +1\.0 +1\.0 +0\.0 +SENDINGFAILED 102/)
})

test.each([
  [
    ['--account', '1'],
    [4, 1],
  ],
  [
    ['--from', '2026-10-19'],
    [5, 4],
  ],
  [
    ['--to', '2026-10-18'],
    [2, 1],
  ],
  [
    ['--from', '202610181001', '--to', '202610191101'],
    [4, 2],
  ],
  [
    ['--after', '4'],
    [2, 1],
  ],
])('%j narrows the list', async (args, ids) => {
  const { operator } = await aBusyNumber()
  expect((await operator.json<Found>(...find, ...args)).rows.map(({ id }) => id)).toEqual(ids)
})

test('a page shows how to continue, and the next page has the rest', async () => {
  const { operator } = await aBusyNumber()
  const first = await operator.run([...find, '--limit', '3'])
  expect(first.err).toBe('There are more messages: --after 2\n')
  expect((await operator.json<Found>(...find, '--limit', '3')).next).toBe(2)
  const rest = await operator.json<Found>(...find, '--limit', '3', '--after', '2')
  expect([rest.rows.map(({ id }) => id), rest.next]).toEqual([[1], null])
})

test('decided messages are found for 90 days, waiting ones always', async () => {
  const { operator, clock } = await aBusyNumber()
  clock.step(90 * 86_400)
  expect((await operator.json<Found>(...find)).rows.map(({ id }) => id)).toEqual([5, 4, 2])
  expect(clock.now()).toBeGreaterThan(instant(0))
})

test('an unknown message to continue after is refused, and so is a search without number and reference', async () => {
  const operator = anOperator()
  expect(await operator.run([...find, '--after', '7'])).toEqual({
    code: 1,
    out: '',
    err: 'There is no message 7 to continue after.\n',
  })
  expect((await operator.run(['message', 'find'])).code).toBe(2)
  expect(await operator.json(...find)).toEqual({ rows: [], total: 0, next: null })
  expect((await operator.run(find)).out).toBe('ID  ACCOUNT  DUE (GMT+2)  CHARGED  RETURNED  NET  STATE\n')
})
