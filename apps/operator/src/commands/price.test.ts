import { anAccount } from '@gateway/core/testing'
import { anOperator } from '../../testing/operate.ts'

test('prices are set, replaced, listed by prefix and removed', async () => {
  const operator = anOperator()
  expect(await operator.json('price', 'set', '27', '0.7')).toEqual({ account: null, prefix: '27', price: 0.7 })
  expect(await operator.json('price', 'set', '2782', '0')).toEqual({ account: null, prefix: '2782', price: 0 })
  expect(await operator.json('price', 'set', '27', '0.8')).toEqual({ account: null, prefix: '27', price: 0.8 })
  expect(await operator.json('price', 'set', 'default', '12.5')).toEqual({
    account: null,
    prefix: 'default',
    price: 12.5,
  })
  expect(await operator.rows('price', 'list')).toEqual([
    { account: null, prefix: 'default', price: 12.5 },
    { account: null, prefix: '27', price: 0.8 },
    { account: null, prefix: '2782', price: 0 },
  ])
  expect(await operator.run(['price', 'list'])).toEqual({
    code: 0,
    out: 'PREFIX   CREDITS\ndefault  12.5\n27       0.8\n2782     0.0\n',
    err: '',
  })
  expect(await operator.json('price', 'remove', '27')).toEqual({ account: null, prefix: '27', removed: true })
  expect(await operator.json('price', 'remove', 'default')).toEqual({ account: null, prefix: 'default', removed: true })
  expect(await operator.rows('price', 'list')).toEqual([{ account: null, prefix: '2782', price: 0 }])
})

test('the result is printed as a sentence, with the consequence of removing the default', async () => {
  const operator = anOperator()
  const printed = async (...args: readonly string[]) => (await operator.run(['price', ...args])).out
  expect(await printed('set', '27', '0.8')).toBe(
    'One part to numbers that begin with 27 costs 0.8 credits. Every process applies it within 5 seconds.\n',
  )
  expect(await printed('set', 'default', '2')).toMatch(
    /^One part to all numbers without a matching prefix costs 2\.0 cr/,
  )
  expect(await printed('remove', '27')).toBe(
    'The price for numbers that begin with 27 is removed. The next shorter matching prefix applies, or the default price.\n',
  )
  expect(await printed('remove', 'default')).toBe(
    'The default price is removed. Numbers without a matching prefix are refused as invalid from now on.\n',
  )
  expect(await operator.run(['price', 'list'])).toEqual({
    code: 0,
    out: 'PREFIX  CREDITS\n',
    err: 'There is no default price, so numbers without a matching prefix are refused as invalid.\n',
  })
})

test('messages sent after a price was set cost that price', async () => {
  const operator = anOperator()
  await operator.run(['account', 'open', '--login', 'a', '--credits', '10'])
  await operator.run(['price', 'set', '2782', '2.5'])
  const send = ['send', '--account', '1', '--text', 'x', '--to', '27825550101']
  expect((await operator.run(send)).out).toContain('2.5 credits')
  await operator.run(['price', 'remove', '2782'])
  expect((await operator.run(send)).out).toContain('1.0 credits')
  await operator.run(['price', 'remove', 'default'])
  expect((await operator.run(send)).out).toContain('refused')
})

test.each([
  [['remove', '27'], 'There is no price for numbers that begin with 27.'],
  [['set', '27', '30000000.1'], 'A price is 0.0 to 30000000.0 credits.'],
  [['set', '27', '-0.1'], 'A price is 0.0 to 30000000.0 credits.'],
])('price %j is refused', async (args, message) => {
  const operator = anOperator()
  expect(await operator.run(['price', ...args])).toEqual({ code: 1, out: '', err: `${message}\n` })
  const { code, out, err } = await operator.run(['price', ...args, '--json'])
  expect([code, out, JSON.parse(err)]).toEqual([1, '', { error: message }])
  expect(await operator.rows('price', 'list')).toEqual([{ account: null, prefix: 'default', price: 1 }])
})

test.each(['', '0', '027', '+27', '27x', 'Default', '1234567890123456'])('%j is not a prefix', async (prefix) => {
  const { code, out, err } = await anOperator().run(['price', 'set', prefix, '1'])
  expect([code, out]).toEqual([2, ''])
  expect(err).toContain("Expected a prefix of 1 to 15 digits, the first not 0, or 'default'.")
})

test('a price has at most one decimal', async () => {
  const { code, err } = await anOperator().run(['price', 'set', '27', '0.75'])
  expect(code).toBe(2)
  expect(err).toContain('Expected an amount of credits with at most one decimal')
})

test('an account may have prices of its own, which win over the general ones', async () => {
  const operator = anOperator()
  await anAccount(operator.ports, { credits: 100 })
  await operator.json('price', 'set', '2782', '3')
  const own = { account: 1, prefix: '27', price: 0.5 }
  expect(await operator.json('price', 'set', '27', '0.5', '--account', '1')).toEqual(own)
  expect(await operator.rows('price', 'list', '--account', '1')).toEqual([own])
  expect((await operator.rows<unknown>('price', 'list')).length).toBe(2)
  const send = ['send', '--account', '1', '--to', '27825550101', '--text', 'x']
  expect(await operator.json(...send)).toMatchObject({ recipients: [{ cost: 0.5 }] })
  expect(await operator.json('price', 'remove', '27', '--account', '1')).toMatchObject({ account: 1, removed: true })
  expect(await operator.json(...send)).toMatchObject({ recipients: [{ cost: 3 }] })
  expect((await operator.run(['price', 'set', '27', '1', '--account', '7'])).err).toBe('There is no account 7.\n')
})
