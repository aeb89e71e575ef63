import { instant, secondsAfter, type PasswordAttempt, type PasswordHash } from '@gateway/core'
import { secretsContract } from '@gateway/core/testing'
import { nodeSecrets, type NodeSecretsSettings } from './node-secrets.ts'
import { systemClock } from './system-clock.ts'

const now = instant(Date.UTC(2026, 9, 18, 8))

describe('the contract of the port Secrets', () => {
  test.each(Object.entries(secretsContract))('%s', (_, check) => check(nodeSecrets()))
})

async function aUser(settings: NodeSecretsSettings = {}) {
  const secrets = nodeSecrets(settings)
  const stored = await secrets.hashPassword('right')
  const check = (password: string, other: Partial<PasswordAttempt> = {}) =>
    secrets.checkPassword({ login: 'Anna', password, stored, network: '192.0.2.0/24', now, ...other })
  const guess = (count: number, other: Partial<PasswordAttempt> = {}) =>
    Promise.all(Array.from({ length: count }, (_, i) => check(`wrong ${i}`, other)))
  return { secrets, stored, check, guess }
}

test('keys: 256 bits of chance in characters that need no encoding, recognisable by how they begin', () => {
  const secrets = nodeSecrets()
  expect(secrets.newApiKey()).toMatch(/^gw_[\w-]{43}$/)
  expect(secrets.newPassword()).toMatch(/^[\w-]{16,}$/)
  const keys = Array.from({ length: 1000 }, () => secrets.newApiKey())
  expect(new Set(keys).size).toBe(1000)
  // What is stored in clear tells the keys of one account apart.
  expect(new Set(keys.slice(0, 20).map((key) => key.slice(0, 6))).size).toBeGreaterThan(18)
})

test('hashKey is SHA-256 in hex', () => {
  expect(nodeSecrets().hashKey('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
})

test('beyond ten failures nothing is hashed; right pairs of late, other networks and other users do not notice', async () => {
  const { check, guess, secrets } = await aUser({ failureSeconds: 120 })
  const other = await secrets.hashPassword('another')
  expect(await check('right')).toBe('right')
  expect(await guess(10)).toEqual(Array(10).fill('wrong'))
  const refused = await check('wrong', { login: 'aNNa' })
  expect(refused).toEqual({ retryAfterSeconds: expect.any(Number) as number })
  expect((refused as { retryAfterSeconds: number }).retryAfterSeconds).toBeGreaterThanOrEqual(1)
  expect(await check('right')).toBe('right')
  expect(await check('right', { network: '198.51.100.0/24' })).toBe('right')
  expect(await check('another', { login: 'bob', stored: other })).toBe('right')
  // No longer known by heart: a right password is refused as any other.
  expect(await check('right', { now: secondsAfter(now, 61) })).toHaveProperty('retryAfterSeconds')
})

test('guesses at the same time find no more room than guesses one after the other', async () => {
  const { guess } = await aUser()
  const answers = await guess(40)
  expect(answers.filter((answer) => answer === 'wrong')).toHaveLength(10)
  expect(answers.filter((answer) => typeof answer === 'object')).toHaveLength(30)
})

test('equal attempts at the same time are hashed once and count as one', async () => {
  const { check, guess } = await aUser()
  const same = await Promise.all(Array.from({ length: 500 }, () => check('typo')))
  expect(new Set(same)).toEqual(new Set(['wrong']))
  expect(await guess(10)).toContainEqual({ retryAfterSeconds: expect.any(Number) as number })
  const right = await aUser({ verifiedSeconds: 0 })
  expect(new Set(await Promise.all(Array.from({ length: 500 }, () => right.check('right'))))).toEqual(
    new Set(['right']),
  )
})

test('right passwords do not use up the bound', async () => {
  const { check, guess } = await aUser({ verifiedSeconds: 0 })
  for (let i = 0; i < 12; i++) expect(await check('right')).toBe('right')
  expect(await guess(10)).toEqual(Array(10).fill('wrong'))
})

test('failures are forgotten after their time', async () => {
  const { check, guess } = await aUser()
  await guess(10)
  expect(await check('right')).toEqual({ retryAfterSeconds: 60 })
  expect(await check('right', { now: secondsAfter(now, 59.9) })).toEqual({ retryAfterSeconds: 1 })
  expect(await check('right', { now: secondsAfter(now, 60) })).toBe('right')
})

test('a changed password is wrong at once, although the old pair was right a moment ago', async () => {
  const { secrets, check } = await aUser()
  expect(await check('right')).toBe('right')
  const changed = await secrets.hashPassword('new')
  expect(await check('right', { stored: changed })).toBe('wrong')
  expect(await check('right', { stored: undefined })).toBe('wrong')
  expect(await check('new', { stored: changed })).toBe('right')
})

test('a pair right of late is right for that user and password only', async () => {
  const { check } = await aUser()
  expect(await check('right')).toBe('right')
  expect(await check('righ', { login: 'Annat' })).toBe('wrong')
  expect(await check('Right')).toBe('wrong')
})

test('an unknown user takes as long as a wrong password', async () => {
  const { check } = await aUser()
  const times = { known: [] as number[], unknown: [] as number[] }
  const timed = async (who: 'known' | 'unknown', i: number) => {
    const start = performance.now()
    const other = who === 'known' ? {} : { stored: undefined }
    expect(await check(`wrong ${i}`, { ...other, login: `${who} ${i}` })).toBe('wrong')
    times[who].push(performance.now() - start)
  }
  for (let i = 0; i < 15; i++) {
    await timed('known', i)
    await timed('unknown', i)
  }
  const least = (of: readonly number[]) => Math.min(...of)
  expect(least(times.unknown) / least(times.known)).toBeGreaterThan(0.6)
  expect(least(times.unknown) / least(times.known)).toBeLessThan(1.7)
})

test('when too much waits, an attempt is refused as overloaded and counts as no failure', async () => {
  const { check, guess } = await aUser({ hashesMax: 1, waitingPerNetworkMax: 3 })
  const answers = await Promise.all(Array.from({ length: 8 }, (_, i) => check(`wrong ${i}`)))
  expect(answers.filter((answer) => answer === 'overloaded')).toHaveLength(4)
  // Four were wrong; six more may be.
  for (let i = 0; i < 6; i++) expect(await check(`more ${i}`)).toBe('wrong')
  expect(await guess(1)).toEqual([{ retryAfterSeconds: expect.any(Number) as number }])
})

test('a stored hash that cannot be read is an error, and no failure of the user', async () => {
  const { check, stored } = await aUser()
  const broken = stored.slice(0, 20) as PasswordHash
  for (let i = 0; i < 11; i++) await expect(check('right', { stored: broken })).rejects.toThrow('cannot be read')
  expect(await check('right')).toBe('right')
})

test('the system clock tells whole milliseconds of now', () => {
  const before = Date.now()
  const told = systemClock().now()
  expect(told).toBeGreaterThanOrEqual(before)
  expect(told).toBeLessThanOrEqual(Date.now())
})
