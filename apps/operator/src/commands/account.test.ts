import { factorOwner } from '@gateway/core/people'
import { anAccount, aNumber } from '@gateway/core/testing'
import { anOperator } from '../../testing/operate.ts'

interface AccountJson {
  readonly id: number
  readonly login: string
}

test('an account is opened with all options, and shown with them', async () => {
  const operator = anOperator()
  const opened = await operator.json('account', 'open', '--login', 'acme', '--credits', '12.5', '--transactional')
  expect(opened).toEqual({ id: 1, login: 'acme', balance: 12.5 })
  const sub = ['--parent', '1', '--trial', '--own-number', '27825550101', '--first-name', 'Ada', '--surname', 'Love']
  expect(await operator.json('account', 'open', '--login', 'sub', ...sub)).toEqual({ id: 2, login: 'sub', balance: 0 })

  const free = { networks: [], requestsPerSecond: null, recipientsPerSecond: null, callingCode: null }
  const named = { login: 'acme', firstName: '', surname: '' }
  const main = { id: 1, parent: null, ...named, balance: 12.5, locked: false, ...free }
  expect(await operator.row('account', 'show', '1')).toEqual({ ...main, trialOwnNumber: null, transactional: true })
  expect(await operator.rows('account', 'list')).toEqual([
    { ...main, trialOwnNumber: null, transactional: true },
    {
      id: 2,
      parent: 1,
      login: 'sub',
      firstName: 'Ada',
      surname: 'Love',
      balance: 0,
      locked: false,
      trialOwnNumber: '27825550101',
      transactional: false,
      ...free,
    },
  ])
  expect((await operator.run(['account', 'list'])).out).toBe(
    [
      'ID  PARENT  LOGIN  NAME      CREDITS  STATE',
      '1           acme             12.5     open, transactional',
      '2   1       sub    Ada Love  0.0      open, trial of 27825550101',
      '',
    ].join('\n'),
  )
  expect((await operator.run(['account', 'show', '2'])).out).toContain('\nlogin    sub\nname     Ada Love\n')
})

test('an empty list is only a head, or an empty array', async () => {
  const operator = anOperator()
  expect((await operator.run(['account', 'list'])).out).toBe('ID  PARENT  LOGIN  NAME  CREDITS  STATE\n')
  expect(await operator.rows('account', 'list')).toEqual([])
})

test.each([
  ['a login with a blank', ['--login', 'a b'], 'A login is 1 to 64 printable ASCII characters without spaces.'],
  ['a blank password', ['--login', 'a', '--password', '-'], 'A password is 1 to 255 characters and more than spaces.'],
  ['a debt', ['--login', 'a', '--credits', '-1'], 'The initial credits cannot be negative.'],
  ['a login that is taken', ['--login', 'TAKEN'], 'An account with this login already exists.'],
  ['no such parent', ['--login', 'a', '--parent', '99'], 'There is no account with the id given as --parent.'],
])('%s opens no account', async (_, args, message) => {
  const operator = anOperator()
  await anAccount(operator.ports, { login: 'taken' })
  const command = ['account', 'open', ...args]
  expect(await operator.run(command, ' ')).toEqual({ code: 1, out: '', err: `${message}\n` })
  const { code, out, err } = await operator.run([...command, '--json'], ' ')
  expect([code, out, JSON.parse(err)]).toEqual([1, '', { error: message }])
  expect(await operator.rows<AccountJson>('account', 'list')).toHaveLength(1)
})

test.each([[['--trial']], [['--own-number', '27825550101']]])('%j alone is a usage error', async (args) => {
  const { code, out, err } = await anOperator().run(['account', 'open', '--login', 'a', ...args])
  expect([code, out, err]).toEqual([2, '', '--trial and --own-number go together.\n'])
})

const isRight = async ({ ports }: ReturnType<typeof anOperator>, login: string, password: string) => {
  const stored = () => ports.accounts.byLogin(login)
  const now = ports.clock.now()
  const checked = await ports.secrets.checkPassword({
    login,
    password,
    network: 'x',
    address: '',
    now,
    stored,
    remembered: stored,
    mayUse: () => true,
  })
  return typeof checked === 'object' && 'account' in checked ? 'right' : checked
}

test('a password is read from the command line or standard input, and stored only as a hash', async () => {
  const operator = anOperator()
  const result = await operator.run(['account', 'open', '--login', 'a', '--password', 'said-password'])
  expect(result.err).toMatch(/^Everybody on this machine can see a password on the command line \(ps\)\. .*\n$/)
  const { out, err } = await operator.run(['account', 'open', '--login', 'b', '--password', '-'], 'typed-password')
  expect(await isRight(operator, 'a', 'said-password')).toBe('right')
  expect(await isRight(operator, 'b', 'typed-password')).toBe('right')
  expect(out + err).not.toContain('typed-password')
  expect((await operator.ports.accounts.byLogin('b'))?.password).not.toContain('typed-password')
})

test('a password is set from standard input, with and without the option, and never shown', async () => {
  const operator = anOperator()
  await operator.run(['account', 'open', '--login', 'a'])
  expect(await operator.run(['account', 'password', '1'], 'first-password')).toEqual({
    code: 0,
    out: 'The password of account 1 is set.\n',
    err: '',
  })
  expect(await isRight(operator, 'a', 'first-password')).toBe('right')
  const { out } = await operator.run(['account', 'password', '1', '--password', '-', '--json'], 'second-password')
  expect(JSON.parse(out)).toEqual({ id: 1 })
  expect(await isRight(operator, 'a', 'second-password')).toBe('right')
  expect((await operator.run(['account', 'password', '1', '--password', 'third-password'])).err).toContain('(ps)')
  expect(await isRight(operator, 'a', 'third-password')).toBe('right')
})

test('a short password can be kept for programs that use it', async () => {
  const operator = anOperator()
  await operator.run(['account', 'open', '--login', 'a', '--password', 'said', '--keep-password'])
  expect(await isRight(operator, 'a', 'said')).toBe('right')
  const set = (typed: string) => operator.run(['account', 'password', '1'], typed)
  expect(await set('typed')).toEqual({ code: 1, out: '', err: 'A password has at least 10 characters.\n' })
  expect((await set('PASSWORD123')).err).toContain('Many people use this password')
  expect(await operator.run(['account', 'password', '1', '--keep-password'], 'typed')).toMatchObject({ code: 0 })
  expect(await isRight(operator, 'a', 'typed')).toBe('right')
})

test('a generated password is printed once, and is valid', async () => {
  const operator = anOperator()
  await operator.run(['account', 'open', '--login', 'a'])
  const { password } = await operator.json<{ password: string }>('account', 'password', '1', '--generate')
  expect(await isRight(operator, 'a', password)).toBe('right')
  for (const list of ['list', 'show 1']) {
    const { out } = await operator.run(['account', ...list.split(' '), '--json'])
    expect(out).not.toContain(password)
    expect(out).not.toContain('password')
  }
  expect((await operator.run(['account', 'password', '1', '--generate'])).out).toMatch(/is set\. It is \S{16,}\n$/)
})

test('a blank password, and one for an unknown account, change nothing', async () => {
  const operator = anOperator()
  await operator.run(['account', 'open', '--login', 'a', '--password', 'old-password'])
  const set = (id: string, typed: string) => operator.run(['account', 'password', id], typed)
  expect(await set('1', '')).toMatchObject({
    code: 1,
    err: 'A password is 1 to 255 characters and more than spaces.\n',
  })
  expect(await set('2', 'new-password')).toMatchObject({ code: 1, err: 'There is no account 2.\n' })
  expect(await isRight(operator, 'a', 'old-password')).toBe('right')
  const both = await operator.run(['account', 'password', '1', '--generate', '--password', 'x'])
  expect([both.code, both.out]).toEqual([2, ''])
})

test('an account is locked and unlocked, also repeatedly', async () => {
  const operator = anOperator()
  const { id } = await anAccount(operator.ports)
  for (const locked of [true, true, false, false]) {
    expect(await operator.json('account', locked ? 'lock' : 'unlock', String(id))).toEqual({ id, locked })
    expect(await operator.row('account', 'show', String(id))).toMatchObject({ locked })
  }
  expect((await operator.run(['account', 'lock', '1'])).out).toBe('Account 1 is locked.\n')
  expect((await operator.run(['account', 'list'])).out).toContain('locked')
})

test.each(['show', 'lock', 'unlock'])('%s of an unknown account is refused', async (command) => {
  const message = 'There is no account 7.'
  const operator = anOperator()
  expect(await operator.run(['account', command, '7'])).toEqual({ code: 1, out: '', err: `${message}\n` })
  expect(JSON.parse((await operator.run(['account', command, '7', '--json'])).err)).toEqual({ error: message })
})

test('account top sums the reports of processes, busiest first, by requests or by messages', async () => {
  const operator = anOperator()
  expect(await operator.run(['account', 'top'])).toMatchObject({
    code: 0,
    err: 'No account has made a request in the last 30 seconds.\n',
  })
  const [one, two] = [await anAccount(operator.ports), await anAccount(operator.ports, { login: 'other' })]
  const { accountRates } = operator.ports
  await accountRates.report('0195e9c4-0000-4000-8000-000000000001', [
    { account: one.id, requests: 3.04, messages: 0 },
    { account: two.id, requests: 1, messages: 1200.25 },
  ])
  await accountRates.report('0195e9c4-0000-4000-8000-000000000002', [{ account: one.id, requests: 1, messages: 2 }])
  const [first, second] = [
    { account: one.id, login: one.login, requestRate: 4, messageRate: 2 },
    { account: two.id, login: 'other', requestRate: 1, messageRate: 1200.3 },
  ]
  expect(await operator.rows('account', 'top')).toEqual([first, second])
  expect(await operator.rows('account', 'top', '--by', 'messages', '--limit', '1')).toEqual([second])
  expect((await operator.run(['account', 'top'])).out).toContain('ACCOUNT  LOGIN')
  expect((await operator.run(['account', 'top', '--by', 'credits'])).code).toBe(2)
})

test('closing an account reports its effects, and an account with unlocked sub accounts is refused', async () => {
  const operator = anOperator()
  const main = await anAccount(operator.ports, { credits: 125 })
  const sub = await anAccount(operator.ports, { parent: main.id })
  await operator.run(['key', 'issue', String(main.id)])
  const refused = await operator.run(['account', 'close', String(main.id)])
  expect(refused).toMatchObject({ code: 1 })
  expect(refused.err).toContain('has sub accounts that are not locked. Close them first.')
  expect((await operator.run(['account', 'close', String(sub.id)])).out).toContain(
    '0 keys, 0 codes, 0 webhooks, 0 SMPP credentials.',
  )
  expect(await operator.json('account', 'close', String(main.id), '--write-off', 'contract ended')).toEqual({
    id: main.id,
    locked: true,
    keysRevoked: 1,
    codesReleased: 0,
    webhooksRemoved: 0,
    smppCredentialsRemoved: 0,
    messagesDeleted: 0,
    refundedCredits: 0,
    writtenOff: 12.5,
    balance: 0,
  })
  expect((await operator.run(['account', 'close', '99'])).err).toContain('There is no account 99.')
})

const trial = { ownNumber: aNumber('27825550101') }

test('named settings of an account change, and the others stay', async () => {
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
    callingCode: null,
  }
  expect(await set('--calling-code', '+43')).toEqual({ ...shown, callingCode: '43' })
  expect(await set('--calling-code', 'none')).toEqual(shown)
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
])('%s is refused without an effect', async (_, args, code, message) => {
  const operator = anOperator()
  const account = await anAccount(operator.ports)
  await anAccount(operator.ports, { login: 'taken' })
  expect(await operator.run(['account', 'set', ...args])).toEqual({ code, out: '', err: `${message}\n` })
  expect((await operator.ports.accounts.find(account.id))?.account).toEqual(account)
})

test('an account is shown by its id or its login, and digits mean an id first', async () => {
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

test('the networks of a password are set, shown and removed', async () => {
  const operator = anOperator()
  const { id } = await anAccount(operator.ports)
  const set = (from: string) => operator.run(['account', 'set', '1', '--from', from])
  expect((await set('192.0.2.0/24, 2001:db8::/32')).out).toContain('password from 192.0.2.0/24, 2001:db8::/32 only')
  expect((await operator.ports.accounts.find(id))?.account.from).toEqual(['192.0.2.0/24', '2001:db8::/32'])
  for (const wrong of ['192.0.2.0/33', 'nowhere', '']) expect((await set(wrong)).code).toBe(2)
  expect((await set('any')).out).not.toContain('password')
  expect((await operator.ports.accounts.find(id))?.account.from).toEqual([])
})

test('limits are set one by one, shown and removed', async () => {
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

test('a second factor is required and removed; after a removal the password alone signs in again', async () => {
  const operator = anOperator()
  await operator.run(['account', 'open', '--login', 'a'])
  const factor = (...args: string[]) => operator.json('account', 'factor', '1', ...args)
  expect(await factor('--require', 'on')).toEqual({ id: 1, hasFactor: false, isRequired: true })
  await operator.ports.people.secondFactors.set(factorOwner('account', 1), 'sealed' as never, 1, [])
  expect(await factor()).toEqual({ id: 1, hasFactor: true, isRequired: true })
  expect(await factor('--forget', '--require', 'off')).toEqual({ id: 1, hasFactor: false, isRequired: false })
  expect(await operator.run(['account', 'factor', '9'])).toMatchObject({ code: 1, err: 'There is no account 9.\n' })
})
