import type { AccountId } from '@gateway/core/accounts'
import { credits } from '@gateway/core/credits'
import type { GatewayDay } from '@gateway/core/time'
import { anAccount } from '@gateway/core/testing'
import { anOperator } from '../../testing/operate.ts'

test('credits are granted and taken back, with the reason in the ledger', async () => {
  const operator = anOperator()
  const { id } = await anAccount(operator.ports, { credits: 0 })
  expect(await operator.json('credits', 'top-up', '1', '500', '--why', 'invoice')).toEqual({
    account: id,
    balance: 500,
  })
  expect(await operator.json('credits', 'top-up', '1', '-12.5', '--why', 'mistake')).toEqual({
    account: id,
    balance: 487.5,
  })
  expect((await operator.run(['credits', 'top-up', '1', '0.5', '--why', 'x'])).out).toBe(
    'Account 1 now has 488.0 credits.\n',
  )
  const entries = operator.store.accounts.get(id)?.entries.map(({ amount, cause }) => [amount, cause])
  expect(entries?.slice(-3)).toEqual([
    [5000, { kind: 'top-up', why: 'invoice' }],
    [-125, { kind: 'top-up', why: 'mistake' }],
    [5, { kind: 'top-up', why: 'x' }],
  ])
})

test.each([
  [['7', '1', '--why', 'x'], 'There is no account 7.'],
  [['1', '-100.1', '--why', 'x'], 'The balance would be negative or too large.'],
  [['1', '1', '--why', ' '], 'State with --why what the credits are for.'],
  [['1', '0', '--why', 'x'], 'An amount of 0.0 credits changes nothing.'],
])('top-up %j is refused', async (args, message) => {
  const operator = anOperator()
  await anAccount(operator.ports)
  expect(await operator.run(['credits', 'top-up', ...args])).toEqual({ code: 1, out: '', err: `${message}\n` })
  const { code, out, err } = await operator.run(['credits', 'top-up', ...args, '--json'])
  expect([code, out, JSON.parse(err)]).toEqual([1, '', { error: message }])
})

test('a consistent ledger is verified with exit code 0', async () => {
  const operator = anOperator()
  await anAccount(operator.ports)
  expect(await operator.json('credits', 'verify')).toEqual({
    rows: [],
    total: 0,
    sums: { verified: 1, balance: 100, wrongDailySums: 0 },
  })
  expect(await operator.run(['credits', 'verify'])).toEqual({
    code: 0,
    out: '1 account with 100.0 credits: every balance is the sum of its entries.\n',
    err: '',
  })
})

test('a difference is printed with both sums, and the exit code is 1', async () => {
  const operator = anOperator()
  const { id } = await anAccount(operator.ports)
  const row = operator.store.accounts.get(id)
  if (row === undefined) throw new Error('no account')
  row.balance = credits(1005)
  const message = 'The ledger and the balances differ.'
  expect(await operator.run(['credits', 'verify'])).toEqual({
    code: 1,
    out: 'Account 1: balance 100.5, ledger 100.0\n1 account with 100.5 credits: 1 differs!\n',
    err: `${message}\n`,
  })
  const { code, out, err } = await operator.run(['credits', 'verify', '--json'])
  expect(code).toBe(1)
  expect(JSON.parse(out)).toEqual({
    rows: [{ account: 1, balance: 100.5, entries: 100 }],
    total: 1,
    sums: { verified: 1, balance: 100.5, wrongDailySums: 0 },
  })
  expect(JSON.parse(err)).toEqual({ error: message })
})

test('a daily sum that differs from its messages is printed with both numbers, and the exit code is 1', async () => {
  const wrong = { account: 1 as AccountId, day: 20_743 as GatewayDay, code: 0 as const, sum: 4, counted: 3 }
  const operator = anOperator({
    ports: (ports) => ({ ...ports, dailySums: { ...ports.dailySums, check: () => Promise.resolve([wrong]) } }),
  })
  await anAccount(operator.ports)
  expect(await operator.run(['credits', 'verify'])).toEqual({
    code: 1,
    out: `1 account with 100.0 credits: every balance is the sum of its entries.
Account 1, 2026/10/17, code 0: sum 4, messages 3
`,
    err: 'The daily sums and the messages differ.\n',
  })
})

test('a top-up with an operation is made once', async () => {
  const operator = anOperator()
  const { id } = await anAccount(operator.ports, { credits: 0 })
  const topUp = [
    'credits',
    'top-up',
    String(id),
    '5',
    '--why',
    'x',
    '--operation',
    '2b1d6c5e-8a0f-4f7e-9a55-0c6f3a1e2d4b',
  ]
  expect(await operator.run(topUp)).toMatchObject({ code: 0 })
  expect(await operator.run(topUp)).toMatchObject({
    code: 1,
    err: expect.stringContaining('was already made') as string,
  })
  expect(await operator.ports.ledger.balance(id)).toBe(50)
  expect(await operator.run([...topUp.slice(0, -1), 'twice'])).toMatchObject({ code: 2 })
})
