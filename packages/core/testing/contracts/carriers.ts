import { strict as assert } from 'node:assert'
import type { StoredPorts } from '@gateway/core'
import type { CarrierUser, Heartbeat, NewCarrierVersion } from '@gateway/core/fleet'
import type { Route } from '@gateway/core/routes'
import type { SealedSecret } from '@gateway/core/webhooks'
import { aCarrierId, anAccountId, anAddress } from '../builders.ts'
import type { Contract } from './shared.ts'

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

const beatOf = (user: CarrierUser, seconds: number): Heartbeat => ({ user, seconds, reports: undefined, counts: [] })

const atStart = { onPurpose: false }
const onPurpose = { onPurpose: true }

type Versions = Pick<StoredPorts, 'carrierVersions'>
const names = async ({ routes }: Pick<StoredPorts, 'routes'>): Promise<readonly string[]> =>
  (await routes.list()).map(({ name }) => name)

export const carrierVersionsContract: Contract<StoredPorts> = {
  'a new store has no versions': async ({ carrierVersions }: Versions) => {
    assert.equal(await carrierVersions.latest(), undefined)
    assert.equal(await carrierVersions.find(1), undefined)
    assert.deepEqual(await carrierVersions.list(10), [])
  },

  'versions are numbered from 1, found unchanged, and listed latest first': async ({ carrierVersions }: Versions) => {
    assert.equal(await carrierVersions.store(aVersion('a'), 0, atStart), 1)
    assert.equal(await carrierVersions.store(aVersion('b', { carriers: [], routes: [] }), 1, onPurpose), 2)
    const first = await carrierVersions.find(1)
    assert.equal(typeof first?.storedAt, 'number')
    const { routes: _, ...version } = aVersion('a')
    assert.deepEqual(first, { ...version, version: 1, storedAt: first?.storedAt })
    const second = await carrierVersions.latest()
    assert.deepEqual([second?.version, second?.sealed, second?.carriers], [2, 'sealed b', []])
    assert.deepEqual(await carrierVersions.list(10), [second, first])
    assert.deepEqual(await carrierVersions.list(1), [second])
  },

  'the routes of a version are published with it, and do not change if it is refused': async (ports) => {
    await ports.carrierVersions.store(aVersion('a'), 0, atStart)
    assert.deepEqual(await names(ports), ['over-a'])
    assert.equal(await ports.carrierVersions.store(aVersion('b'), 0, onPurpose), 'outdated')
    assert.equal(await ports.carrierVersions.store(aVersion('b'), 2, onPurpose), 'outdated')
    assert.deepEqual([await names(ports), (await ports.fleet.state()).version], [['over-a'], 1])
    await ports.carrierVersions.store(aVersion('b'), 1, onPurpose)
    assert.deepEqual(await names(ports), ['over-b'])
  },

  'a version with invalid routes is not stored': async ({ carrierVersions }: Versions) => {
    const wrong = aVersion('a', { routes: [{ ...all('a'), prefixes: ['27'] }] })
    await assert.rejects(carrierVersions.store(wrong, 0, onPurpose), RangeError)
    assert.equal(await carrierVersions.latest(), undefined)
  },

  'of concurrent versions after the same one only one is stored': async (ports) => {
    const tried = Array.from({ length: 8 }, (_, at) => `c${at}`)
    const stored = await Promise.all(tried.map((name) => ports.carrierVersions.store(aVersion(name), 0, atStart)))
    assert.deepEqual(stored.toSorted(), [1, ...Array<string>(7).fill('outdated')])
    const winner = tried[stored.indexOf(1)] ?? assert.fail()
    assert.equal((await ports.carrierVersions.latest())?.sealed, `sealed ${winner}`)
    assert.deepEqual(await names(ports), [`over-${winner}`])
  },

  'a process can join only the latest version, and stays joined until its lease ends': async (ports) => {
    const { carrierVersions, fleet } = ports
    await carrierVersions.store(aVersion('a'), 0, atStart)
    assert.equal(await carrierVersions.join(aUser(2, 1), 60), 'joined')
    assert.equal(await carrierVersions.join(aUser(1, 1), 60), 'joined')
    assert.equal(await carrierVersions.join(aUser(3, 2), 60), 'outdated')
    assert.equal(await carrierVersions.join(aSimulating(3, '{}'), 60), 'outdated')
    assert.deepEqual(await fleet.users(), [aUser(1, 1), aUser(2, 1)])
    await fleet.beat(beatOf(aUser(1, 2), 60))
    await fleet.beat(beatOf(aUser(2, 1), 0))
    assert.deepEqual(await fleet.users(), [aUser(1, 2)])
  },

  'without stored versions, processes with the same simulated carriers work together, and others are refused': async ({
    carrierVersions,
    fleet,
  }) => {
    assert.equal(await carrierVersions.join(aSimulating(1, 'a'), 60), 'joined')
    assert.equal(await carrierVersions.join(aSimulating(2, 'a'), 60), 'joined')
    assert.deepEqual(await carrierVersions.join(aSimulating(3, 'b'), 60), { user: aSimulating(1, 'a') })
    for (const nth of [1, 2]) await fleet.beat(beatOf(aSimulating(nth, 'a'), 0))
    assert.equal(await carrierVersions.join(aSimulating(3, 'b'), 60), 'joined')
  },

  'a process whose lease was extended by a heartbeat still refuses others': async ({ carrierVersions, fleet }) => {
    await carrierVersions.join(aSimulating(1, 'a'), 0)
    await fleet.beat(beatOf(aSimulating(1, 'a'), 60))
    assert.deepEqual(await carrierVersions.join(aSimulating(2, 'b'), 60), { user: aSimulating(1, 'a') })
    assert.deepEqual(await carrierVersions.store(aVersion('b'), 0, atStart), { user: aSimulating(1, 'a') })
  },

  'the first version is refused while a process simulates, unless explicitly requested': async (ports) => {
    const { carrierVersions } = ports
    await carrierVersions.join(aSimulating(1, 'a'), 60)
    assert.deepEqual(await carrierVersions.store(aVersion('b'), 0, atStart), { user: aSimulating(1, 'a') })
    assert.deepEqual([(await ports.fleet.state()).version, await names(ports)], [0, []])
    assert.equal(await carrierVersions.store(aVersion('b'), 0, onPurpose), 1)
  },

  'if one process starts simulating while another stores a version, one of them is refused': async ({
    carrierVersions,
  }: Versions) => {
    const [joined, stored] = await Promise.all([
      carrierVersions.join(aSimulating(1, 'a'), 60),
      carrierVersions.store(aVersion('b'), 0, atStart),
    ])
    if (joined === 'joined') assert.deepEqual(stored, { user: aSimulating(1, 'a') })
    else assert.deepEqual([joined, stored], ['outdated', 1])
  },

  'resealing replaces sealed secrets and nothing else': async ({ carrierVersions }: Versions) => {
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

const aRoute = (name: string, carriers: readonly string[], conditions: Partial<Route> = {}): Route => ({
  ...{ name, prefixes: [], accounts: [], senders: [] },
  carriers: carriers.map((carrier, i) => ({ carrier: aCarrierId(carrier), priority: 1 + i, weight: 7 - i })),
  ...conditions,
})

const overA = aRoute('to-a', ['a'], { prefixes: ['2782', '44'] })
const overBoth = aRoute('to-both', ['a', 'b'], { accounts: [anAccountId(4711)], senders: [anAddress('45678')] })
const overThree = aRoute('to-three', ['a', 'b', 'c'], { prefixes: ['49'] })
const others = aRoute('others', ['b'])

const plain = async ({ routes }: Pick<StoredPorts, 'routes'>): Promise<readonly Route[]> =>
  (await routes.list()).map(({ name, prefixes, accounts, senders, carriers, overflow }) => ({
    ...{ name, prefixes, accounts, senders, carriers },
    ...(overflow && { overflow }),
  }))

/**
 * Returns the id (`number`) of each queue. A key consists of the route, the carrier that refused the messages, and the
 * only carrier that may send them, with `-` for no carrier.
 */
async function queueNumbers({ routes }: Pick<StoredPorts, 'routes'>): Promise<ReadonlyMap<string, number>> {
  const named = (await routes.list()).flatMap(({ name, queues }) =>
    queues.map(({ number, refusedBy = '-', onlyFor = '-' }) => [`${name} ${refusedBy} ${onlyFor}`, number] as const),
  )
  return new Map(named)
}

export const routesContract: Contract<StoredPorts> = {
  'a new store has no routes': async ({ routes }) => {
    assert.deepEqual(await routes.list(), [])
  },

  'routes are listed in the order in which they were published': async (ports) => {
    await ports.routes.publish([overBoth, overA, others])
    assert.deepEqual(await plain(ports), [overBoth, overA, others])
    await ports.routes.publish([overA, others])
    assert.deepEqual(await plain(ports), [overA, others])
    const overflowing = { ...overBoth, overflow: { single: 'never', bulk: 600 } } as const
    await ports.routes.publish([overflowing, others])
    assert.deepEqual(await plain(ports), [overflowing, others])
    await ports.routes.publish([overBoth, others])
    assert.deepEqual(await plain(ports), [overBoth, others])
    await ports.routes.publish([])
    assert.deepEqual(await plain(ports), [])
  },

  'a route of one carrier has one queue; a route of several has another one for each carrier that may refuse or be waited for':
    async ({ routes }) => {
      await routes.publish([overA, overBoth, overThree, others])
      const queues = (await routes.list()).map((route) =>
        route.queues.map(({ refusedBy = '-', onlyFor = '-' }) => `${refusedBy}${onlyFor}`),
      )
      assert.deepEqual(queues, [['--'], ['--', 'a-', 'b-'], ['--', 'a-', 'b-', 'c-', '-a', '-b', '-c'], ['--']])
    },

  'every queue has a unique number, which is never that of messages without a route': async (ports) => {
    await ports.routes.publish([overA, overBoth, overThree, others])
    const numbers = [...(await queueNumbers(ports)).values()]
    assert.equal(new Set([0, ...numbers]).size, numbers.length + 1)
  },

  'a route keeps its numbers by its name, also while unpublished, whatever else changes': async (ports) => {
    const { routes } = ports
    await routes.publish([overA, overBoth, others])
    const before = await routes.list()
    const queues = await queueNumbers(ports)
    await routes.publish([others])
    assert.deepEqual(await routes.list(), before.slice(2))
    await routes.publish([{ ...overBoth, prefixes: ['27'] }, { ...overA, carriers: overBoth.carriers }, others])
    assert.deepEqual(
      (await routes.list()).map(({ name, number }) => [name, number]),
      [1, 0, 2].map((i) => [before[i]?.name, before[i]?.number]),
    )
    const after = await queueNumbers(ports)
    for (const [queue, number] of queues) assert.equal(after.get(queue), number)
    assert.equal(after.size, queues.size + 2)
  },

  'a route that returns to one carrier has one queue, and gets its other queues back later': async (ports) => {
    await ports.routes.publish([{ ...others, carriers: overBoth.carriers }])
    const before = await queueNumbers(ports)
    await ports.routes.publish([others])
    assert.deepEqual([...(await queueNumbers(ports)).keys()], ['others - -'])
    await ports.routes.publish([{ ...others, carriers: overBoth.carriers }])
    assert.deepEqual(await queueNumbers(ports), before)
  },

  'invalid routes are not published and change nothing': async (ports) => {
    await ports.routes.publish([overA, others])
    const [carrier] = others.carriers
    const wrong = [
      [overA],
      [others, others],
      [{ ...others, name: 'Others' }],
      [{ ...overA, prefixes: ['+27'] }, others],
      [{ ...others, carriers: [] }],
      [{ ...others, carriers: [{ ...(carrier ?? assert.fail()), priority: 0 }] }],
      [{ ...others, carriers: [{ ...(carrier ?? assert.fail()), weight: 1.5 }] }],
    ]
    for (const routes of wrong) await assert.rejects(ports.routes.publish(routes), RangeError)
    assert.deepEqual(await plain(ports), [overA, others])
  },

  'of concurrent publications the routes of one stay, without any of the others': async (ports) => {
    const tables = Array.from({ length: 8 }, (_, i) => [
      aRoute(`to-${i}`, ['a', 'b'], { prefixes: [`${i + 1}`] }),
      { ...others, carriers: overBoth.carriers.slice(i % 2) },
    ])
    await Promise.all(tables.map((routes) => ports.routes.publish(routes)))
    const listed = JSON.stringify(await plain(ports))
    assert.ok(tables.some((routes) => JSON.stringify(routes) === listed))
  },
}
