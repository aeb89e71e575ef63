import { credits, plus } from '@gateway/core/credits'
import { secondsAfter } from '@gateway/core/time'
import { anAccountId, aMessageId, anOrder, numbers, steppingClock, anAccount } from '@gateway/core/testing'
import { anOperator } from '../../testing/operate.ts'

async function aBusyAccount() {
  const clock = steppingClock()
  const operator = anOperator({ clock })
  await operator.run(['account', 'open', '--login', 'a', '--credits', '100'])
  await operator.run(['account', 'open', '--login', 'b', '--parent', '1'])
  clock.step(86_400)
  await operator.run(['credits', 'top-up', '1', '-0.5', '--why', '=cmd|"calc", now'])
  clock.step(60)
  await operator.run(['send', '--account', '1', '--to', '27825550101,27825550102', '--text', 'hello'])
  clock.step(60)
  await operator.run(['account', 'transfer', '1', '2', '7'])
  return operator
}

test('each movement is listed with the balance after it, and they add up', async () => {
  const operator = await aBusyAccount()
  const noCause = { firstMessage: null, lastMessage: null, otherAccount: null, statusCode: null, why: null }
  const none = { ...noCause, reference: null, category: null }
  expect(await operator.rows('account', 'ledger', '1')).toEqual([
    { account: 1, time: '2026-10-18T08:00:00.000Z', kind: 'top-up', amount: 100, balance: 100, ...none, why: 'opened' },
    {
      account: 1,
      time: '2026-10-19T08:00:00.000Z',
      kind: 'top-up',
      amount: -0.5,
      balance: 99.5,
      ...none,
      why: '=cmd|"calc", now',
    },
    {
      account: 1,
      time: '2026-10-19T08:01:00.000Z',
      kind: 'send',
      amount: -2,
      balance: 97.5,
      ...none,
      firstMessage: 1,
      lastMessage: 2,
    },
    {
      account: 1,
      time: '2026-10-19T08:02:00.000Z',
      kind: 'transfer',
      amount: -7,
      balance: 90.5,
      ...none,
      otherAccount: 2,
    },
  ])
  expect((await operator.run(['account', 'ledger', '1'])).out).toBe(
    [
      'ACCOUNT  TIME (GMT+2)         KIND     AMOUNT  BALANCE  WHY',
      '1        2026/10/18 10:00:00  added    100.0   100.0    opened',
      '1        2026/10/19 10:00:00  taken    -0.5    99.5     =cmd|"calc", now',
      '1        2026/10/19 10:01:00  charged  -2.0    97.5     messages 1 to 2',
      '1        2026/10/19 10:02:00  moved    -7.0    90.5     to account 2',
      '',
    ].join('\n'),
  )
  expect((await operator.run(['credits', 'verify'])).code).toBe(0)
})

test('the CSV has a head and CR LF, and texts of others cannot become formulas', async () => {
  const { code, out, err } = await (
    await aBusyAccount()
  ).run(['account', 'ledger', '1', '--csv', '--from', '2026-10-19'])
  expect([code, err]).toEqual([0, ''])
  expect(out).toBe(
    [
      'account,time,kind,amount,balance,firstMessage,lastMessage,otherAccount,statusCode,why,reference,category',
      `1,2026-10-19T08:00:00.000Z,top-up,-0.5,99.5,,,,,"'=cmd|""calc"", now",,`,
      '1,2026-10-19T08:01:00.000Z,send,-2.0,97.5,1,2,,,,,',
      '1,2026-10-19T08:02:00.000Z,transfer,-7.0,90.5,,,2,,,,',
      '',
    ].join('\r\n'),
  )
})

test('statements of all accounts are printed in one run, one account after the other', async () => {
  const operator = await aBusyAccount()
  const rows = await operator.rows<{ account: number; balance: number }>('account', 'ledger', '--all')
  expect(rows.map(({ account, balance }) => [account, balance])).toEqual([
    ...[
      [1, 100],
      [1, 99.5],
      [1, 97.5],
      [1, 90.5],
    ],
    [2, 0],
    [2, 7],
  ])
  const { out } = await operator.run(['account', 'ledger', '--all', '--from', '2026-10-19', '--csv'])
  expect(
    out
      .trimEnd()
      .split('\r\n')
      .map((line) => line.split(',')[0]),
  ).toEqual(['account', '1', '1', '1', '2'])
  expect((await operator.run(['account', 'ledger'])).code).toBe(2)
  expect((await operator.run(['account', 'ledger', '1', '--all'])).code).toBe(2)
})

test.each([
  [
    ['--from', '2026-10-19'],
    [99.5, 97.5, 90.5],
  ],
  [['--to', '2026-10-18'], [100]],
  [['--from', '202610191001', '--to', '202610191002'], [97.5]],
  [['--from', '2026-10-20'], []],
])('the period %j is the day or the minute at GMT+2', async (period, balances) => {
  const operator = await aBusyAccount()
  const rows = await operator.rows<{ balance: number }>('account', 'ledger', '1', ...period)
  expect(rows.map(({ balance }) => balance)).toEqual(balances)
})

test('refunds are listed with their send and their code', async () => {
  const operator = anOperator()
  await operator.run(['account', 'open', '--login', 'a', '--credits', '100'])
  const id = anAccountId(1)
  const now = operator.ports.clock.now()
  const order = anOrder(id, { to: numbers(3), due: secondsAfter(now, 3600) })
  await operator.ports.messages.accept(order)
  await operator.ports.messages.deleteScheduled(id, [aMessageId(2)], now)
  const rows = await operator.rows<object>('account', 'ledger', '1')
  expect(rows.at(-1)).toMatchObject({ kind: 'refund', amount: 1, balance: 98, firstMessage: 2, statusCode: 102 })
  const { out } = await operator.run(['account', 'ledger', '1'])
  expect(out).toContain('  returned  1.0     98.0     of the send of message 2, code 102\n')
})

test('a ledger that does not add up is listed, and the command then fails', async () => {
  const operator = await aBusyAccount()
  const { ports } = operator
  const broken = anOperator({
    ports: () => ({
      ...ports,
      ledger: {
        ...ports.ledger,
        async *movements(...args: Parameters<typeof ports.ledger.movements>) {
          for await (const some of ports.ledger.movements(...args)) {
            yield some.map((one) => ({ ...one, balance: plus(one.balance, credits(1)) }))
          }
        },
      },
    }),
  })
  const { code, out, err } = await broken.run(['account', 'ledger', '1'])
  expect([code, err]).toEqual([1, 'The movements do not add up to the balance. See gateway credits verify.\n'])
  expect(out).toContain('100.1')
  expect((await broken.run(['account', 'ledger', '1', '--from', '2026-10-19'])).code).toBe(0)
})

test('a missing account, and an account together with --all, are refused', async () => {
  const operator = anOperator()
  expect(await operator.run(['account', 'ledger', '7'])).toEqual({ code: 1, out: '', err: 'There is no account 7.\n' })
  expect((await operator.run(['account', 'ledger', '7', '--csv', '--json'])).code).toBe(2)
})

/**
 * Opens account 1 as a main account with 100 credits, 2 and 3 as its sub accounts with 10 each, and 4 as another main
 * account.
 */
async function aFamily() {
  const operator = anOperator()
  const main = await anAccount(operator.ports)
  await anAccount(operator.ports, { parent: main.id, credits: 100 })
  await anAccount(operator.ports, { parent: main.id, credits: 100 })
  await anAccount(operator.ports)
  const balances = async () => (await operator.rows<{ balance: number }>('account', 'list')).map((one) => one.balance)
  const transfer = (...args: readonly string[]) => operator.run(['account', 'transfer', ...args])
  return { operator, balances, transfer }
}

test('credits move from main to sub, from sub to main and from sub to sub', async () => {
  const { operator, balances, transfer } = await aFamily()
  expect(await operator.json('account', 'transfer', '1', '2', '40')).toEqual({
    fromAccount: 1,
    toAccount: 2,
    amount: 40,
  })
  expect(await transfer('2', '3', '25')).toEqual({
    code: 0,
    out: '25 credits moved from account 2 to account 3.\n',
    err: '',
  })
  expect((await transfer('3', '1', '5')).code).toBe(0)
  expect(await balances()).toEqual([65, 25, 30, 100])
  expect(await operator.json('credits', 'verify')).toMatchObject({ total: 0 })
})

test.each([
  [['9', '1', '1'], 'There is no account 9.'],
  [['1', '4', '1'], 'Account 4 does not exist or is not in the family of account 1.'],
  [['1', '9', '1'], 'Account 9 does not exist or is not in the family of account 1.'],
  [['2', '2', '1'], 'The two accounts are the same.'],
  [['1', '2', '0'], 'A transfer moves 1 to 1000000000000 whole credits.'],
  [['1', '2', '1000000000001'], 'A transfer moves 1 to 1000000000000 whole credits.'],
  [['2', '1', '11'], 'Account 2 has less than 11 credits.'],
])('transfer %j is refused and moves nothing', async (args, message) => {
  const { operator, balances, transfer } = await aFamily()
  expect(await transfer(...args)).toEqual({ code: 1, out: '', err: `${message}\n` })
  const { code, out, err } = await operator.run(['account', 'transfer', ...args, '--json'])
  expect([code, out, JSON.parse(err)]).toEqual([1, '', { error: message }])
  expect(await balances()).toEqual([100, 10, 10, 100])
})

test.each([
  ['2', ['2', '3'], 'Account 2 is locked, or its main account is.'],
  ['1', ['2', '3'], 'Account 2 is locked, or its main account is.'],
  ['3', ['2', '3'], 'Account 3 is locked.'],
])('while account %s is locked, transfer %j is refused', async (locked, [from = '', to = ''], message) => {
  const { operator, transfer } = await aFamily()
  await operator.run(['account', 'lock', locked])
  expect(await transfer(from, to, '1')).toEqual({ code: 1, out: '', err: `${message}\n` })
})

test('a transfer that the store certainly did not make is reported as such', async () => {
  const operator = anOperator({
    ports: (ports) => ({ ...ports, ledger: { ...ports.ledger, transfer: () => Promise.resolve('failed') } }),
  })
  const { id } = await anAccount(operator.ports)
  await anAccount(operator.ports, { parent: id })
  expect(await operator.run(['account', 'transfer', '1', '2', '1'])).toEqual({
    code: 1,
    out: '',
    err: 'The transfer failed. No credits were moved.\n',
  })
})

test.each(['1.5', '-1', '1e3', '', 'all'])('%j is not a whole number of credits', async (quantity) => {
  const { transfer, balances } = await aFamily()
  const { code, out, err } = await transfer('1', '2', '--', quantity)
  expect([code, out]).toEqual([2, ''])
  expect(err).toContain('Expected a whole number of credits.')
  expect(await balances()).toEqual([100, 10, 10, 100])
})
