import { strict as assert } from 'node:assert'
import type { CarrierId, Route, StoredPorts } from '@gateway/core'
import { anAddress } from '../builders.ts'
import { aCarrierId, anAccountId } from '../ids.ts'
import type { Contract } from './contract.ts'

const aRoute = (name: string, carriers: readonly string[], conditions: Partial<Route> = {}): Route => ({
  ...{ name, prefixes: [], accounts: [], senders: [] },
  carriers: carriers.map((carrier, i) => ({ carrier: aCarrierId(carrier), priority: 1 + i, weight: 7 - i })),
  ...conditions,
})

const overA = aRoute('to-a', ['a'], { prefixes: ['2782', '44'] })
const overBoth = aRoute('to-both', ['a', 'b'], { accounts: [anAccountId(4711)], senders: [anAddress('45678')] })
const others = aRoute('others', ['b'])

const plain = async ({ routes }: Pick<StoredPorts, 'routes'>): Promise<readonly Route[]> =>
  (await routes.list()).map(({ name, prefixes, accounts, senders, carriers }) => ({
    ...{ name, prefixes, accounts, senders, carriers },
  }))

/** The number of every queue, by route and refusing carrier. */
async function queueNumbers({ routes }: Pick<StoredPorts, 'routes'>): Promise<ReadonlyMap<string, number>> {
  const named = (await routes.list()).flatMap(({ name, queues }) =>
    queues.map(({ number, refusedBy }) => [`${name} ${refusedBy ?? '-'}`, number] as const),
  )
  return new Map(named)
}

/** What the port `Routes` promises. */
export const routesContract: Contract<StoredPorts> = {
  'a new store has no routes': async ({ routes }) => {
    assert.deepEqual(await routes.list(), [])
  },

  'routes are listed as they were published, in their order': async (ports) => {
    await ports.routes.publish([overBoth, overA, others])
    assert.deepEqual(await plain(ports), [overBoth, overA, others])
    await ports.routes.publish([overA, others])
    assert.deepEqual(await plain(ports), [overA, others])
    await ports.routes.publish([])
    assert.deepEqual(await plain(ports), [])
  },

  'a route of one carrier has one queue, one of several has one more for each that may refuse': async ({ routes }) => {
    await routes.publish([overA, overBoth, others])
    const [ofA, ofBoth] = await routes.list()
    const refusers = (route = ofA): readonly (CarrierId | undefined)[] =>
      route?.queues.map(({ refusedBy }) => refusedBy) ?? []
    assert.deepEqual(refusers(), [undefined])
    assert.deepEqual(refusers(ofBoth), [undefined, 'a', 'b'])
  },

  'every queue has a number of its own, and none has that of messages without a route': async (ports) => {
    await ports.routes.publish([overA, overBoth, others])
    const numbers = [...(await queueNumbers(ports)).values()]
    assert.equal(new Set([0, ...numbers]).size, numbers.length + 1)
  },

  'a route keeps its numbers by its name, also while it is not published, whatever else changes': async (ports) => {
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

  'a route that goes back to one carrier has one queue, and gets its others again': async (ports) => {
    await ports.routes.publish([{ ...others, carriers: overBoth.carriers }])
    const before = await queueNumbers(ports)
    await ports.routes.publish([others])
    assert.deepEqual([...(await queueNumbers(ports)).keys()], ['others -'])
    await ports.routes.publish([{ ...others, carriers: overBoth.carriers }])
    assert.deepEqual(await queueNumbers(ports), before)
  },

  'what cannot be routes is not published, and changes nothing': async (ports) => {
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

  'of routes that are published at the same time those of one call stay, and nothing of the others': async (ports) => {
    const tables = Array.from({ length: 8 }, (_, i) => [
      aRoute(`to-${i}`, ['a', 'b'], { prefixes: [`${i + 1}`] }),
      { ...others, carriers: overBoth.carriers.slice(i % 2) },
    ])
    await Promise.all(tables.map((routes) => ports.routes.publish(routes)))
    const listed = JSON.stringify(await plain(ports))
    assert.ok(tables.some((routes) => JSON.stringify(routes) === listed))
  },
}
