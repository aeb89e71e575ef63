import type { Account, AccountId } from '@gateway/core/accounts'
import type { PasswordHash, PasswordUse } from '@gateway/core/people'
import { instant, secondsAfter, type Instant } from '@gateway/core/time'
import { secretsContract } from '@gateway/core/contracts'
import { aNewAccount, memoryLoginFailures, memoryStore, withoutSettings } from '@gateway/core/testing'
import type { FailedLogins } from './failed-logins.ts'
import { nodeSecrets, type NodeSecretsSettings } from './node-secrets.ts'
import { systemClock } from './system-clock.ts'

const now = instant(Date.UTC(2026, 9, 18, 8))

// With this cost, a hash takes 1 ms instead of 28 ms, which does not affect counts and refusals. Tests of durations use
// the full cost.
const cheap = { hashCost: 9 }
const dear = { hashCost: 14 }

describe('the contract of the port Secrets', () => {
  test.each(Object.entries(secretsContract))('%s', (_, check) => check(nodeSecrets(cheap)))
})

test('by default a password is hashed at full cost, and its check succeeds', async () => {
  const { check, secrets, stored } = await aUser(dear)
  expect(stored).toMatch(/^\$scrypt-sha256\$ln=14,r=8,p=1\$/)
  const byDefault = await nodeSecrets().hashPassword('right')
  expect(byDefault).toMatch(/^\$scrypt-sha256\$ln=14,r=8,p=1\$/)
  expect(await check('right', { stored: byDefault })).toBe('right')
  expect(await check('wrong', { stored: byDefault })).toBe('wrong')
  expect(secrets.logins.counts).toMatchObject({ right: 1, wrong: 1 })
})

interface Other {
  readonly login?: string
  readonly network?: string
  readonly now?: Instant
  readonly use?: PasswordUse
  readonly stored?: PasswordHash | undefined
}

const account: Account = { ...aNewAccount(), ...withoutSettings, id: 7 as AccountId, locked: false, shortCodes: [] }

async function aUser(settings: NodeSecretsSettings = {}) {
  const secrets = nodeSecrets({ ...cheap, ...settings })
  const stored = await secrets.hashPassword('right')
  const hashed: string[] = []
  const check = async (password: string, other: Other = {}) => {
    const { login = 'Anna', network = '192.0.2.0/24', now: at = now, use = 'requests' } = other
    const known = 'stored' in other ? other.stored : stored
    const remembered = () => Promise.resolve(known && { account, password: known })
    const read = () => {
      hashed.push(login)
      return remembered()
    }
    const checked = await secrets.checkPassword({
      login,
      password,
      network,
      now: at,
      use,
      remembered,
      stored: read,
      mayUse: () => true,
      address: '',
    })
    return typeof checked === 'object' && 'account' in checked ? 'right' : checked
  }
  const guess = (count: number, other: Other = {}) =>
    Promise.all(Array.from({ length: count }, (_, i) => check(`wrong ${i}`, other)))
  /** Logs in with unknown names from this many networks in turn. */
  const strangers = (count: number, networks: number, name = 'made-up') =>
    Array.from({ length: count }, (_, i) =>
      check('p', { login: `${name}-${i}`, stored: undefined, network: `10.0.${i % networks}.0/24` }),
    )
  return { secrets, stored, check, guess, strangers, hashed }
}

test('keys have 256 random bits in characters that need no encoding, and a recognizable prefix', () => {
  const secrets = nodeSecrets()
  expect(secrets.newApiKey()).toMatch(/^gw_[\w-]{43}$/)
  expect(secrets.newPassword()).toMatch(/^[\w-]{16,}$/)
  const keys = Array.from({ length: 1000 }, () => secrets.newApiKey())
  expect(new Set(keys).size).toBe(1000)
  // The characters that are stored in clear text distinguish the keys of one account.
  expect(new Set(keys.slice(0, 20).map((key) => key.slice(0, 6))).size).toBeGreaterThan(18)
})

test('hashKey is SHA-256 in hex', () => {
  expect(nodeSecrets().hashKey('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
})

test('after ten failures nothing is hashed; recently verified pairs, other networks and other users are not affected', async () => {
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
})

test('a pair whose verification has expired is refused like any other after too many failures', async () => {
  const { check, guess } = await aUser({ failureSeconds: 300, verifiedSeconds: 60 })
  expect(await check('right')).toBe('right')
  await guess(10)
  expect(await check('right', { now: secondsAfter(now, 59) })).toBe('right')
  expect(await check('right', { now: secondsAfter(now, 118) })).toBe('right')
  await guess(10, { now: secondsAfter(now, 119) })
  expect(await check('right', { now: secondsAfter(now, 178) })).toHaveProperty('retryAfterSeconds')
})

test('concurrent guesses have the same limit as sequential ones', async () => {
  const { guess } = await aUser()
  const answers = await guess(40)
  expect(answers.filter((answer) => answer === 'wrong')).toHaveLength(10)
  expect(answers.filter((answer) => typeof answer === 'object')).toHaveLength(30)
})

test('equal concurrent attempts are hashed once and count as one', async () => {
  const { check, guess } = await aUser()
  const same = await Promise.all(Array.from({ length: 500 }, () => check('typo')))
  expect(new Set(same)).toEqual(new Set(['wrong']))
  expect(await guess(10)).toContainEqual({ retryAfterSeconds: expect.any(Number) as number })
  const right = await aUser({ verifiedSeconds: 0 })
  expect(new Set(await Promise.all(Array.from({ length: 500 }, () => right.check('right'))))).toEqual(
    new Set(['right']),
  )
})

test('right passwords do not count towards the limit', async () => {
  const { check, guess } = await aUser({ verifiedSeconds: 0 })
  for (let i = 0; i < 12; i++) expect(await check('right')).toBe('right')
  expect(await guess(10)).toEqual(Array(10).fill('wrong'))
})

test('failures expire after their time', async () => {
  const { check, guess } = await aUser()
  await guess(10)
  expect(await check('right')).toEqual({ retryAfterSeconds: 60 })
  expect(await check('right', { now: secondsAfter(now, 40) })).toHaveProperty('retryAfterSeconds')
  expect(await check('right', { now: secondsAfter(now, 60) })).toBe('right')
})

test('a changed password invalidates a recently verified pair at once', async () => {
  const { secrets, check } = await aUser()
  expect(await check('right')).toBe('right')
  const changed = await secrets.hashPassword('new')
  expect(await check('right', { stored: changed })).toBe('wrong')
  expect(await check('right', { stored: undefined })).toBe('wrong')
  expect(await check('new', { stored: changed })).toBe('right')
})

test('a verification applies only to its user and password', async () => {
  const { check } = await aUser()
  expect(await check('right')).toBe('right')
  expect(await check('righ', { login: 'Annat' })).toBe('wrong')
  expect(await check('Right')).toBe('wrong')
})

/**
 * Measures the user CPU time of this process for work that runs alone, so that the load of the machine does not count.
 */
async function cpuOf(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage()
  await work()
  const { user } = process.cpuUsage(before)
  return user
}

test('an unknown user, one without a password and a wrong password take the same CPU time, within a third of the median', async () => {
  const { check, stored } = await aUser(dear)
  const kinds = { known: stored, unknown: undefined }
  const times = { known: [] as number[], unknown: [] as number[] }
  for (let i = 0; i < 40; i++) {
    for (const kind of i % 2 ? (['known', 'unknown'] as const) : (['unknown', 'known'] as const)) {
      const one = () => check(`wrong ${i}`, { login: `${kind} ${i}`, stored: kinds[kind] })
      times[kind].push(await cpuOf(one))
    }
  }
  const median = (of: readonly number[]) => of.toSorted((a, b) => a - b)[of.length >> 1] ?? NaN
  const ratio = median(times.unknown) / median(times.known)
  expect(ratio).toBeGreaterThan(0.75)
  expect(ratio).toBeLessThan(1.33)
})

/** Settings without the limit of waiting time, because the test counts hashes. */
const quiet = { waitSecondsMax: 600 }

test('130 invented names from one network: an unverified pair of that network is not refused and waits for no more than before', async () => {
  const { check, strangers, hashed } = await aUser(quiet)
  const flood = strangers(130, 1)
  const mine = check('right', { network: '10.0.0.0/24' })
  expect(await mine).toBe('right')
  expect(hashed.length).toBeLessThanOrEqual(132)
  expect(new Set(await Promise.all(flood))).toEqual(new Set(['wrong']))
})

test('400 made-up names from 250 networks: a right pair from another network is hashed after at most 152 others', async () => {
  const { check, strangers, hashed, secrets } = await aUser(quiet)
  const flood = strangers(400, 250)
  await new Promise(setImmediate)
  expect(await check('right')).toBe('right')
  expect(hashed.indexOf('Anna')).toBeLessThanOrEqual(152)
  const answers = await Promise.all(flood)
  expect(answers.filter((answer) => answer === 'overloaded')).toHaveLength(249)
  expect(answers.filter((answer) => answer === 'wrong')).toHaveLength(151)
  expect(secrets.logins.counts).toEqual({ right: 1, wrong: 151, overloaded: 249, 'too-many-failures': 0 })
  expect(secrets.waiting()).toBe(0)
})

test('a flood of sign-ins from 200 networks delays a pair of requests by two hashes, and its queue is limited', async () => {
  const { check, hashed, secrets } = await aUser(quiet)
  const flood = Array.from({ length: 200 }, (_, i) =>
    check('p', { login: `user ${i}@x`, stored: undefined, network: `10.0.${i}.0/24`, use: 'sign-in' }),
  )
  await new Promise(setImmediate)
  expect(secrets.waiting()).toBeLessThanOrEqual(12)
  expect(await check('right')).toBe('right')
  expect(hashed.indexOf('Anna')).toBeLessThanOrEqual(2)
  const answers = await Promise.all(flood)
  expect(new Set(answers)).toEqual(new Set(['overloaded', 'wrong']))
  expect(await check('right', { use: 'sign-in', network: '192.0.3.0/24' })).toBe('right')
})

test('during a continued attack, a right pair from a network without failures is never refused', async () => {
  const { check, strangers, hashed } = await aUser({ ...dear, waitingMax: 15, waitSecondsMax: 600 })
  await Promise.all(strangers(17, 17, 'first'))
  const floods = strangers(40, 17, 'second')
  await new Promise(setImmediate)
  const before = hashed.length
  const mine = check('right')
  for (let i = 0; i < 5; i++) {
    floods.push(...strangers(40, 17, `more ${i}`))
    await new Promise(setImmediate)
  }
  expect(await mine).toBe('right')
  expect(hashed.indexOf('Anna') - before).toBeLessThanOrEqual(17)
  expect(await Promise.all(floods)).toContain('overloaded')
})

test('when too many attempts wait, a further one is refused as overloaded and does not count as a failure', async () => {
  const { check, guess } = await aUser({ ...dear, hashesMax: 1, waitingMax: 3, waitSecondsMax: 600 })
  const answers = await Promise.all(Array.from({ length: 8 }, (_, i) => check(`wrong ${i}`)))
  expect(answers.filter((answer) => answer === 'overloaded')).toHaveLength(4)
  // Four attempts were wrong; six more are allowed.
  for (let i = 0; i < 6; i++) expect(await check(`more ${i}`)).toBe('wrong')
  expect(await guess(1)).toEqual([{ retryAfterSeconds: expect.any(Number) as number }])
})

test('failures of all processes are counted together, by user in any letter case and network', async () => {
  const store = memoryStore()
  const [here, there, alone] = await Promise.all([
    aUser({ loginFailures: memoryLoginFailures(store) }),
    aUser({ loginFailures: memoryLoginFailures(store) }),
    aUser(),
  ])
  const tooMany = { retryAfterSeconds: expect.any(Number) as number }
  expect(await here.guess(10)).toEqual(Array(10).fill('wrong'))
  expect(store.loginFailures).toHaveLength(10)
  expect(await there.check('wrong', { login: 'aNNa' })).toEqual(tooMany)
  expect(await there.check('right')).toEqual(tooMany)
  expect(await there.check('wrong', { network: '198.51.100.0/24' })).toBe('wrong')
  expect(await there.check('wrong', { login: 'bob' })).toBe('wrong')
  expect(await alone.check('wrong')).toBe('wrong')
  expect(JSON.stringify(store.loginFailures)).not.toMatch(/anna|192\.0/i)
})

test('if a failure cannot be counted the log-in rejects, while right ones succeed', async () => {
  const { check } = await aUser({ loginFailures: { count: () => Promise.reject(new Error('no database')) } })
  await expect(check('wrong')).rejects.toThrow('no database')
  expect(await check('right')).toBe('right')
})

test('a clock that is set back locks nobody out', async () => {
  const { check, guess } = await aUser()
  await guess(10)
  expect(await check('right')).toHaveProperty('retryAfterSeconds')
  expect(await check('right', { now: secondsAfter(now, -3600) })).toBe('right')
})

test('failures are reported by account and network, also beyond the limit, without names and passwords', async () => {
  const reports: FailedLogins[] = []
  const { check, guess } = await aUser({ reportFailures: (failed) => reports.push(failed) })
  await guess(10)
  await guess(5)
  await guess(3, { login: 'Sesame-42', stored: undefined, network: '10.0.0.0/24' })
  await guess(3, { login: 'other', stored: undefined, network: '10.0.0.0/24' })
  expect(await check('right', { network: '10.0.1.0/24' })).toBe('right')
  expect(reports).toEqual([
    { account: 7, network: '192.0.2.0/24', failures: 1 },
    { account: null, network: '10.0.0.0/24', failures: 1 },
  ])
})

test('if hashes are slow fewer attempts may wait, and the last one of a network is not refused because of its others', async () => {
  const { check, strangers, secrets } = await aUser({ ...dear, waitSecondsMax: 0.01 })
  const flood = strangers(40, 1)
  const mine = check('right', { network: '10.0.0.0/24' })
  await new Promise(setImmediate)
  expect(secrets.waiting()).toBe(20)
  expect(await mine).toBe('right')
  expect((await Promise.all(flood)).filter((answer) => answer === 'overloaded')).toHaveLength(19)
})

test('an unreadable stored hash is an error, and not a failure of the user', async () => {
  const { check, stored } = await aUser()
  const broken = stored.slice(0, 20) as PasswordHash
  for (let i = 0; i < 11; i++) await expect(check('right', { stored: broken })).rejects.toThrow('cannot be read')
  expect(await check('right')).toBe('right')
})

test('the system clock returns the present time in whole milliseconds', () => {
  const before = Date.now()
  const readTime = systemClock().now()
  expect(readTime).toBeGreaterThanOrEqual(before)
  expect(readTime).toBeLessThanOrEqual(Date.now())
})
