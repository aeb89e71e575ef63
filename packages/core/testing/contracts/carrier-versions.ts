import { strict as assert } from 'node:assert'
import type { CarrierUser, NewCarrierVersion, Route, SealedSecret, StoredPorts } from '@gateway/core'
import { aCarrierId } from '../ids.ts'
import { until } from '../until.ts'
import type { Contract } from './contract.ts'

const all = (carrier: string): Route => ({
  ...{ name: `over-${carrier}`, prefixes: [], accounts: [], senders: [] },
  carriers: [{ carrier: aCarrierId(carrier), priority: 1, weight: 1 }],
})

const aVersion = (carrier: string, more: Partial<NewCarrierVersion> = {}): NewCarrierVersion => ({
  sealed: `sealed ${carrier}` as SealedSecret,
  digest: `digest of ${carrier}`,
  carriers: [aCarrierId(carrier)],
  routes: [all(carrier)],
  storedBy: `the test of ${carrier}`,
  ...more,
})

const aProcess = (at: number) => ({ id: `0195e9c4-0000-4000-8000-00000000000${at}`, host: 'alpha', pid: 10 + at })
const aUser = (at: number, version: number): CarrierUser => ({ process: aProcess(at), version, simulated: undefined })
const aSimulating = (at: number, simulated: string): CarrierUser => ({ ...aUser(at, 0), simulated })

const atStart = { onPurpose: false }
const onPurpose = { onPurpose: true }

type Versions = Pick<StoredPorts, 'carrierVersions'>
const names = async ({ routes }: Pick<StoredPorts, 'routes'>): Promise<readonly string[]> =>
  (await routes.list()).map(({ name }) => name)

/** What the port `CarrierVersions` promises. */
export const carrierVersionsContract: Contract<StoredPorts> = {
  'in a new store nothing is stored': async ({ carrierVersions }: Versions) => {
    assert.equal(await carrierVersions.latest(), undefined)
    assert.equal(await carrierVersions.latestNumber(), 0)
    assert.equal(await carrierVersions.find(1), undefined)
    assert.deepEqual(await carrierVersions.list(10), [])
    assert.deepEqual(await carrierVersions.users(), [])
  },

  'versions count from 1, are found whole, and are listed from the last one': async ({ carrierVersions }: Versions) => {
    assert.equal(await carrierVersions.store(aVersion('a'), 0, atStart), 1)
    assert.equal(await carrierVersions.store(aVersion('b', { carriers: [], routes: [] }), 1, onPurpose), 2)
    assert.equal(await carrierVersions.latestNumber(), 2)
    const first = await carrierVersions.find(1)
    assert.equal(typeof first?.storedAt, 'number')
    const { routes: _, ...given } = aVersion('a')
    assert.deepEqual(first, { ...given, version: 1, storedAt: first?.storedAt })
    const second = await carrierVersions.latest()
    assert.deepEqual([second?.version, second?.sealed, second?.carriers], [2, 'sealed b', []])
    assert.deepEqual(await carrierVersions.list(10), [second, first])
    assert.deepEqual(await carrierVersions.list(1), [second])
  },

  'its routes are published with it, and stay where it is refused': async (ports) => {
    await ports.carrierVersions.store(aVersion('a'), 0, atStart)
    assert.deepEqual(await names(ports), ['over-a'])
    assert.equal(await ports.carrierVersions.store(aVersion('b'), 0, onPurpose), 'outdated')
    assert.equal(await ports.carrierVersions.store(aVersion('b'), 2, onPurpose), 'outdated')
    assert.deepEqual([await names(ports), await ports.carrierVersions.latestNumber()], [['over-a'], 1])
    await ports.carrierVersions.store(aVersion('b'), 1, onPurpose)
    assert.deepEqual(await names(ports), ['over-b'])
  },

  'what cannot be routes stores nothing': async ({ carrierVersions }: Versions) => {
    const wrong = aVersion('a', { routes: [{ ...all('a'), prefixes: ['27'] }] })
    await assert.rejects(carrierVersions.store(wrong, 0, onPurpose), RangeError)
    assert.equal(await carrierVersions.latestNumber(), 0)
  },

  'of versions that are stored at the same time after the same one, one is': async (ports) => {
    const tried = Array.from({ length: 8 }, (_, at) => `c${at}`)
    const stored = await Promise.all(tried.map((name) => ports.carrierVersions.store(aVersion(name), 0, atStart)))
    assert.deepEqual(stored.toSorted(), [1, ...Array<string>(7).fill('outdated')])
    const winner = tried[stored.indexOf(1)] ?? assert.fail()
    assert.equal((await ports.carrierVersions.latest())?.sealed, `sealed ${winner}`)
    assert.deepEqual(await names(ports), [`over-${winner}`])
  },

  'a process joins the last version and no other, until its lease ends or it leaves': async (ports) => {
    const { carrierVersions } = ports
    await carrierVersions.store(aVersion('a'), 0, atStart)
    assert.equal(await carrierVersions.join(aUser(2, 1), 60), 'joined')
    assert.equal(await carrierVersions.join(aUser(1, 1), 60), 'joined')
    assert.equal(await carrierVersions.join(aUser(3, 2), 60), 'outdated')
    assert.equal(await carrierVersions.join(aSimulating(3, '{}'), 60), 'outdated')
    assert.deepEqual(await carrierVersions.users(), [aUser(1, 1), aUser(2, 1)])
    await carrierVersions.renew(aUser(1, 2), 60)
    await carrierVersions.renew(aUser(2, 1), 0)
    assert.deepEqual(await carrierVersions.users(), [aUser(1, 2)])
    await carrierVersions.leave(aProcess(1).id)
    assert.deepEqual(await carrierVersions.users(), [])
    await carrierVersions.renew(aUser(1, 2), 60)
    assert.deepEqual(await carrierVersions.users(), [aUser(1, 2)])
  },

  'without a version processes with the same simulated carriers work together, and another is refused': async ({
    carrierVersions,
  }: Versions) => {
    assert.equal(await carrierVersions.join(aSimulating(1, 'a'), 60), 'joined')
    assert.equal(await carrierVersions.join(aSimulating(2, 'a'), 60), 'joined')
    assert.deepEqual(await carrierVersions.join(aSimulating(3, 'b'), 60), { user: aSimulating(1, 'a') })
    await carrierVersions.leave(aProcess(1).id)
    await carrierVersions.renew(aSimulating(2, 'a'), 0)
    assert.equal(await carrierVersions.join(aSimulating(3, 'b'), 60), 'joined')
  },

  'a first version is refused while a process simulates, unless it is stored on purpose': async (ports) => {
    const { carrierVersions } = ports
    await carrierVersions.join(aSimulating(1, 'a'), 60)
    assert.deepEqual(await carrierVersions.store(aVersion('b'), 0, atStart), { user: aSimulating(1, 'a') })
    assert.deepEqual([await carrierVersions.latestNumber(), await names(ports)], [0, []])
    assert.equal(await carrierVersions.store(aVersion('b'), 0, onPurpose), 1)
  },

  'of a start that simulates and one that stores, at the same time, one is refused': async ({
    carrierVersions,
  }: Versions) => {
    const [joined, stored] = await Promise.all([
      carrierVersions.join(aSimulating(1, 'a'), 60),
      carrierVersions.store(aVersion('b'), 0, atStart),
    ])
    if (joined === 'joined') assert.deepEqual(stored, { user: aSimulating(1, 'a') })
    else assert.deepEqual([joined, stored], ['outdated', 1])
  },

  'who listens is told of a new version': async ({ carrierVersions }: Versions) => {
    let told = 0
    carrierVersions.onChange(() => told++)
    await carrierVersions.store(aVersion('a'), 0, atStart)
    await until(() => told > 0)
  },

  'what is sealed is replaced, and nothing else': async ({ carrierVersions }: Versions) => {
    await carrierVersions.store(aVersion('a'), 0, atStart)
    await carrierVersions.store(aVersion('b'), 1, onPurpose)
    const before = await carrierVersions.list(10)
    const sealAgain = ({ version, sealed }: { version: number; sealed: SealedSecret }) =>
      version === 1 ? (`${sealed} again` as SealedSecret) : undefined
    assert.equal(await carrierVersions.reseal(sealAgain), 1)
    const [last, first] = before
    assert.deepEqual(await carrierVersions.list(10), [last, { ...first, sealed: 'sealed a again' }])
  },
}
