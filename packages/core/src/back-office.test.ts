import { aKeyId, anAccountId, aNumber, memoryPorts, steppingClock } from '@gateway/core/testing'
import type { AccountId } from './accounts/account.ts'
import type { AccountToOpen } from './accounts/change-account.ts'
import { createBackOffice } from './back-office.ts'
import { credits } from './credits/credits.ts'
import { priceMax } from './credits/prices.ts'

const setUp = () => {
  const clock = steppingClock()
  const ports = memoryPorts({ clock })
  const backOffice = createBackOffice(ports)
  const open = async (account: AccountToOpen): Promise<AccountId> => {
    const id = await backOffice.commands.openAccount(account)
    if (typeof id === 'string') throw new Error(id)
    return id
  }
  return { clock, ports, backOffice, open }
}

const nobody = anAccountId(999)

test('initial credits of an account are an entry of its ledger', async () => {
  const { ports, backOffice, open } = setUp()
  const id = await open({ login: 'acme', credits: credits(1000), firstName: 'Ada', transactional: true })
  const found = await backOffice.queries.findAccount(id)
  expect(found?.balance).toBe(1000)
  expect(found?.account).toMatchObject({
    login: 'acme',
    firstName: 'Ada',
    surname: '',
    locked: false,
    transactional: true,
  })
  expect(await ports.ledger.check()).toEqual({ accounts: 1, balances: 1000, differences: [] })
})

test.each<[string, AccountToOpen, string]>([
  ['a blank login', { login: '' }, 'invalid-login'],
  ['a login with a space', { login: 'a b' }, 'invalid-login'],
  ['a login of 65 characters', { login: 'a'.repeat(65) }, 'invalid-login'],
  ['a login outside ASCII', { login: 'ä' }, 'invalid-login'],
  ['a blank password', { login: 'new', password: '  ' }, 'invalid-password'],
  ['a password of 256 characters', { login: 'new', password: 'a'.repeat(256) }, 'invalid-password'],
  ['fewer credits than none', { login: 'new', credits: credits(-1) }, 'negative-credits'],
  ['a login that is taken in another letter case', { login: 'TAKEN' }, 'login-taken'],
  ['a main account that is not there', { login: 'new', parent: nobody }, 'no-such-parent'],
])('%s opens no account', async (_, account, expected) => {
  const { backOffice, open } = setUp()
  await open({ login: 'taken' })
  expect(await backOffice.commands.openAccount(account)).toBe(expected)
})

test('a sub account cannot have sub accounts', async () => {
  const { backOffice, open } = setUp()
  const sub = await open({ login: 'sub', parent: await open({ login: 'main' }) })
  expect(await backOffice.commands.openAccount({ login: 'subsub', parent: sub })).toBe('parent-is-sub-account')
})

test('credits are granted and withdrawn, never below 0.0 and only with a reason', async () => {
  const { backOffice, open } = setUp()
  const id = await open({ login: 'acme' })
  expect(await backOffice.commands.topUp(id, credits(100), 'invoice 1')).toBe(100)
  expect(await backOffice.commands.topUp(id, credits(-30), 'correction')).toBe(70)
  expect(await backOffice.commands.topUp(id, credits(-71), 'correction')).toBe('out-of-range')
  expect(await backOffice.commands.topUp(id, credits(10), '  ')).toBe('no-reason')
  expect(await backOffice.commands.topUp(id, credits(0), 'nothing')).toBe('no-amount')
  expect(await backOffice.commands.topUp(nobody, credits(10), 'why')).toBe('no-such-account')
  expect(await backOffice.queries.verifyLedger()).toEqual({ accounts: 1, balances: 70, differences: [] })
})

test('a command for an unknown account is refused', async () => {
  const { backOffice } = setUp()
  expect(await backOffice.commands.lockAccount(nobody)).toBe('no-such-account')
  expect(await backOffice.commands.unlockAccount(nobody)).toBe('no-such-account')
  expect(await backOffice.commands.setPassword(nobody, 'x')).toBe('no-such-account')
  expect(await backOffice.commands.issueApiKey(nobody)).toBe('no-such-account')
  expect(await backOffice.commands.revokeApiKey(aKeyId(999))).toBe('no-such-key')
  expect(await backOffice.queries.findAccount(nobody)).toBeUndefined()
})

test('a key with an expiry in the past is not issued; a list of keys never contains a key', async () => {
  const { clock, backOffice, open } = setUp()
  const id = await open({ login: 'acme' })
  expect(await backOffice.commands.issueApiKey(id, { expires: clock.now() })).toBe('expired-already')
  const issued = await backOffice.commands.issueApiKey(id, { label: 'first' })
  if (typeof issued === 'string') throw new Error(issued)
  const keys = await backOffice.queries.listApiKeys(id)
  expect(keys).toMatchObject([{ id: issued.id, label: 'first', prefix: issued.key.slice(0, 6) }])
  expect(JSON.stringify(keys)).not.toContain(issued.key)
})

test('prices are set, replaced, listed by prefix, and removed, also the price of all other numbers', async () => {
  const { backOffice } = setUp()
  expect(await backOffice.commands.setPrice('27', credits(7))).toBe('set')
  expect(await backOffice.commands.setPrice('2782', credits(0))).toBe('set')
  expect(await backOffice.commands.setPrice('27', credits(8))).toBe('set')
  expect(await backOffice.queries.listPrices()).toEqual([
    { prefix: '', price: 10 },
    { prefix: '27', price: 8 },
    { prefix: '2782', price: 0 },
  ])
  expect(await backOffice.commands.removePrice('')).toBe('removed')
  expect(await backOffice.commands.removePrice('')).toBe('no-such-price')
  expect(await backOffice.commands.removePrice('278')).toBe('no-such-price')
  expect((await backOffice.queries.listPrices()).map(({ prefix }) => prefix)).toEqual(['27', '2782'])
})

test.each([
  ['0', 5, 'invalid-prefix'],
  ['027', 5, 'invalid-prefix'],
  ['+27', 5, 'invalid-prefix'],
  ['2 7', 5, 'invalid-prefix'],
  ['1234567890123456', 5, 'invalid-prefix'],
  ['default', -1, 'invalid-prefix'],
  ['27', -1, 'invalid-price'],
  ['', priceMax + 1, 'invalid-price'],
])('a price for %j of %d tenths is not set: %s', async (prefix, price, expected) => {
  const { backOffice } = setUp()
  expect(await backOffice.commands.setPrice(prefix, credits(price))).toBe(expected)
  expect(await backOffice.queries.listPrices()).toEqual([{ prefix: '', price: 10 }])
})

test('a number is blocked for all accounts, on each list independently', async () => {
  const { backOffice } = setUp()
  const number = aNumber('27820000001')
  const listed = async (reason: 'blacklist' | 'do-not-contact') => {
    const found: string[] = []
    for await (const entry of backOffice.queries.listBlockedNumbers(reason)) found.push(entry.number)
    return found
  }
  expect(await backOffice.commands.blockNumber(number, 'blacklist')).toBe('added')
  expect(await backOffice.commands.blockNumber(number, 'blacklist')).toBe('already')
  expect(await backOffice.commands.blockNumber(number, 'do-not-contact')).toBe('added')
  expect(await backOffice.commands.unblockNumber(number, ['blacklist'])).toEqual(['blacklist'])
  expect([await listed('blacklist'), await listed('do-not-contact')]).toEqual([[], [number]])
  expect(await backOffice.commands.unblockNumber(number, ['blacklist', 'do-not-contact'])).toEqual(['do-not-contact'])
})
