import { strict as assert } from 'node:assert'
import type { StoredPorts } from '@gateway/core'
import type { KeyHash } from '@gateway/core/accounts'
import type { NewSession, OperatorId, PasswordHash, SessionBounds } from '@gateway/core/people'
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
const nobody = (2 ** 31 - 1) as OperatorId

async function added({ people: { operators } }: StoredPorts, name: string): Promise<OperatorId> {
  const id = await operators.add({ name, role: 'support' }, first)
  return typeof id === 'string' ? assert.fail(id) : id
}

async function signedIn({ people: { operators } }: StoredPorts, by: OperatorId, name: string) {
  return (await operators.openSession(by, first, aSession(name), bounds)) ?? assert.fail('no session')
}

export const operatorsContract: Contract<StoredPorts> = {
  'an operator is found by name in any letter case, and names are unique': async (ports) => {
    const { operators } = ports.people
    const [zoe, ann] = [await added(ports, 'Zoe'), await added(ports, 'ann')]
    assert.equal(await operators.add({ name: 'ZOE', role: 'admin' }, second), 'name-taken')
    const found = await operators.byName('zoE')
    assert.deepEqual(
      { ...found?.operator, added: 0 },
      { id: zoe, name: 'Zoe', role: 'support', locked: false, added: 0 },
    )
    assert.equal(found?.password, first)
    assert.equal(await operators.byName('z'), undefined)
    assert.deepEqual(
      (await operators.list()).map(({ id }) => id),
      [ann, zoe],
    )
  },

  'of concurrent additions of one name one succeeds': async ({ people: { operators } }) => {
    const ids = await Promise.all(
      Array.from({ length: concurrentCallers }, (_, at) =>
        operators.add({ name: at % 2 === 0 ? 'ann' : 'ANN', role: 'admin' }, first),
      ),
    )
    assert.equal(ids.filter((id) => id !== 'name-taken').length, 1)
    assert.equal((await operators.list()).length, 1)
  },

  'a role applies at once, also in open sessions': async (ports) => {
    const { operators } = ports.people
    const ann = await added(ports, 'ann')
    await signedIn(ports, ann, 'a')
    assert.equal(await operators.setRole(ann, 'admin'), true)
    assert.equal((await operators.findSession(hash('a'), bounds, true))?.operator.role, 'admin')
    assert.equal(await operators.setRole(nobody, 'admin'), false)
  },

  'a session is found only by its hash, and ends by its bounds': async (ports) => {
    const { operators } = ports.people
    const ann = await added(ports, 'ann')
    const id = await signedIn(ports, ann, 'a')
    const { session } = (await operators.findSession(hash('a'), bounds, true)) ?? assert.fail('not found')
    assert.deepEqual(
      { ...session, opened: 0, used: 0 },
      {
        id,
        operator: ann,
        agent: 'Firefox',
        address: '192.0.2.7',
        secondFactor: false,
        actsAs: undefined,
        opened: 0,
        used: 0,
      },
    )
    assert.equal(await operators.findSession(hash('b'), bounds, true), undefined)
    for (const end of over) assert.equal(await operators.findSession(hash('a'), end, true), undefined)
    assert.equal((await operators.listSessions(ann, bounds)).length, 1)
    assert.ok(await operators.openSession(ann, first, aSession('c'), { idleSeconds: -60, secondsMax: 7200 }))
    assert.equal(await operators.findSession(hash('a'), bounds, true), undefined, 'forgotten')
  },

  'no session is opened with another password or for an unknown operator': async (ports) => {
    const { operators } = ports.people
    const ann = await added(ports, 'ann')
    assert.equal(await operators.openSession(ann, second, aSession('a'), bounds), undefined)
    assert.equal(await operators.openSession(nobody, first, aSession('a'), bounds), undefined)
    assert.equal(await operators.findSession(hash('a'), bounds, true), undefined)
  },

  'a new hash of the same password of an operator replaces exactly the checked hash, and sessions stay': async (
    ports,
  ) => {
    const { operators } = ports.people
    const [ann, bob] = [await added(ports, 'ann'), await added(ports, 'bob')]
    await signedIn(ports, ann, 'a')
    await signedIn(ports, bob, 'b')
    assert.equal(await operators.replaceHash(nobody, first, second), false)
    const replacing = Array.from({ length: concurrentCallers }, () => operators.replaceHash(ann, first, second))
    assert.equal((await Promise.all(replacing)).filter((one) => one).length, 1)
    assert.deepEqual(
      [(await operators.byName('ann'))?.password, (await operators.byName('bob'))?.password],
      [second, first],
    )
    for (const name of ['a', 'b']) assert.ok(await operators.findSession(hash(name), bounds, true), name)
    assert.ok(await operators.openSession(ann, second, aSession('c'), bounds))
    await operators.setPassword(ann, first)
    assert.equal(await operators.findSession(hash('a'), bounds, true), undefined)
  },

  'a lock or a new password ends all sessions of the operator, and of no other': async (ports) => {
    const { operators } = ports.people
    const [ann, bob] = [await added(ports, 'ann'), await added(ports, 'bob')]
    await signedIn(ports, ann, 'a')
    await signedIn(ports, bob, 'b')
    assert.equal(await operators.setPassword(ann, first), true)
    assert.equal(await operators.findSession(hash('a'), bounds, true), undefined, 'the same password is a new one')
    await signedIn(ports, ann, 'c')
    assert.equal(await operators.setLocked(ann, true), true)
    assert.equal(await operators.openSession(ann, first, aSession('d'), bounds), undefined)
    assert.equal(await operators.setLocked(ann, false), true)
    assert.equal(await operators.findSession(hash('c'), bounds, true), undefined)
    assert.ok(await operators.findSession(hash('b'), bounds, true))
    assert.equal(await operators.setLocked(nobody, true), false)
    assert.equal(await operators.setPassword(nobody, first), false)
  },

  'a session acts as one account at a time, until that is ended or expires, and only for its own operator': async (
    ports,
  ) => {
    const { operators } = ports.people
    const [ann, bob] = [await added(ports, 'ann'), await added(ports, 'bob')]
    const [one, other] = [await anAccount(ports), await anAccount(ports)]
    const id = await signedIn(ports, ann, 'a')
    const actsAs = async () => (await operators.findSession(hash('a'), bounds, true))?.session.actsAs
    assert.equal(await actsAs(), undefined)
    assert.equal(await operators.endActingAs(ann, id), undefined)
    const until = await operators.actAs(ann, id, one.id, 600)
    assert.deepEqual(await actsAs(), { account: one.id, until })
    assert.equal((await operators.listSessions(ann, bounds))[0]?.actsAs?.account, one.id)
    await operators.actAs(ann, id, other.id, 600)
    assert.equal((await actsAs())?.account, other.id)
    assert.equal(await operators.actAs(bob, id, one.id, 600), undefined)
    assert.equal(await operators.endActingAs(bob, id), undefined)
    assert.equal(await operators.actAs(ann, id, anAccountId(2 ** 31 - 1), 600), undefined)
    assert.equal((await actsAs())?.account, other.id)
    assert.equal(await operators.endActingAs(ann, id), other.id)
    assert.deepEqual([await actsAs(), await operators.endActingAs(ann, id)], [undefined, undefined])
    await operators.actAs(ann, id, one.id, -60)
    assert.deepEqual([await actsAs(), await operators.endActingAs(ann, id)], [undefined, undefined])
  },

  'an operator ends one or all of the own sessions': async (ports) => {
    const { operators } = ports.people
    const [ann, bob] = [await added(ports, 'ann'), await added(ports, 'bob')]
    const [a] = [await signedIn(ports, ann, 'a'), await signedIn(ports, ann, 'b')]
    await signedIn(ports, bob, 'c')
    assert.equal(await operators.endSessions(bob, a), 0)
    assert.equal(await operators.endSessions(ann, a), 1)
    assert.ok(await operators.findSession(hash('b'), bounds, true))
    assert.equal(await operators.endSessions(ann), 1)
    assert.deepEqual(await operators.listSessions(ann, bounds), [])
    assert.equal((await operators.listSessions(bob, bounds)).length, 1)
  },
}
