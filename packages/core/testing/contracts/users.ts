import { strict as assert } from 'node:assert'
import type { StoredPorts } from '@gateway/core'
import type { KeyHash } from '@gateway/core/accounts'
import {
  factorOwner,
  type NewSession,
  type PasswordHash,
  type PasswordLink,
  type SessionBounds,
  type UserId,
} from '@gateway/core/people'
import type { SealedSecret } from '@gateway/core/webhooks'
import { anAccount, anAccountId } from '../builders.ts'
import { concurrentCallers, type Contract } from './shared.ts'

const bounds: SessionBounds = { idleSeconds: 3600, secondsMax: 7200 }
const first = 'first-password' as PasswordHash
const second = 'second-password' as PasswordHash
const hash = (name: string) => `hash-of-${name}` as KeyHash
const link = (name: string, seconds = 600): PasswordLink => ({ hash: hash(name), seconds })
const aSession = (name: string): NewSession => ({
  hash: hash(name),
  agent: 'Firefox',
  address: '192.0.2.7',
  secondFactor: false,
})
const nobody = (2 ** 31 - 1) as UserId

type Owner = Awaited<ReturnType<typeof anAccount>>

async function added({ people: { users } }: StoredPorts, { id }: Pick<Owner, 'id'>, name: string): Promise<UserId> {
  const user = await users.add(id, { email: `${name}@acme.example`, role: 'sender' }, link(`link of ${name}`))
  return typeof user === 'string' ? assert.fail(user) : user
}

/** Adds a user with the first password and signs the user in. The session's hash is derived from the name. */
async function signedIn(ports: StoredPorts, account: Owner, name: string): Promise<UserId> {
  const user = await added(ports, account, name)
  assert.equal(await ports.people.users.setPassword(account.id, user, first), true)
  await enter(ports, account, user, name)
  return user
}

const enter = async (
  { people: { sessions } }: StoredPorts,
  { id }: Owner,
  user: UserId,
  name: string,
  password = first,
) => (await sessions.open({ account: id, user }, password, aSession(name), bounds)) ?? assert.fail('no session')

const isIn = async ({ people: { sessions } }: StoredPorts, name: string): Promise<boolean> =>
  (await sessions.find(hash(name), bounds, true)) !== undefined

const trueOf = (all: readonly boolean[]) => all.filter((one) => one).length

/** Contract of the port `Users`, and of `Sessions` for users. */
export const usersContract: Contract<StoredPorts> = {
  'a user is found by e-mail address in any letter case, and only by its own account': async (ports) => {
    const { users } = ports.people
    const [account, other] = [await anAccount(ports), await anAccount(ports)]
    const [zoe, ann] = [await added(ports, account, 'Zoe'), await added(ports, account, 'ann')]
    await added(ports, other, 'bob')
    const found = await users.byEmail('ZOE@acme.EXAMPLE')
    const user = { id: zoe, account: account.id, email: 'Zoe@acme.example', role: 'sender', locked: false }
    assert.deepEqual({ ...found?.user, added: 0 }, { ...user, hasPassword: false, added: 0 })
    assert.equal(found?.password, undefined)
    assert.equal(await users.byEmail('zoe'), undefined)
    assert.deepEqual(await users.find(account.id, zoe), found?.user)
    assert.equal(await users.find(other.id, zoe), undefined)
    const ids = (await users.list(account.id)).map(({ id }) => id)
    assert.deepEqual(ids, [ann, zoe])
  },

  'an e-mail address is unique over all accounts, also with concurrent additions': async (ports) => {
    const accounts = [await anAccount(ports), await anAccount(ports)] as const
    const add = (at: number) => {
      const email = at % 3 === 0 ? 'ann@acme.example' : 'ANN@acme.example'
      return ports.people.users.add(accounts[at % 2 === 0 ? 0 : 1].id, { email, role: 'reader' }, link(`${at}`))
    }
    const ids = await Promise.all(Array.from({ length: concurrentCallers }, (_, at) => add(at)))
    assert.equal(ids.filter((id) => id !== 'email-taken').length, 1)
    const nowhere = anAccountId(2 ** 31 - 1)
    assert.equal(
      await ports.people.users.add(nowhere, { email: 'b@c.de', role: 'reader' }, link('x')),
      'no-such-account',
    )
  },

  'a link sets a password once, also with concurrent uses': async (ports) => {
    const { users } = ports.people
    const ann = await added(ports, await anAccount(ports), 'ann')
    const linkOfAnn = hash('link of ann')
    assert.equal((await users.byLink(linkOfAnn))?.id, ann)
    const tries = Array.from({ length: concurrentCallers }, () => users.setPasswordByLink(linkOfAnn, first))
    assert.equal(trueOf(await Promise.all(tries)), 1)
    const { user, password } = (await users.byEmail('ann@acme.example')) ?? assert.fail('no user')
    assert.deepEqual([user.hasPassword, password], [true, first])
    assert.equal(await users.byLink(linkOfAnn), undefined)
  },

  'a link is invalid after its time, after a newer one, and while its user is locked': async (ports) => {
    const { users } = ports.people
    const { id: account } = await anAccount(ports)
    const ann = await added(ports, { id: account }, 'ann')
    const isGood = async (name: string) => (await users.byLink(hash(name))) !== undefined
    assert.equal(await users.offerLink(account, ann, link('old', -60)), true)
    assert.deepEqual([await isGood('link of ann'), await isGood('old')], [false, false])
    assert.equal(await users.setPasswordByLink(hash('old'), first), false)
    await users.offerLink(account, ann, link('good'))
    await users.setLocked(account, ann, true)
    assert.deepEqual([await isGood('good'), await users.setPasswordByLink(hash('good'), first)], [false, false])
    await users.setLocked(account, ann, false)
    assert.equal(await isGood('good'), true)
  },

  'a session of a user has the user and the account, and ends when the password changes': async (ports) => {
    const { sessions } = ports.people
    const account = await anAccount(ports, { password: second })
    const ann = await added(ports, account, 'ann')
    const open = (user: UserId, password: PasswordHash) =>
      sessions.open({ account: account.id, user }, password, aSession('x'), bounds)
    assert.equal(await open(ann, second), undefined, 'the password of the account')
    await ports.people.users.setPassword(account.id, ann, first)
    assert.deepEqual([await open(ann, second), await open(nobody, first)], [undefined, undefined])
    const other = await anAccount(ports)
    assert.equal(await sessions.open({ account: other.id, user: ann }, first, aSession('x'), bounds), undefined)
    const id = await enter(ports, account, ann, 'a')
    const found = (await sessions.find(hash('a'), bounds, true)) ?? assert.fail('not found')
    assert.deepEqual([found.id, found.account, found.user], [id, account.id, ann])
    await ports.accounts.setPassword(account.id, first)
    assert.equal(await isIn(ports, 'a'), true, 'the account has another password')
    await ports.people.users.setPassword(account.id, ann, first)
    assert.equal(await isIn(ports, 'a'), false, 'the same password is a new one')
  },

  'a new hash of the same password of a user replaces exactly the checked hash, and sessions stay': async (ports) => {
    const { users } = ports.people
    const [account, other] = [await anAccount(ports), await anAccount(ports)]
    const [ann] = [await signedIn(ports, account, 'ann'), await signedIn(ports, account, 'bob')]
    assert.equal(await users.replaceHash(other.id, ann, first, second), false)
    assert.equal(await users.replaceHash(account.id, nobody, first, second), false)
    const replacing = Array.from({ length: concurrentCallers }, () => users.replaceHash(account.id, ann, first, second))
    assert.equal(trueOf(await Promise.all(replacing)), 1)
    assert.equal((await users.byEmail('ann@acme.example'))?.password, second)
    assert.equal((await users.byEmail('bob@acme.example'))?.password, first)
    assert.deepEqual([await isIn(ports, 'ann'), await isIn(ports, 'bob')], [true, true])
    await enter(ports, account, ann, 'next', second)
    await users.setPassword(account.id, ann, first)
    assert.deepEqual([await isIn(ports, 'ann'), await isIn(ports, 'next')], [false, false])
  },

  'each user lists and ends only the own sessions': async (ports) => {
    const { sessions } = ports.people
    const account = await anAccount(ports, { password: first })
    const [ann] = [await signedIn(ports, account, 'ann'), await signedIn(ports, account, 'bob')]
    const own = await sessions.open({ account: account.id }, first, aSession('own'), bounds)
    assert.ok(own)
    const ofAnn = { account: account.id, user: ann }
    assert.equal((await sessions.list(ofAnn, bounds)).length, 1)
    assert.equal((await sessions.list({ account: account.id }, bounds)).length, 1)
    assert.equal(await sessions.end(ofAnn, own), false)
    assert.equal(await sessions.endAll(ofAnn), 1)
    assert.equal(await sessions.endAll({ account: account.id }), 1)
    assert.deepEqual(
      [await isIn(ports, 'ann'), await isIn(ports, 'bob'), await isIn(ports, 'own')],
      [false, true, false],
    )
  },

  'a lock, a used link and a removal end the sessions of the user, and of no other': async (ports) => {
    const { users } = ports.people
    const account = await anAccount(ports)
    const [ann] = [await signedIn(ports, account, 'ann'), await signedIn(ports, account, 'bob')]
    assert.equal(await users.setLocked(account.id, ann, true), true)
    assert.equal(
      await ports.people.sessions.open({ account: account.id, user: ann }, first, aSession('x'), bounds),
      undefined,
    )
    assert.equal(await users.setLocked(account.id, ann, false), true)
    assert.equal(await isIn(ports, 'ann'), false)
    await enter(ports, account, ann, 'b')
    await users.offerLink(account.id, ann, link('again'))
    assert.equal(await isIn(ports, 'b'), true)
    await users.setPasswordByLink(hash('again'), second)
    assert.equal(await isIn(ports, 'b'), false)
    await enter(ports, account, ann, 'c', second)
    const factor = factorOwner('user', ann)
    await ports.people.secondFactors.set(factor, 'sealed' as SealedSecret, 1, [])
    assert.equal(await users.remove(account.id, ann), true)
    assert.equal(await ports.people.secondFactors.find(factor), undefined)
    assert.deepEqual([await isIn(ports, 'c'), await isIn(ports, 'bob')], [false, true])
    assert.equal(await users.byEmail('ann@acme.example'), undefined)
    assert.equal(await users.remove(account.id, ann), false)
  },

  'a lock of the account ends the sessions of its users, and a required second factor applies to them': async (
    ports,
  ) => {
    const account = await anAccount(ports)
    const ann = await signedIn(ports, account, 'ann')
    await ports.people.secondFactors.setRequired(account.id, true)
    assert.equal(await isIn(ports, 'ann'), false)
    await ports.people.secondFactors.setRequired(account.id, false)
    assert.equal(await isIn(ports, 'ann'), true)
    await ports.accounts.setLocked(account.id, true)
    assert.equal(
      await ports.people.sessions.open({ account: account.id, user: ann }, first, aSession('x'), bounds),
      undefined,
    )
    await ports.accounts.setLocked(account.id, false)
    assert.equal(await isIn(ports, 'ann'), false)
  },

  'no account can change users of another': async (ports) => {
    const { users } = ports.people
    const [account, other] = [await anAccount(ports), await anAccount(ports)]
    const ann = await signedIn(ports, account, 'ann')
    const before = await users.byEmail('ann@acme.example')
    for (const id of [ann, nobody]) {
      assert.equal(await users.setRole(other.id, id, 'owner'), false)
      assert.equal(await users.setLocked(other.id, id, true), false)
      assert.equal(await users.setPassword(other.id, id, second), false)
      assert.equal(await users.offerLink(other.id, id, link('x')), false)
      assert.equal(await users.remove(other.id, id), false)
    }
    assert.deepEqual(await users.byEmail('ann@acme.example'), before)
    assert.equal(await isIn(ports, 'ann'), true)
    assert.equal(await users.setRole(account.id, ann, 'owner'), true)
    assert.equal((await users.find(account.id, ann))?.role, 'owner')
  },
}
