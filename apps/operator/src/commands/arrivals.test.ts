import type { Inbox } from '@gateway/core/inbox'
import { instant } from '@gateway/core/time'
import { aCarrierId, anAccount, anOrder, aNumber, steppingClock } from '@gateway/core/testing'
import { anOperator } from '../../testing/operate.ts'

const from = aNumber('27825550101')
const reply = (...more: readonly string[]) => ['simulate', 'reply', '--from', from, '--to', '12025550100', ...more]

test('inbound messages without an account are listed with their texts, as text and as JSON', async () => {
  const clock = steppingClock()
  const operator = anOperator({ clock })
  expect(await operator.rows('arrivals', 'list')).toEqual([])
  expect(await operator.json(...reply('--text', 'who is\u001b[2J this?'))).toEqual({
    stored: 1,
    repeated: 0,
    incomplete: 0,
  })
  const time = '2026-10-18T08:00:00.000Z'
  const text = 'who is\u001b[2J this?'
  expect(await operator.rows('arrivals', 'list')).toEqual([
    { id: 1, carrier: 'simulator', from, to: '12025550100', time, text },
  ])
  expect((await operator.run(['arrivals', 'list'])).out).toBe(
    [
      'ID  CARRIER    FROM         TO           AT (GMT+2)           TEXT',
      '1   simulator  27825550101  12025550100  2026/10/18 10:00:00  who is?[2J this?',
      '',
    ].join('\n'),
  )
})

test('simulated replies find their account, as many as requested, each a new message', async () => {
  const operator = anOperator()
  const { id } = await anAccount(operator.ports)
  const { messages, claimedBatches, inbox } = operator.ports
  await messages.accept(anOrder(id, { to: [from] }))
  const dispatcher = await claimedBatches.register(30)
  const request = {
    carrier: aCarrierId('simulator'),
    lane: 'single',
    messagesMax: 9,
    markedMax: 9,
    leaseSeconds: 30,
  } as const
  await claimedBatches.claim(dispatcher, request)
  expect((await operator.run(reply('--text', 'Yes, thank you'))).out).toBe('1 message: 1 stored, 0 repeated.\n')
  expect(await operator.json(...reply('--text', 'Yes, thank you', '--times', '1200'))).toEqual({
    stored: 1200,
    repeated: 0,
    incomplete: 0,
  })
  const { total, items } = await inbox.list(id, 'all', instant(0), { offset: 1200, limit: 10 })
  expect(total).toBe(1201)
  expect(items).toMatchObject([{ from, text: 'Yes, thank you', answers: 1 }])
  expect(await operator.rows('arrivals', 'list')).toEqual([])
})

test('if the database fails in the middle, the messages stored before are reported', async () => {
  let calls = 0
  const failing = (inbox: Inbox): Inbox => ({
    ...inbox,
    receive: (...args) => (++calls < 3 ? inbox.receive(...args) : Promise.reject(new Error('the database is gone'))),
  })
  const operator = anOperator({ ports: (ports) => ({ ...ports, inbox: failing(ports.inbox) }) })
  expect(await operator.run([...reply('--text', 'hi', '--times', '5000'), '--json'])).toEqual({
    code: 3,
    out: '{"stored":1000,"repeated":0,"incomplete":0}\n',
    err: '{"error":"the database is gone"}\n',
  })
})

test.each([
  [['--text', 'x', '--times', '0'], 'Expected a whole number from 1 to 1000000'],
  [['--text', 'x', '--from', ' '], 'Expected a number or a code'],
  [[], "'--text <text>' not specified"],
])('%j is a usage error', async (more, message) => {
  const { code, out, err } = await anOperator().run(reply(...more))
  expect([code, out]).toEqual([2, ''])
  expect(err).toContain(message)
})
