import { strict as assert } from 'node:assert'
import type { StoredPorts } from '@gateway/core'
import type { KeyHash } from '@gateway/core/accounts'
import {
  factorOwner,
  type NewSession,
  type PasswordHash,
  type SessionBounds,
  type SessionId,
} from '@gateway/core/people'
import type { SealedSecret } from '@gateway/core/webhooks'
import { anAccount, anAccountId } from '../builders.ts'
import { concurrentCallers, type Contract } from './shared.ts'

const bounds: SessionBounds = { idleSeconds: 3600, secondsMax: 7200 }
/** Session bounds by which every session has ended, even if clocks differ. */
const over = [
  { idleSeconds: -60, secondsMax: 7200 },
  { idleSeconds: 3600, secondsMax: -60 },
]
const first = 'first-password' as PasswordHash
const second = 'second-password' as PasswordHash
const hash = (name: string) => `hash-of-${name}` as KeyHash
const aSession = (name: string): NewSession => ({
  hash: hash(name),
  agent: 'Firefox',
  address: '192.0.2.7',
  secondFactor: false,
})
const nobody = anAccountId(2 ** 31 - 1)

async function opened({ people: { sessions } }: StoredPorts, by: Awaited<ReturnType<typeof anAccount>>, name: string) {
  const id = await sessions.open({ account: by.id }, first, aSession(name), bounds)
  return id ?? assert.fail('the session was not opened')
}

export const sessionsContract: Contract<StoredPorts> = {
  'a session is found only by its hash, with its data': async (ports) => {
    const account = await anAccount(ports, { password: first })
    const id = await opened(ports, account, 'a')
    const found = await ports.people.sessions.find(hash('a'), bounds, true)
    assert.deepEqual(
      { ...found, opened: 0, used: 0 },
      { id, account: account.id, user: undefined, agent: 'Firefox', address: '192.0.2.7', opened: 0, used: 0 },
    )
    assert.ok(Math.abs((found?.opened ?? 0) - Date.now()) < 3_600_000)
    assert.equal(await ports.people.sessions.find(hash('b'), bounds, true), undefined)
    assert.equal(await ports.people.sessions.find('' as KeyHash, bounds, true), undefined)
  },

  'no session is opened with another password, for a locked account, or for an unknown one': async (ports) => {
    const account = await anAccount(ports, { password: first })
    const locked = await anAccount(ports, { password: first, locked: true })
    const { sessions } = ports.people
    assert.equal(await sessions.open({ account: account.id }, second, aSession('a'), bounds), undefined)
    assert.equal(await sessions.open({ account: locked.id }, first, aSession('a'), bounds), undefined)
    assert.equal(await sessions.open({ account: nobody }, first, aSession('a'), bounds), undefined)
    assert.equal(await sessions.find(hash('a'), bounds, true), undefined)
  },

  'a session ends after its idle time or its maximum time, and opening another one deletes it': async (ports) => {
    const account = await anAccount(ports, { password: first })
    await opened(ports, account, 'a')
    for (const end of over) {
      assert.equal(await ports.people.sessions.find(hash('a'), end, true), undefined)
      assert.deepEqual(await ports.people.sessions.list({ account: account.id }, end), [])
    }
    assert.ok(await ports.people.sessions.find(hash('a'), bounds, false), 'asking ended it')
    await ports.people.sessions.open({ account: account.id }, first, aSession('b'), {
      idleSeconds: -60,
      secondsMax: 7200,
    })
    assert.equal(await ports.people.sessions.find(hash('a'), bounds, true), undefined)
    assert.ok(await ports.people.sessions.find(hash('b'), bounds, true))
  },

  'a new password ends all sessions of the account, and none of another account': async (ports) => {
    const [account, other] = [await anAccount(ports, { password: first }), await anAccount(ports, { password: first })]
    await opened(ports, account, 'a')
    await opened(ports, other, 'b')
    for (const password of [second, undefined]) {
      await ports.accounts.setPassword(account.id, password)
      assert.equal(await ports.people.sessions.find(hash('a'), bounds, true), undefined)
      assert.deepEqual(await ports.people.sessions.list({ account: account.id }, bounds), [])
    }
    assert.ok(await ports.people.sessions.find(hash('b'), bounds, true))
  },

  'a lock ends the sessions of the account for good, also after it is unlocked': async (ports) => {
    const [account, other] = [await anAccount(ports, { password: first }), await anAccount(ports, { password: first })]
    await opened(ports, account, 'a')
    await opened(ports, other, 'b')
    await ports.accounts.setLocked(account.id, true)
    assert.equal(await ports.people.sessions.find(hash('a'), bounds, true), undefined)
    await ports.accounts.setLocked(account.id, false)
    assert.equal(await ports.people.sessions.find(hash('a'), bounds, true), undefined)
    await ports.accounts.setLocked(other.id, false)
    assert.ok(await ports.people.sessions.find(hash('b'), bounds, true), 'unlocking ends nothing')
  },

  'an account ends only its own sessions, one or all except one': async (ports) => {
    const [account, other] = [await anAccount(ports, { password: first }), await anAccount(ports, { password: first })]
    const { sessions } = ports.people
    const ids: SessionId[] = []
    for (const name of ['a', 'b', 'c']) ids.push(await opened(ports, account, name))
    const [a, b, c] = ids as [SessionId, SessionId, SessionId]
    const foreign = await opened(ports, other, 'foreign')
    assert.deepEqual(
      (await sessions.list({ account: account.id }, bounds)).map(({ id }) => id),
      [c, b, a],
    )
    assert.equal(await sessions.end({ account: account.id }, foreign), false)
    assert.equal(await sessions.end({ account: account.id }, a), true)
    assert.equal(await sessions.end({ account: account.id }, a), false)
    assert.equal(await sessions.find(hash('a'), bounds, true), undefined)
    assert.equal(await sessions.endAll({ account: account.id }, c), 1)
    assert.deepEqual(
      (await sessions.list({ account: account.id }, bounds)).map(({ id }) => id),
      [c],
    )
    assert.equal(await sessions.endAll({ account: account.id }), 1)
    assert.ok(await sessions.find(hash('foreign'), bounds, true))
  },

  'of concurrent uses of a link one gets a session, and later uses get none': async (ports) => {
    const account = await anAccount(ports, { password: first })
    const { sessions } = ports.people
    const link = hash('link')
    assert.equal(await sessions.offerLink(account.id, link, 600), true)
    assert.equal(await sessions.offerLink(nobody, hash('x'), 600), false)
    const tries = Array.from({ length: concurrentCallers }, (_, i) => sessions.openByLink(link, aSession(`${i}`)))
    const got = (await Promise.all(tries)).filter((id) => id !== undefined)
    assert.equal(got.length, 1)
    assert.equal((await sessions.list({ account: account.id }, bounds)).length, 1)
    assert.equal(await sessions.openByLink(link, aSession('later')), undefined)
    await ports.accounts.setPassword(account.id, second)
    assert.deepEqual(
      await sessions.list({ account: account.id }, bounds),
      [],
      'another password ends a session of a link',
    )
  },

  'a session without a second factor ends while its account requires one': async (ports) => {
    const { sessions, secondFactors } = ports.people
    const account = await anAccount(ports, { password: first })
    await opened(ports, account, 'a')
    await sessions.open({ account: account.id }, first, { ...aSession('b'), secondFactor: true }, bounds)
    await secondFactors.setRequired(account.id, true)
    assert.equal(await sessions.find(hash('a'), bounds, true), undefined)
    assert.ok(await sessions.find(hash('b'), bounds, true))
    assert.equal((await sessions.list({ account: account.id }, bounds)).length, 1)
  },

  'a link does not open an account that has a second factor': async (ports) => {
    const { sessions, secondFactors } = ports.people
    const account = await anAccount(ports, { password: first })
    await sessions.offerLink(account.id, hash('link'), 600)
    await secondFactors.set(factorOwner('account', account.id), 'sealed' as SealedSecret, 1, [])
    assert.equal(await sessions.openByLink(hash('link'), aSession('a')), undefined)
    assert.deepEqual(await sessions.list({ account: account.id }, bounds), [])
  },

  'a link is invalid after its time and while its account is locked': async (ports) => {
    const account = await anAccount(ports)
    const { sessions } = ports.people
    await sessions.offerLink(account.id, hash('old'), -60)
    assert.equal(await sessions.openByLink(hash('old'), aSession('a')), undefined)
    await sessions.offerLink(account.id, hash('locked'), 600)
    await ports.accounts.setLocked(account.id, true)
    assert.equal(await sessions.openByLink(hash('locked'), aSession('a')), undefined)
    await ports.accounts.setLocked(account.id, false)
    assert.equal(await sessions.openByLink(hash('never'), aSession('a')), undefined)
    await sessions.offerLink(account.id, hash('good'), 600)
    assert.ok(await sessions.openByLink(hash('good'), aSession('a')), 'an account without a password')
  },
}
