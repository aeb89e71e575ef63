import { anAccount, aNumber } from '@gateway/core/testing'
import { anOperator } from '../../testing/operate.ts'

const trial = { ownNumber: aNumber('27825550101') }

test('what is named of an account is changed, and the rest stays', async () => {
  const operator = anOperator()
  const account = await anAccount(operator.ports, { login: 'acme', trial, firstName: 'Ada', surname: 'Love' })
  const set = (...args: readonly string[]) => operator.json('account', 'set', '1', ...args)
  const shown = {
    id: 1,
    parent: null,
    login: 'acme',
    firstName: 'Ada',
    surname: 'Love',
    balance: 100,
    locked: false,
    trialOwnNumber: '27825550101',
    transactional: false,
    networks: [],
    requestsPerSecond: null,
    recipientsPerSecond: null,
  }
  expect(await set('--transactional', 'on')).toEqual({ ...shown, transactional: true })
  expect(await set('--trial', 'off')).toEqual({ ...shown, transactional: true, trialOwnNumber: null })
  expect(await set('--transactional', 'off', '--trial', 'on', '--own-number', '27825550102')).toEqual({
    ...shown,
    trialOwnNumber: '27825550102',
  })
  const named = { ...shown, login: 'ACME-2', firstName: '', surname: 'King', trialOwnNumber: '27825550102' }
  expect(await set('--login', 'ACME-2', '--first-name', '', '--surname', 'King')).toEqual(named)
  expect(await operator.row('account', 'show', '1')).toEqual(named)
  expect((await operator.ports.accounts.byLogin('acme-2'))?.account.id).toBe(account.id)
  expect((await operator.run(['account', 'set', '1', '--trial', 'off'])).out).toContain(
    '\nlogin    ACME-2\nname     King\n',
  )
})

test.each([
  ['nothing to change', ['1'], 2, 'Say what to change: see --help.'],
  ['a trial without its number', ['1', '--trial', 'on'], 2, '--trial on and --own-number go together.'],
  ['a number without a trial', ['1', '--own-number', '27825550101'], 2, '--trial on and --own-number go together.'],
  ['nobody', ['9', '--trial', 'off'], 1, 'There is no account 9.'],
  ['a login with a blank', ['1', '--login', 'a b'], 1, 'A login is 1 to 64 printable ASCII characters without spaces.'],
  ['a login that is taken', ['1', '--login', 'TAKEN', '--surname', 'x'], 1, 'Another account has this login.'],
])('%s is refused, and nothing is changed', async (_, args, code, message) => {
  const operator = anOperator()
  const account = await anAccount(operator.ports)
  await anAccount(operator.ports, { login: 'taken' })
  expect(await operator.run(['account', 'set', ...args])).toEqual({ code, out: '', err: `${message}\n` })
  expect((await operator.ports.accounts.find(account.id))?.account).toEqual(account)
})

test('an account is shown by its id or by its login, and of digits the id comes first', async () => {
  const operator = anOperator()
  for (const login of ['acme', '1', '27825550101', '0']) await anAccount(operator.ports, { login })
  const id = async (...args: readonly string[]) => (await operator.row<{ id: number }>('account', 'show', ...args)).id
  expect(await id('1')).toBe(1)
  expect(await id('ACME')).toBe(1)
  expect(await id('--login', 'Acme')).toBe(1)
  expect(await id('--login', '1')).toBe(2)
  expect(await id('27825550101')).toBe(3)
  expect(await id('0')).toBe(4)
  expect(await operator.run(['account', 'show', 'nobody'])).toEqual({
    code: 1,
    out: '',
    err: 'There is no account nobody.\n',
  })
  expect(await operator.run(['account', 'show', '9'])).toEqual({ code: 1, out: '', err: 'There is no account 9.\n' })
  for (const args of [[], ['1', '--login', 'acme']]) {
    expect((await operator.run(['account', 'show', ...args])).code).toBe(2)
  }
})

test('where a password may be used is set, shown and taken away', async () => {
  const operator = anOperator()
  const { id } = await anAccount(operator.ports)
  const set = (from: string) => operator.run(['account', 'set', '1', '--from', from])
  expect((await set('192.0.2.0/24, 2001:db8::/32')).out).toContain('password from 192.0.2.0/24, 2001:db8::/32 only')
  expect((await operator.ports.accounts.find(id))?.account.from).toEqual(['192.0.2.0/24', '2001:db8::/32'])
  for (const wrong of ['192.0.2.0/33', 'nowhere', '']) expect((await set(wrong)).code).toBe(2)
  expect((await set('any')).out).not.toContain('password')
  expect((await operator.ports.accounts.find(id))?.account.from).toEqual([])
})

test('limits are set one by one, shown, and taken away', async () => {
  const operator = anOperator()
  await anAccount(operator.ports)
  const limit = (...args: readonly string[]) => operator.run(['account', 'limit', '1', ...args])
  expect((await limit('--requests', '50', '--recipients', '1')).out).toContain(
    'open, 50 requests a second, 1 recipient a second',
  )
  expect((await limit('--recipients', 'none')).out).toMatch(/open, 50 requests a second$/m)
  expect(await operator.row('account', 'show', '1')).toMatchObject({
    requestsPerSecond: 50,
    recipientsPerSecond: null,
  })
  for (const wrong of [[], ['--requests', '0'], ['--requests', '1.5'], ['--recipients', '1000001']]) {
    expect((await limit(...wrong)).code).toBe(2)
  }
  expect((await limit('--requests', 'none')).out).toMatch(/open$/m)
  expect(await operator.run(['account', 'limit', '9', '--requests', '1'])).toMatchObject({
    code: 1,
    err: 'There is no account 9.\n',
  })
})
