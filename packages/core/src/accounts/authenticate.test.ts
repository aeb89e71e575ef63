import { memoryPorts, steppingClock } from '@gateway/core/testing'
import { createBackOffice } from '../back-office.ts'
import { createGateway } from '../gateway.ts'
import { secondsAfter } from '../time/instant.ts'
import type { Credentials } from './authenticate.ts'

const network = '192.0.2.0/24'
const password = 'correct horse'

const setUp = async () => {
  const clock = steppingClock()
  const ports = memoryPorts({ clock })
  const backOffice = createBackOffice(ports)
  const open = async (login: string) => {
    const id = await backOffice.commands.openAccount({ login, password })
    if (typeof id === 'string') throw new Error(id)
    const issued = await backOffice.commands.issueApiKey(id)
    if (typeof issued === 'string') throw new Error(issued)
    return { account: id, key: issued.key, keyId: issued.id }
  }
  const { authenticate } = createGateway(ports).commands
  /** Returns the account's id, or the refusal. */
  const accountOf = async (credentials: Omit<Credentials, 'network'>, from = network) => {
    const answer = await authenticate({ ...credentials, network: from })
    if (typeof answer === 'string') return answer
    if ('overLimitSeconds' in answer) return 'over-limit'
    return 'retryAfterSeconds' in answer ? 'too-many-failures' : answer.id
  }
  return { clock, backOffice, accountOf, acme: await open('acme'), other: await open('other') }
}

test('a key, a pair, and both together open their account; the user name in any letter case', async () => {
  const { accountOf, acme } = await setUp()
  expect(await accountOf({ apiKey: acme.key })).toBe(acme.account)
  expect(await accountOf({ pair: { user: 'ACME', password } })).toBe(acme.account)
  expect(await accountOf({ apiKey: acme.key, pair: { user: 'acme', password } })).toBe(acme.account)
})

test.each<[string, (known: { key: string; otherKey: string }) => Omit<Credentials, 'network'>]>([
  ['nothing at all', () => ({})],
  ['an unknown key', () => ({ apiKey: 'nonsense' })],
  ['an unknown user', () => ({ pair: { user: 'nobody', password } })],
  ['a wrong password', () => ({ pair: { user: 'acme', password: 'Correct horse' } })],
  ['a key and a pair of another account', ({ otherKey }) => ({ apiKey: otherKey, pair: { user: 'acme', password } })],
  ['a right key with a wrong pair', ({ key }) => ({ apiKey: key, pair: { user: 'acme', password: 'x' } })],
  ['a wrong key with a right pair', () => ({ apiKey: 'x', pair: { user: 'acme', password } })],
])('%s opens nothing', async (_, credentials) => {
  const { accountOf, acme, other } = await setUp()
  expect(await accountOf(credentials({ key: acme.key, otherKey: other.key }))).toBe('wrong-credentials')
})

test('a revoked key and an expired key are refused, and the other keys of the account still work', async () => {
  const { clock, backOffice, accountOf, acme } = await setUp()
  const expiring = await backOffice.commands.issueApiKey(acme.account, { expires: secondsAfter(clock.now(), 60) })
  if (typeof expiring === 'string') throw new Error(expiring)
  expect(await accountOf({ apiKey: expiring.key })).toBe(acme.account)
  clock.step(60)
  expect(await accountOf({ apiKey: expiring.key })).toBe('wrong-credentials')
  const second = await backOffice.commands.issueApiKey(acme.account)
  if (typeof second === 'string') throw new Error(second)
  expect(await backOffice.commands.revokeApiKey(acme.keyId)).toBe('revoked')
  expect(await accountOf({ apiKey: second.key })).toBe(acme.account)
  expect(await accountOf({ apiKey: acme.key })).toBe('wrong-credentials')
})

test('a locked account can log in, because the lock is checked for each act (ruling 1.14)', async () => {
  const { backOffice, accountOf, acme } = await setUp()
  await backOffice.commands.lockAccount(acme.account)
  expect(await accountOf({ apiKey: acme.key })).toBe(acme.account)
})

test('a changed password is valid at once', async () => {
  const { backOffice, accountOf, acme } = await setUp()
  expect(await accountOf({ pair: { user: 'acme', password } })).toBe(acme.account)
  expect(await backOffice.commands.setPassword(acme.account, 'battery staple')).toBe('set')
  expect(await accountOf({ pair: { user: 'acme', password } })).toBe('wrong-credentials')
  expect(await accountOf({ pair: { user: 'acme', password: 'battery staple' } })).toBe(acme.account)
})

test('after ten failures in a minute one user is refused from one network, without effect on others (ruling 1.26)', async () => {
  const { clock, accountOf, acme, other } = await setUp()
  const guess = (n: number) => accountOf({ pair: { user: 'acme', password: `guess ${n}` } })
  for (let n = 1; n <= 10; n++) expect(await guess(n)).toBe('wrong-credentials')
  expect(await guess(11)).toBe('too-many-failures')
  expect(await accountOf({ pair: { user: 'Acme', password } })).toBe('too-many-failures')
  expect(await accountOf({ pair: { user: 'acme', password } }, '198.51.100.0/24')).toBe(acme.account)
  expect(await accountOf({ pair: { user: 'acme', password } })).toBe(acme.account) // the pair was verified recently
  expect(await accountOf({ pair: { user: 'other', password } })).toBe(other.account)
  expect(await accountOf({ apiKey: acme.key })).toBe(acme.account)
  clock.step(61)
  expect(await guess(12)).toBe('wrong-credentials')
})

test('64 concurrent guesses do not exceed the limit of ten', async () => {
  const { accountOf } = await setUp()
  const guesses = Array.from({ length: 64 }, (_, n) => accountOf({ pair: { user: 'acme', password: `guess ${n}` } }))
  expect((await Promise.all(guesses)).filter((answer) => answer === 'wrong-credentials')).toHaveLength(10)
})

test('a key and a pair work from their allowed networks and are wrong from others', async () => {
  const { backOffice, accountOf, acme } = await setUp()
  await backOffice.commands.changeAccount(acme.account, { from: ['pairs'] })
  await backOffice.commands.restrictApiKey(acme.keyId, ['keys'])
  const pair = { user: 'acme', password }
  const from = (where: string) => ({ comesFrom: (networks: readonly string[]) => networks.includes(where) })
  for (const [credentials, where, answer] of [
    [{ pair }, 'pairs', acme.account],
    [{ pair }, 'keys', 'wrong-credentials'],
    [{ apiKey: acme.key }, 'keys', acme.account],
    [{ apiKey: acme.key }, 'pairs', 'wrong-credentials'],
    [{ apiKey: acme.key, pair }, 'keys', 'wrong-credentials'],
  ] as const) {
    expect(await accountOf({ ...credentials, ...from(where) })).toBe(answer)
  }
  expect(await accountOf({ apiKey: acme.key })).toBe('wrong-credentials')
  await backOffice.commands.changeAccount(acme.account, { from: [] })
  expect(await accountOf({ pair })).toBe(acme.account)
})

test('requests with valid credentials are limited per second; wrong ones do not count, and other accounts are not affected', async () => {
  const { clock, backOffice, accountOf, acme, other } = await setUp()
  await backOffice.commands.changeAccount(acme.account, { requestsPerSecond: 2 })
  const ask = () => accountOf({ apiKey: acme.key })
  expect(await accountOf({ apiKey: 'wrong' })).toBe('wrong-credentials')
  expect([await ask(), await ask(), await ask()]).toEqual([acme.account, acme.account, 'over-limit'])
  expect(await accountOf({ pair: { user: 'acme', password } })).toBe('over-limit')
  expect(await accountOf({ apiKey: other.key })).toBe(other.account)
  clock.step(1)
  expect([await ask(), await ask(), await ask()]).toEqual([acme.account, acme.account, 'over-limit'])
  await backOffice.commands.changeAccount(acme.account, { requestsPerSecond: null })
  expect(await ask()).toBe(acme.account)
})
