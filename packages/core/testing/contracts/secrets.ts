import { strict as assert } from 'node:assert'
import type { Account, AccountId } from '@gateway/core/accounts'
import type { Login, PasswordAttempt, PasswordHash, Secrets, TooManyFailures } from '@gateway/core/people'
import { instant, secondsAfter } from '@gateway/core/time'
import { aNewAccount, withoutSettings } from '../builders.ts'
import { concurrentCallers, type Contract } from './shared.ts'

const now = instant(Date.UTC(2026, 9, 18, 8))
const failuresMax = 10
const unreserved = /^[A-Za-z0-9._~-]+$/

interface Attempted extends Partial<Pick<PasswordAttempt, 'login' | 'network' | 'address' | 'now' | 'use'>> {
  readonly stored?: PasswordHash | undefined
  /** True if the login may be used from the origin of the attempt. Default true. */
  readonly mayUse?: boolean
  /** Runs each time the secrets look up the login by its name, before the look-up returns. */
  readonly lookUp?: () => Promise<void>
}

const account: Account = { ...aNewAccount(), ...withoutSettings, id: 7 as AccountId, locked: false, shortCodes: [] }

async function aUser(secrets: Secrets) {
  const password = secrets.newPassword()
  const stored = await secrets.hashPassword(password)
  const attempt = async (typed: string, more: Attempted = {}) => {
    const { lookUp = () => Promise.resolve(), mayUse = true, ...rest } = more
    const known = 'stored' in more ? more.stored : stored
    const found: Login | undefined = known && { account, password: known }
    const look = () => lookUp().then(() => found)
    const fixed = { login: 'thandi', network: '192.0.2.0/24', address: '192.0.2.1', now, ...rest }
    const result = await secrets.checkPassword({
      ...fixed,
      password: typed,
      remembered: look,
      stored: look,
      mayUse: () => mayUse,
    })
    if (typeof result === 'string' || 'retryAfterSeconds' in result) return result
    assert.deepEqual(result, found, 'who logged in')
    return 'right'
  }
  const fail = async (count: number, more: Attempted = {}) => {
    for (let i = 0; i < count; i++) assert.equal(await attempt(`wrong ${i}`, more), 'wrong')
  }
  return { password, stored, attempt, fail }
}

const assertTooMany = (result: string | TooManyFailures): number => {
  if (typeof result === 'string') assert.fail(`too many failures were answered as ${result}`)
  const { retryAfterSeconds } = result
  assert.ok(Number.isInteger(retryAfterSeconds) && retryAfterSeconds >= 1 && retryAfterSeconds <= 60)
  return retryAfterSeconds
}

/** Contract of the port `Secrets` at default settings: ten failures of one user from one network in a minute. */
export const secretsContract: Contract<Secrets> = {
  'keys and passwords are long, random, and need no encoding in URLs, headers or XML': (secrets) => {
    const keys = Array.from({ length: 1000 }, () => secrets.newApiKey())
    const passwords = Array.from({ length: 1000 }, () => secrets.newPassword())
    assert.equal(new Set([...keys, ...passwords]).size, 2000)
    for (const key of keys) assert.ok(unreserved.test(key) && key.length * Math.log2(66) >= 256, key)
    for (const password of passwords) assert.ok(unreserved.test(password) && password.length * Math.log2(66) >= 96)
    return Promise.resolve()
  },

  'a key has one hash, different keys have different ones, and a hash does not reveal its key': (secrets) => {
    const [key, other] = [secrets.newApiKey(), secrets.newApiKey()]
    assert.equal(secrets.hashKey(key), secrets.hashKey(key))
    assert.notEqual(secrets.hashKey(key), secrets.hashKey(other))
    assert.notEqual(secrets.hashKey(key), secrets.hashKey(key.toLowerCase()))
    assert.ok(!secrets.hashKey(key).includes(key))
    return Promise.resolve()
  },

  'each hash of a password is different, and none reveals it': async (secrets) => {
    const hashes = await Promise.all([secrets.hashPassword('sesame-42'), secrets.hashPassword('sesame-42')])
    assert.notEqual(hashes[0], hashes[1])
    for (const hash of hashes) assert.ok(!hash.includes('sesame'))
  },

  'a hash for signing in can be checked in either use, and only a hash for requests is weak for signing in': async (
    secrets,
  ) => {
    const { attempt } = await aUser(secrets)
    for (const use of ['requests', 'sign-in'] as const) {
      const stored = await secrets.hashPassword('sesame-42', use)
      assert.equal(secrets.isWeakForSignIn(stored), use === 'requests')
      for (const checkedFor of ['requests', 'sign-in'] as const) {
        const more = { stored, use: checkedFor, login: `${use} ${checkedFor}` }
        assert.equal(await attempt('sesame-43', more), 'wrong')
        assert.equal(await attempt('sesame-42', more), 'right')
      }
    }
  },

  'a code of an authenticator is valid in its time step and the adjacent ones (RFC 6238, appendix B)': (secrets) => {
    const secret = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'
    for (const [seconds, code] of [
      [59, '287082'],
      [1111111109, '081804'],
      [1234567890, '005924'],
      [20000000000, '353130'],
    ] as const) {
      const step = Math.floor(seconds / 30)
      for (const beside of [-1, 0, 1])
        assert.equal(secrets.totpStep(secret, code, instant((seconds + 30 * beside) * 1000)), step)
      for (const away of [-2, 2])
        assert.equal(secrets.totpStep(secret, code, instant((seconds + 30 * away) * 1000)), undefined)
    }
    for (const wrong of ['', '28708', '2870820', 'abcdef', '287083'])
      assert.equal(secrets.totpStep(secret, wrong, instant(59_000)), undefined)
    const made = Array.from({ length: 100 }, () => secrets.newTotpSecret())
    assert.ok(new Set(made).size === 100 && made.every((one) => /^[A-Z2-7]{32}$/.test(one)))
    return Promise.resolve()
  },

  'frequent passwords are recognized in any letter case, and generated ones are not frequent': async (secrets) => {
    for (const common of ['password123', '1234567890', 'QwertyUiop', 'Christopher'])
      assert.equal(await secrets.isCommonPassword(common), true, common)
    for (const other of ['correct horse', 'password1234 of mine', '', secrets.newPassword()])
      assert.equal(await secrets.isCommonPassword(other), false, other)
  },

  'only the right password is right; another letter case, a longer, a blank one and its own hash are wrong': async (
    secrets,
  ) => {
    const { password, stored, attempt } = await aUser(secrets)
    const wrong = [password.toUpperCase() + password, ` ${password}`, `${password} `, `${password}\0`, '', stored]
    for (const text of wrong) assert.equal(await attempt(text), 'wrong')
    assert.equal(await attempt(password), 'right')
    const odd = 'pässwörd 😀 "&;='
    assert.equal(await attempt(odd, { stored: await secrets.hashPassword(odd) }), 'right')
  },

  'from a forbidden origin the right password is wrong and counts as a failure, also while it is in use elsewhere':
    async (secrets) => {
      const { password, attempt } = await aUser(secrets)
      assert.equal(await attempt(password), 'right')
      const elsewhere = { mayUse: false, address: '192.0.2.2' }
      const both = await Promise.all([attempt(password), attempt(password, elsewhere)])
      assert.deepEqual(both, ['right', 'wrong'])
      for (let i = 1; i < failuresMax; i++) assert.equal(await attempt(password, elsewhere), 'wrong')
      assertTooMany(await attempt(password, elsewhere))
      assert.equal(await attempt(password), 'right')
    },

  'of two equal concurrent attempts from one network only the one from an allowed origin is right': async (secrets) => {
    const { password, attempt } = await aUser(secrets)
    const elsewhere = { mayUse: false, address: '192.0.2.2' }
    assert.deepEqual(await Promise.all([attempt(password, elsewhere), attempt(password)]), ['wrong', 'right'])
  },

  'every password of an unknown user is wrong and counts as a failure': async (secrets) => {
    const { attempt, fail } = await aUser(secrets)
    await fail(failuresMax, { login: 'nobody', stored: undefined })
    assertTooMany(await attempt('', { login: 'nobody', stored: undefined }))
  },

  'with an invalid stored hash every password is wrong or an error, never right': async (secrets) => {
    const { attempt } = await aUser(secrets)
    for (const text of ['', 'x', '$', 'sesame', '$scrypt$']) {
      const result = await attempt(text, { stored: text as PasswordHash, login: `user of ${text}` }).catch(
        () => 'wrong',
      )
      assert.equal(result, 'wrong')
    }
  },

  'after ten failures even the right password is refused, with a waiting time; then it is checked again': async (
    secrets,
  ) => {
    const { password, attempt, fail } = await aUser(secrets)
    await fail(failuresMax)
    const wait = assertTooMany(await attempt(password))
    assertTooMany(await attempt('wrong'))
    assert.equal(await attempt(password, { now: secondsAfter(now, wait) }), 'right')
  },

  'refused attempts do not extend the waiting time': async (secrets) => {
    const { password, attempt, fail } = await aUser(secrets)
    await fail(failuresMax)
    const wait = assertTooMany(await attempt(password))
    for (let second = 0; second < wait; second++) {
      assertTooMany(await attempt(`more ${second}`, { now: secondsAfter(now, second) }))
    }
    assert.equal(await attempt(password, { now: secondsAfter(now, wait) }), 'right')
  },

  'failures are counted by user, in any letter case, and network, without effect on other users and networks': async (
    secrets,
  ) => {
    const { password, attempt, fail } = await aUser(secrets)
    await fail(failuresMax / 2, { login: 'Thandi' })
    await fail(failuresMax / 2, { login: 'tHANDI' })
    assertTooMany(await attempt('wrong', { login: 'THANDI' }))
    assert.equal(await attempt('wrong', { login: 'sipho' }), 'wrong')
    assert.equal(await attempt('wrong', { network: '2001:db8::/64' }), 'wrong')
    assert.equal(await attempt(password, { network: '198.51.100.0/24' }), 'right')
  },

  'a recently verified pair is accepted at once, also from a network with too many failures': async (secrets) => {
    const { password, attempt, fail } = await aUser(secrets)
    assert.equal(await attempt(password), 'right')
    await fail(failuresMax)
    assertTooMany(await attempt('wrong'))
    assert.equal(await attempt(password), 'right')
    assert.equal(await attempt(password, { now: secondsAfter(now, 5) }), 'right')
  },

  'guesses from the same network never lock out a pair in use': async (secrets) => {
    const { password, attempt } = await aUser(secrets)
    for (let second = 0; second <= 1000; second += 5) {
      assert.equal(await attempt(password, { now: secondsAfter(now, second) }), 'right', `after ${second} s`)
      for (let n = 0; n < 2; n++) await attempt(`guess ${second} ${n}`, { now: secondsAfter(now, second + n) })
    }
    assertTooMany(await attempt('guess', { now: secondsAfter(now, 1001) }))
  },

  'a new password invalidates a pair in use, also from a network with too many failures': async (secrets) => {
    const { password, attempt, fail } = await aUser(secrets)
    const replaced = await secrets.hashPassword('another')
    for (let second = 0; second < 20; second++) await attempt(password, { now: secondsAfter(now, second) })
    assert.equal(await attempt(password, { now: secondsAfter(now, 20), stored: replaced }), 'wrong')
    await fail(failuresMax - 1, { now: secondsAfter(now, 20) })
    assertTooMany(await attempt(password, { now: secondsAfter(now, 21), stored: replaced }))
  },

  'every attempt looks its name up once, known or not, and after ten failures no name is looked up': async (
    secrets,
  ) => {
    const { attempt, stored } = await aUser(secrets)
    for (const [login, known] of [
      ['thandi', stored],
      ['nobody', undefined],
    ] as const) {
      let lookUps = 0
      const lookUp = () => {
        lookUps++
        return Promise.resolve()
      }
      for (let n = 1; n <= failuresMax; n++) {
        assert.equal(await attempt(`guess ${n}`, { login, stored: known, lookUp }), 'wrong')
        assert.equal(lookUps, n)
      }
      for (let n = 0; n < 3; n++) assertTooMany(await attempt(`more ${n}`, { login, stored: known, lookUp }))
      assert.equal(lookUps, failuresMax)
    }
  },

  'if a look-up fails, the check rejects without counting a failure': async (secrets) => {
    const { attempt, fail } = await aUser(secrets)
    const lookUp = () => Promise.reject(new Error('no database'))
    for (let n = 0; n <= failuresMax; n++) await assert.rejects(attempt(`guess ${n}`, { lookUp }), /no database/)
    await fail(failuresMax)
    assertTooMany(await attempt('one more'))
  },

  'a recently verified password that has been replaced is wrong': async (secrets) => {
    const { password, attempt } = await aUser(secrets)
    assert.equal(await attempt(password), 'right')
    assert.equal(await attempt(password, { stored: await secrets.hashPassword('another') }), 'wrong')
    assert.equal(await attempt(password, { stored: undefined }), 'wrong')
    assert.equal(await attempt(password, { login: 'sipho', stored: await secrets.hashPassword('his') }), 'wrong')
  },

  'right passwords are not failures, however many there are': async (secrets) => {
    const { password, attempt } = await aUser(secrets)
    for (let i = 0; i < 3 * failuresMax; i++) assert.equal(await attempt(password), 'right')
    assert.equal(await attempt('wrong'), 'wrong')
  },

  'equal concurrent attempts count as one failure': async (secrets) => {
    const { attempt, fail } = await aUser(secrets)
    const results = await Promise.all(Array.from({ length: concurrentCallers }, () => attempt('old password')))
    assert.deepEqual(new Set(results), new Set(['wrong']))
    await fail(failuresMax - 1)
    assertTooMany(await attempt('one more'))
  },

  'concurrent right log-ins all succeed': async (secrets) => {
    const { password, attempt } = await aUser(secrets)
    const results = await Promise.all(Array.from({ length: concurrentCallers }, () => attempt(password)))
    assert.deepEqual(new Set(results), new Set(['right']))
  },

  'of 64 different concurrent guesses at most ten are checked': async (secrets) => {
    const { attempt } = await aUser(secrets)
    const results = await Promise.all(Array.from({ length: concurrentCallers }, (_, i) => attempt(`guess ${i}`)))
    assert.ok(!results.includes('right'))
    assert.ok(results.filter((result) => result === 'wrong').length <= failuresMax)
    assertTooMany(await attempt('one more'))
  },
}
