import { processingDefaults } from '@gateway/core'
import { credits } from '@gateway/core/credits'
import type { CarrierId } from '@gateway/core/dispatch'
import { aCarrierId, aNumber, anAccount, anOrder } from '@gateway/core/testing'
import { anOperator, takeAll } from '../../testing/operate.ts'

const number = aNumber('27825550101')
const block = ['number', 'block', number, '--reason']

test('a number is added to each list once, listed with its time, and removed', async () => {
  const operator = anOperator()
  expect(await operator.json(...block, 'blacklisted')).toEqual({ number, reason: 'blacklisted', added: 1 })
  expect(await operator.json(...block, 'blacklisted')).toEqual({ number, reason: 'blacklisted', added: 0 })
  expect(await operator.json(...block, 'do-not-contact')).toEqual({ number, reason: 'do-not-contact', added: 1 })

  const since = '2026-10-18T08:00:00.000Z'
  const onBlacklist = { number, reason: 'blacklisted', since }
  const onDoNotContact = { number, reason: 'do-not-contact', since }
  expect(await operator.rows('number', 'list')).toEqual([onBlacklist, onDoNotContact])
  expect(await operator.rows('number', 'list', '--reason', 'do-not-contact')).toEqual([onDoNotContact])
  expect((await operator.run(['number', 'list'])).out).toBe(
    [
      'NUMBER       REASON          SINCE (GMT+2)',
      '27825550101  blacklisted     2026/10/18 10:00:00',
      '27825550101  do-not-contact  2026/10/18 10:00:00',
      '',
    ].join('\n'),
  )

  expect(await operator.json('number', 'unblock', number, '--reason', 'blacklisted')).toEqual({ number, unblocked: 1 })
  expect(await operator.rows('number', 'list')).toEqual([onDoNotContact])
  await operator.run([...block, 'blacklisted'])
  expect(await operator.json('number', 'unblock', number)).toEqual({ number, unblocked: 2 })
  expect(await operator.rows('number', 'list')).toEqual([])
})

test('the result is printed as a sentence', async () => {
  const operator = anOperator()
  const printed = async (...args: readonly string[]) => (await operator.run(args)).out
  expect(await printed(...block, 'blacklisted')).toBe('27825550101 is blocked (blacklisted).\n')
  expect(await printed(...block, 'blacklisted')).toBe('27825550101 was already blocked (blacklisted).\n')
  expect(await printed('number', 'unblock', number)).toBe('27825550101 is no longer blocked.\n')
})

test('unblocking a number that is not blocked is refused', async () => {
  const operator = anOperator()
  expect(await operator.run(['number', 'unblock', number])).toEqual({
    code: 1,
    out: '',
    err: '27825550101 was not blocked.\n',
  })
  expect((await operator.run(['number', 'unblock', number, '--json'])).err).toBe(
    '{"error":"27825550101 was not blocked."}\n',
  )
})

test.each(['27 82 555 0101', '+27 (0)82 555 0101', '27825550101.0', "'27825550101", '\u202a+27825550101\u202c'])(
  'a number written as %j is blocked and found by its digits',
  async (written) => {
    const operator = anOperator()
    expect(await operator.json(...block.slice(0, 2), written, '--reason', 'blacklisted')).toMatchObject({ number })
    const account = await anAccount(operator.ports)
    await operator.ports.messages.accept(anOrder(account.id, { to: [number] }))
    expect(await operator.rows('message', 'find', '--number', written)).toHaveLength(1)
    expect(await operator.json('number', 'unblock', written)).toMatchObject({ number, unblocked: 1 })
  },
)

test.each([
  [
    'with a plus twice',
    [...block.slice(0, 2), '++27825550101', '--reason', 'blacklisted'],
    'in international form, such as 27825550101 or +27825550101; it is not certain which number is meant.',
  ],
  [
    'with decimals',
    [...block.slice(0, 2), '27825550101.5', '--reason', 'blacklisted'],
    'in international form, such as 27825550101 or +27825550101; it is not certain which number is meant.',
  ],
  ['without a reason', ['number', 'block', number], "'--reason <list>' not specified"],
  ['for another reason', [...block, 'spam'], 'Allowed choices are blacklisted, do-not-contact.'],
])('a number %s is not blocked: the expected form is printed, with exit code 2', async (_, args, message) => {
  const operator = anOperator()
  const { code, out, err } = await operator.run(args)
  expect([code, out]).toEqual([2, ''])
  expect(err).toContain(message)
  expect(JSON.parse((await operator.run([...args, '--json'])).err)).toEqual({
    error: expect.stringContaining(message) as string,
  })
  expect(await operator.rows('number', 'list')).toEqual([])
})

test('stored data of a number is shown with its texts, and erased once nothing waits', async () => {
  const operator = anOperator()
  const { ports } = operator
  const { id } = await anAccount(ports)
  await ports.messages.accept(anOrder(id, { to: [number], text: 'your code is 1234' }))
  const draft = { columns: ['Name'], text: 'Dear {name}', scheduled: undefined, key: 'k' }
  const list = await ports.bulkSends.add(id, draft, [[{ row: 1, number, fields: ['Ann'] }]])
  await ports.bulkSends.start(id, list, 0)
  await operator.run([...block, 'blacklisted'])
  await ports.inbox.receive(
    [
      {
        ...{ carrier: 'a' as CarrierId, from: `+${number}`, to: undefined, text: 'who are you?', sent: undefined },
        ...{ reference: undefined, offer: undefined, part: undefined },
      },
    ],
    processingDefaults.confirmation,
  )
  expect(await operator.rows('number', 'export', `+${number}`)).toMatchObject([
    { data: 'message', id: 1, account: id, text: 'your code is 1234', to: number, statusCode: -1, cost: 1 },
    { data: 'arrival', account: null, text: 'who are you?', from: number },
    { data: 'list row', account: id, id: list, text: 'Dear Ann', to: number, values: ['Ann'], state: 'running' },
    { data: 'blacklist', account: null, number },
  ])
  const refused = await operator.run(['number', 'erase', number])
  expect([refused.code, refused.err]).toEqual([
    1,
    expect.stringContaining(
      '1 message to this number waits to be sent. 1 row with this number is in lists that are being sent. Nothing was erased',
    ) as string,
  ])
  expect(await operator.json('number', 'erase', number, '--dry-run')).toMatchObject({
    ...{ changed: false, messages: 1, arrivals: 1, contacts: 0, suppressions: 1, waiting: 1, awaitingReceipt: 0 },
    ...{ listRows: 1, rowsBeingSent: 1 },
  })
  expect(await operator.rows('number', 'erasures')).toEqual([])

  await ports.bulkSends.end(list, 0, { accepted: [], messages: 0, cost: credits(0), refusedRows: [] })
  await takeAll(operator)
  expect((await operator.run(['number', 'erase', number])).err).toContain('may still get a receipt')
  await ports.deliveryReceipts.apply([
    { carrier: aCarrierId('sim'), reference: 'r-1', code: 0, number: undefined, submitted: undefined },
  ])
  expect(await operator.json('number', 'erase', number)).toMatchObject({
    ...{ changed: true, erasure: 1, messages: 1, arrivals: 1, contacts: 0, events: 0, suppressions: 1 },
  })
  expect(await operator.rows('number', 'export', number)).toMatchObject([{ data: 'blacklist', number }])
  expect(await operator.rows('number', 'erasures', '--number', number)).toMatchObject([
    { id: 1, messages: 1, arrivals: 1, started: '2026-10-18T08:00:00.000Z' },
  ])
  expect((await operator.run(['number', 'erasures'])).out).not.toContain(number)
  const again = await operator.run(['number', 'erase', number])
  expect(again.out).toContain(
    `${number} is erased from 0 messages, 0 arrivals, 0 contacts, and from events in 0 places.`,
  )
  expect(again.out).toContain('Opt-outs and blocks that remain, with the number: 1.')
})

test('the blacklist is accepted by either name, and always shown by the same', async () => {
  const operator = anOperator()
  const blocked = await operator.json('number', 'block', '27825550101', '--reason', 'blacklist')
  expect(blocked).toMatchObject({ reason: 'blacklisted', added: 1 })
  expect(await operator.rows('number', 'list', '--reason', 'blacklist')).toEqual(
    await operator.rows('number', 'list', '--reason', 'blacklisted'),
  )
  const wrong = await operator.run(['number', 'list', '--reason', 'black'])
  expect([wrong.code, wrong.err]).toEqual([2, expect.stringContaining('choices are blacklisted, do-not-contact')])
  expect(await operator.json('number', 'unblock', '27825550101', '--reason', 'blacklist')).toMatchObject({
    unblocked: 1,
  })
})
