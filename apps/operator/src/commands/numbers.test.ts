import { aNumber } from '@gateway/core/testing'
import { anOperator } from '../../testing/operate.ts'

const number = aNumber('27825550101')
const block = ['number', 'block', number, '--reason']

test('a number is put on each list once, listed with its time, and taken off', async () => {
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

test('what was done is told in a sentence', async () => {
  const operator = anOperator()
  const said = async (...args: readonly string[]) => (await operator.run(args)).out
  expect(await said(...block, 'blacklisted')).toBe('27825550101 is blocked (blacklisted).\n')
  expect(await said(...block, 'blacklisted')).toBe('27825550101 was blocked already (blacklisted).\n')
  expect(await said('number', 'unblock', number)).toBe('27825550101 is no longer blocked.\n')
})

test('a number that is not blocked is not unblocked', async () => {
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

test.each([
  [
    'with a plus twice',
    [...block.slice(0, 2), '++27825550101', '--reason', 'blacklisted'],
    'in international form, such as 27825550101 or +27825550101.',
  ],
  [
    'with blanks',
    [...block.slice(0, 2), '27 82 555 0101', '--reason', 'blacklisted'],
    'in international form, such as 27825550101 or +27825550101.',
  ],
  ['without a reason', ['number', 'block', number], "'--reason <list>' not specified"],
  ['for another reason', [...block, 'spam'], 'Allowed choices are blacklisted, do-not-contact.'],
])('a number %s is not blocked: the form is told, and 2', async (_, args, message) => {
  const operator = anOperator()
  const { code, out, err } = await operator.run(args)
  expect([code, out]).toEqual([2, ''])
  expect(err).toContain(message)
  expect(JSON.parse((await operator.run([...args, '--json'])).err)).toEqual({
    error: expect.stringContaining(message) as string,
  })
  expect(await operator.rows('number', 'list')).toEqual([])
})
