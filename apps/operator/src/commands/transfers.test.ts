import { anAccount } from '@gateway/core/testing'
import { anOperator } from '../../testing/operate.ts'

/** 1 is a main account with 100 credits, 2 and 3 are its sub accounts with 10 each, 4 is a stranger. */
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
  [['1', '4', '1'], 'Account 4 is not in the family of account 1, or is not there.'],
  [['1', '9', '1'], 'Account 9 is not in the family of account 1, or is not there.'],
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

test('a transfer that the store could not do, and did not do, says so', async () => {
  const operator = anOperator({
    ports: (ports) => ({ ...ports, ledger: { ...ports.ledger, transfer: () => Promise.resolve('failed') } }),
  })
  const { id } = await anAccount(operator.ports)
  await anAccount(operator.ports, { parent: id })
  expect(await operator.run(['account', 'transfer', '1', '2', '1'])).toEqual({
    code: 1,
    out: '',
    err: 'The transfer failed; nothing was moved.\n',
  })
})

test.each(['1.5', '-1', '1e3', '', 'all'])('%j is no whole number of credits', async (quantity) => {
  const { transfer, balances } = await aFamily()
  const { code, out, err } = await transfer('1', '2', '--', quantity)
  expect([code, out]).toEqual([2, ''])
  expect(err).toContain('Expected a whole number of credits.')
  expect(await balances()).toEqual([100, 10, 10, 100])
})
