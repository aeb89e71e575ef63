import { strict as assert } from 'node:assert'
import { instant, secondsAfter, type PasswordAttempt, type PasswordHash, type Secrets } from '@gateway/core'
import type { Contract } from './contract.ts'
import { callersMany } from './shared.ts'

const now = instant(Date.UTC(2026, 9, 18, 8))
const failuresMax = 10
const unreserved = /^[A-Za-z0-9._~-]+$/

async function aUser(secrets: Secrets) {
  const password = secrets.newPassword()
  const stored = await secrets.hashPassword(password)
  const attempt = (given: string, more: Partial<PasswordAttempt> = {}) =>
    secrets.checkPassword({ login: 'thandi', password: given, stored, network: '192.0.2.0/24', now, ...more })
  const fail = async (count: number, more: Partial<PasswordAttempt> = {}) => {
    for (let i = 0; i < count; i++) assert.equal(await attempt(`wrong ${i}`, more), 'wrong')
  }
  return { password, stored, attempt, fail }
}

const assertTooMany = (result: Awaited<ReturnType<Secrets['checkPassword']>>): number => {
  if (typeof result === 'string') assert.fail(`too many failures were answered as ${result}`)
  const { retryAfterSeconds } = result
  assert.ok(Number.isInteger(retryAfterSeconds) && retryAfterSeconds >= 1 && retryAfterSeconds <= 60)
  return retryAfterSeconds
}

/** What the port `Secrets` promises at default settings: ten failures of one user from one network in a minute. */
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
