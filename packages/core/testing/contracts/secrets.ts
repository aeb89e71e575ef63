import { strict as assert } from 'node:assert'
import type { Account, AccountId } from '@gateway/core/accounts'
import type { Login, PasswordAttempt, PasswordHash, Secrets, TooManyFailures } from '@gateway/core/people'
import { instant, secondsAfter } from '@gateway/core/time'
import { aNewAccount, unrestricted } from '../builders.ts'
import { callersMany, type Contract } from './shared.ts'

const now = instant(Date.UTC(2026, 9, 18, 8))
const failuresMax = 10
const unreserved = /^[A-Za-z0-9._~-]+$/

interface Attempted extends Partial<Pick<PasswordAttempt, 'login' | 'network' | 'address' | 'now' | 'use'>> {
  readonly stored?: PasswordHash | undefined
  /** Whether the login may be used from there; default: it may. */
  readonly mayUse?: boolean
  /** Is told of each look-up of the name. */
  readonly lookUp?: () => Promise<void>
}

const account: Account = { ...aNewAccount(), ...unrestricted, id: 7 as AccountId, locked: false, shortCodes: [] }

async function aUser(secrets: Secrets) {
  const password = secrets.newPassword()
  const stored = await secrets.hashPassword(password)
  const attempt = async (given: string, more: Attempted = {}) => {
    const { lookUp = () => Promise.resolve(), mayUse = true, ...rest } = more
    const known = 'stored' in more ? more.stored : stored
    const found: Login | undefined = known && { account, password: known }
    const look = () => lookUp().then(() => found)
    const fixed = { login: 'thandi', network: '192.0.2.0/24', address: '192.0.2.1', now, ...rest }
    const result = await secrets.checkPassword({
      ...fixed,
      password: given,
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
  'keys and passwords are long, new each time, and need no encoding anywhere': (secrets) => {
    const keys = Array.from({ length: 1000 }, () => secrets.newApiKey())
    const passwords = Array.from({ length: 1000 }, () => secrets.newPassword())
    assert.equal(new Set([...keys, ...passwords]).size, 2000)
    for (const key of keys) assert.ok(unreserved.test(key) && key.length * Math.log2(66) >= 256, key)
    for (const password of passwords) assert.ok(unreserved.test(password) && password.length * Math.log2(66) >= 96)
    return Promise.resolve()
  },

  'a key has always the same hash, another key another, and the hash does not show the key': (secrets) => {
    const [key, other] = [secrets.newApiKey(), secrets.newApiKey()]
    assert.equal(secrets.hashKey(key), secrets.hashKey(key))
    assert.notEqual(secrets.hashKey(key), secrets.hashKey(other))
    assert.notEqual(secrets.hashKey(key), secrets.hashKey(key.toLowerCase()))
    assert.ok(!secrets.hashKey(key).includes(key))
    return Promise.resolve()
  },

  'a password has another hash each time, and none shows it': async (secrets) => {
    const hashes = await Promise.all([secrets.hashPassword('sesame-42'), secrets.hashPassword('sesame-42')])
    assert.notEqual(hashes[0], hashes[1])
    for (const hash of hashes) assert.ok(!hash.includes('sesame'))
  },

  'a hash for signing in opens to its password in either use, and only a hash for requests is weak for it': async (
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

  'a code of an authenticator is of its time step, and good in the steps beside it (RFC 6238, appendix B)': (
    secrets,
  ) => {
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

  'passwords that many people use are common, in any letter case, and what the gateway makes is not': async (
    secrets,
  ) => {
    for (const common of ['password123', '1234567890', 'QwertyUiop', 'Christopher'])
      assert.equal(await secrets.isCommonPassword(common), true, common)
    for (const other of ['correct horse', 'password1234 of mine', '', secrets.newPassword()])
      assert.equal(await secrets.isCommonPassword(other), false, other)
  },

  'the right password is right; another letter case, a longer one, a blank one and its own hash are wrong': async (
    secrets,
  ) => {
    const { password, stored, attempt } = await aUser(secrets)
    const wrong = [password.toUpperCase() + password, ` ${password}`, `${password} `, `${password}\0`, '', stored]
    for (const text of wrong) assert.equal(await attempt(text), 'wrong')
    assert.equal(await attempt(password), 'right')
    const odd = 'pässwörd 😀 "&;='
    assert.equal(await attempt(odd, { stored: await secrets.hashPassword(odd) }), 'right')
  },

  'from where the login may not be used its right password is wrong and counts, also while it is in use elsewhere':
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

  'of two equal attempts at the same time from one network only that from where the login may be used is right': async (
    secrets,
  ) => {
    const { password, attempt } = await aUser(secrets)
    const elsewhere = { mayUse: false, address: '192.0.2.2' }
    assert.deepEqual(await Promise.all([attempt(password, elsewhere), attempt(password)]), ['wrong', 'right'])
  },

  'a user that is not there is wrong whatever the password, and counts': async (secrets) => {
    const { attempt, fail } = await aUser(secrets)
    await fail(failuresMax, { login: 'nobody', stored: undefined })
    assertTooMany(await attempt('', { login: 'nobody', stored: undefined }))
  },

  'a stored text that is no hash is a wrong password or an error, never a right one': async (secrets) => {
    const { attempt } = await aUser(secrets)
    for (const text of ['', 'x', '$', 'sesame', '$scrypt$']) {
      const result = await attempt(text, { stored: text as PasswordHash, login: `user of ${text}` }).catch(
        () => 'wrong',
      )
      assert.equal(result, 'wrong')
    }
  },

  'beyond ten failures even the right password is refused, with the time to wait; then it is checked again': async (
    secrets,
  ) => {
    const { password, attempt, fail } = await aUser(secrets)
    await fail(failuresMax)
    const wait = assertTooMany(await attempt(password))
    assertTooMany(await attempt('wrong'))
    assert.equal(await attempt(password, { now: secondsAfter(now, wait) }), 'right')
  },

  'attempts that were refused do not make the wait longer': async (secrets) => {
    const { password, attempt, fail } = await aUser(secrets)
    await fail(failuresMax)
    const wait = assertTooMany(await attempt(password))
    for (let second = 0; second < wait; second++) {
      assertTooMany(await attempt(`more ${second}`, { now: secondsAfter(now, second) }))
    }
    assert.equal(await attempt(password, { now: secondsAfter(now, wait) }), 'right')
  },

  'failures are counted by user, in any letter case, and network: other users and networks do not notice': async (
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

  'a pair that was right lately stays right at once, also from a network with too many failures': async (secrets) => {
    const { password, attempt, fail } = await aUser(secrets)
    assert.equal(await attempt(password), 'right')
    await fail(failuresMax)
    assertTooMany(await attempt('wrong'))
    assert.equal(await attempt(password), 'right')
    assert.equal(await attempt(password, { now: secondsAfter(now, 5) }), 'right')
  },

  'a pair in use is never locked out by who guesses in its network, however long that goes on': async (secrets) => {
    const { password, attempt } = await aUser(secrets)
    for (let second = 0; second <= 1000; second += 5) {
      assert.equal(await attempt(password, { now: secondsAfter(now, second) }), 'right', `after ${second} s`)
      for (let n = 0; n < 2; n++) await attempt(`guess ${second} ${n}`, { now: secondsAfter(now, second + n) })
    }
    assertTooMany(await attempt('guess', { now: secondsAfter(now, 1001) }))
  },

  'a pair in use is dropped when the password is replaced, also where guesses were too many': async (secrets) => {
    const { password, attempt, fail } = await aUser(secrets)
    const replaced = await secrets.hashPassword('another')
    for (let second = 0; second < 20; second++) await attempt(password, { now: secondsAfter(now, second) })
    assert.equal(await attempt(password, { now: secondsAfter(now, 20), stored: replaced }), 'wrong')
    await fail(failuresMax - 1, { now: secondsAfter(now, 20) })
    assertTooMany(await attempt(password, { now: secondsAfter(now, 21), stored: replaced }))
  },

  'beyond ten failures no name is looked up, and before that each is once, whether somebody has it or not': async (
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

  'a look-up that fails rejects, and is no failure of the user': async (secrets) => {
    const { attempt, fail } = await aUser(secrets)
    const lookUp = () => Promise.reject(new Error('no database'))
    for (let n = 0; n <= failuresMax; n++) await assert.rejects(attempt(`guess ${n}`, { lookUp }), /no database/)
    await fail(failuresMax)
    assertTooMany(await attempt('one more'))
  },

  'a password that was right lately and has been replaced since is wrong': async (secrets) => {
    const { password, attempt } = await aUser(secrets)
    assert.equal(await attempt(password), 'right')
    assert.equal(await attempt(password, { stored: await secrets.hashPassword('another') }), 'wrong')
    assert.equal(await attempt(password, { stored: undefined }), 'wrong')
    assert.equal(await attempt(password, { login: 'sipho', stored: await secrets.hashPassword('his') }), 'wrong')
  },

  'right passwords are no failures: any number of them may come': async (secrets) => {
    const { password, attempt } = await aUser(secrets)
    for (let i = 0; i < 3 * failuresMax; i++) assert.equal(await attempt(password), 'right')
    assert.equal(await attempt('wrong'), 'wrong')
  },

  'equal attempts at the same time count as one failure': async (secrets) => {
    const { attempt, fail } = await aUser(secrets)
    const results = await Promise.all(Array.from({ length: callersMany }, () => attempt('old password')))
    assert.deepEqual(new Set(results), new Set(['wrong']))
    await fail(failuresMax - 1)
    assertTooMany(await attempt('one more'))
  },

  'many who log in rightly at the same time are all let in': async (secrets) => {
    const { password, attempt } = await aUser(secrets)
    const results = await Promise.all(Array.from({ length: callersMany }, () => attempt(password)))
    assert.deepEqual(new Set(results), new Set(['right']))
  },

  'of 64 different guesses at the same time no more than ten are looked at': async (secrets) => {
    const { attempt } = await aUser(secrets)
    const results = await Promise.all(Array.from({ length: callersMany }, (_, i) => attempt(`guess ${i}`)))
    assert.ok(!results.includes('right'))
    assert.ok(results.filter((result) => result === 'wrong').length <= failuresMax)
    assertTooMany(await attempt('one more'))
  },
}
