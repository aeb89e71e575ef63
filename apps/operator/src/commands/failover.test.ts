import { promoteStandby, anAccount, anOrder, numbers, steppingClock } from '@gateway/core/testing'
import { aCarrierId } from '@gateway/core/testing'
import type { AccountId } from '@gateway/core/accounts'
import { OUTCOME, type MessageId } from '@gateway/core/messages'
import { anOperator, type Operator } from '../../testing/operate.ts'

const clock = steppingClock()

/** Creates five messages that waited when a standby was promoted. */
async function afterPromotion(): Promise<{ operator: Operator; account: AccountId; ids: readonly MessageId[] }> {
  const operator = anOperator({ clock })
  const account = await anAccount(operator.ports)
  const acceptance = await operator.ports.messages.accept(anOrder(account.id, { to: numbers(5) }))
  if (typeof acceptance === 'string') throw new Error(acceptance)
  clock.step(1)
  promoteStandby(operator.store)
  clock.step(90)
  return { operator, account: account.id, ids: acceptance.results.flat() as MessageId[] }
}

const claimed = async ({ ports: { claimedBatches } }: Operator): Promise<number> => {
  const request = {
    carrier: aCarrierId('sim'),
    lane: 'single',
    messagesMax: 10,
    markedMax: 10,
    leaseSeconds: 30,
  } as const
  const batch = await claimedBatches.claim(await claimedBatches.register(30), request)
  return typeof batch === 'string' ? 0 : batch.messages.length
}

const placeOf = async ({ ports }: Operator, id: MessageId | undefined) =>
  id === undefined ? undefined : (await ports.sentMessages.trace(id))?.place

test('nothing is in doubt without a promotion', async () => {
  const operator = anOperator()
  expect(await operator.rows('failover', 'status')).toEqual([])
  expect((await operator.run(['failover', 'resume', '--send', '--yes'])).out).toBe('No message is in doubt.\n')
})

test('status shows how many messages are in doubt, since when, and the possible decisions', async () => {
  const { operator } = await afterPromotion()
  expect(await operator.rows('failover', 'status')).toMatchObject([
    { inDoubt: 5, inDoubtAtFirst: 5, decision: null, fromTimeline: 1, timeline: 2 },
  ])
  const { out, err } = await operator.run(['failover', 'status'])
  expect(out).toContain('5')
  expect(err).toContain('gateway failover resume --send')
})

test('status shows bulk sends that a failover stopped, even if no message is in doubt', async () => {
  const operator = anOperator({ clock })
  const { id: account } = await anAccount(operator.ports)
  const rows = [1, 2].map((row) => ({ row, number: `4366012345${row}`, fields: [] }))
  const send = await operator.ports.bulkSends.add(account, { columns: [], text: 'x', scheduled: undefined, key: 'k' }, [
    rows,
  ])
  await operator.ports.bulkSends.start(account, send, 0)
  promoteStandby(operator.store)
  const { err } = await operator.run(['failover', 'status'])
  expect(err).toContain('No message is in doubt.')
  expect(err).toContain('Stopped by a failover in the last 7 days: 1 send to many of the portal.')
  expect(err).toMatch(new RegExp(`account ${account}, send ${send}, .*: 2 rows not accepted here may have been sent`))
})

test('resume requires either --send or --end', async () => {
  const { operator } = await afterPromotion()
  expect(await operator.run(['failover', 'resume', '--yes'])).toMatchObject({ code: 2 })
  expect(await operator.run(['failover', 'resume', '--send', '--end', '--yes'])).toMatchObject({ code: 2 })
  expect(await claimed(operator)).toBe(0)
})

test('--send releases the messages, and is recorded', async () => {
  const { operator } = await afterPromotion()
  expect(await operator.json('failover', 'resume', '--send', '--yes')).toEqual({
    decision: 'send',
    messages: 5,
    proved: 0,
  })
  expect(await claimed(operator)).toBe(5)
  expect(await operator.rows('failover', 'status')).toEqual([])
  expect(await operator.rows('audit', 'list')).toMatchObject([{ action: 'decideDoubt' }])
})

test('--end makes the messages SENT 106, except those that receipts resolve', async () => {
  const { operator, ids } = await afterPromotion()
  const { ports } = operator
  const [first, second] = ids
  const number = (await ports.sentMessages.trace(first as MessageId))?.number
  const receipt = {
    carrier: aCarrierId('sim'),
    reference: 'lost',
    code: OUTCOME.delivered,
    number,
    submitted: undefined,
  }
  await ports.deliveryReceipts.apply([receipt])
  clock.step(61)
  const { out } = await operator.run(['failover', 'resume', '--end', '--yes'])
  expect(out).toBe('4 messages ended as SENT 106. Receipts proved that 1 message had been submitted.\n')
  expect(await placeOf(operator, first)).toMatchObject({ code: OUTCOME.unknown, carrier: 'sim' })
  expect(await placeOf(operator, second)).toMatchObject({ code: OUTCOME.unknown, carrier: undefined })
  expect(await claimed(operator)).toBe(0)
  expect((await operator.run(['message', 'explain', String(second)])).out).toContain('it ended in doubt')
})

test('a second operator cannot decide otherwise, but continues an interrupted decision', async () => {
  const { operator } = await afterPromotion()
  await operator.ports.promotions.decide('end', 'first')
  const other = await operator.run(['failover', 'resume', '--send', '--yes'])
  expect(other).toMatchObject({ code: 1 })
  expect(other.err).toContain('gateway failover resume --end continues')
  expect(await operator.json('failover', 'resume', '--end', '--yes')).toMatchObject({ messages: 5 })
})

test('explain, find and doctor report messages in doubt', async () => {
  const { operator, ids } = await afterPromotion()
  const [id] = ids
  expect((await operator.run(['message', 'explain', String(id)])).out).toContain('gateway failover status')
  const number = (await operator.ports.sentMessages.trace(id as MessageId))?.number
  expect((await operator.run(['message', 'find', '--number', String(number)])).out).toContain('in doubt')
  const doctor = await operator.run(['doctor'])
  expect(doctor.out).toContain('5 messages in doubt')
  expect(doctor.code).toBe(1)
})
