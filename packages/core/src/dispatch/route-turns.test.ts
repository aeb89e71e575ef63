import { aCarrierId } from '@gateway/core/testing'
import type { Availability } from './carrier.ts'
import type { Lane } from './claimed-batches.ts'
import { queuesOf, type PublishedRoute, type QueueNumber, type RouteNumber } from '../routes/published-routes.ts'
import { claimableQueues, handOver, handOverToOneOf } from './claimable-queues.ts'

/**
 * Creates a route from a text such as `a1 b2x3`: carrier a has priority 1, carrier b has priority 2 and weight 3. Its
 * queues are numbered from `number` on.
 */
function aRoute(number: number, text: string): PublishedRoute {
  const carriers = text.split(' ').map((one) => {
    const [, name = '', priority, weight = '1'] = /^([a-z])(\d+)(?:x(\d+))?$/.exec(one) ?? []
    return { carrier: aCarrierId(name), priority: Number(priority), weight: Number(weight) }
  })
  const queues = queuesOf(carriers.map(({ carrier }) => carrier))
  return {
    ...{ name: `r${number}`, prefixes: [], accounts: [], senders: [], carriers, number: number as RouteNumber },
    queues: queues.map((queue, i) => ({ ...queue, number: (number + i) as QueueNumber })),
  }
}

const queue = (number: number) => number as QueueNumber

/**
 * Returns a function that looks up the availability of a carrier in a text such as `a=down`. Carriers that the text
 * does not name are available.
 */
const availabilities = (text: string) => (carrier: string) =>
  new Map(text.split(' ').map((one) => one.split('=') as [string, Availability])).get(carrier) ?? 'available'

test.each<[string, readonly PublishedRoute[], string, string]>([
  ['no routes', [], '', 'a:0 b:0 c:0'],
  ['no routes, one down', [], 'a=down', 'b:0 c:0'],
  ['one carrier', [aRoute(10, 'a1')], '', 'a:10'],
  ['one carrier, throttled', [aRoute(10, 'a1')], 'a=throttled', 'a:10'],
  ['one carrier, down', [aRoute(10, 'a1')], 'a=down', ''],
  ['two by priority', [aRoute(10, 'a1 b2')], '', 'a:10,12 b:11'],
  ['two by priority, the first down', [aRoute(10, 'a1 b2')], 'a=down', 'b:10,11,12'],
  ['two by priority, the second down', [aRoute(10, 'a1 b2')], 'b=down', 'a:10,11,12'],
  ['two by priority, both down', [aRoute(10, 'a1 b2')], 'a=down b=down', ''],
  ['two by priority, the first throttled', [aRoute(10, 'a1 b2')], 'a=throttled', 'a:10/ab,12 b:10/ab,11'],
  ['two by priority, the first probed', [aRoute(10, 'a1 b2')], 'a=probing', 'a:10/ab,12 b:10/ab,11'],
  ['two by priority, the second probed', [aRoute(10, 'a1 b2')], 'b=probing', 'a:10,12 b:11'],
  ['two by priority, both throttled', [aRoute(10, 'a1 b2')], 'a=throttled b=throttled', 'a:10/ab,12 b:10/ab,11'],
  [
    'three, the first throttled',
    [aRoute(10, 'a1 b2 c3')],
    'a=throttled',
    'a:10/ab,12/ac,13/ab,14 b:10/ab,11,13/ab,15 c:12/ac,16',
  ],
  ['three, messages for one carrier only stay with it', [aRoute(10, 'a1 b2 c3')], '', 'a:10,12,13,14 b:11,15 c:16'],
  [
    'three, messages of one that is down go to the best',
    [aRoute(10, 'a1 b2 c3')],
    'c=down',
    'a:10,12,13,14,16 b:11,15',
  ],
  ['two by priority, throttled and down', [aRoute(10, 'a1 b2')], 'a=throttled b=down', 'a:10,11,12'],
  ['two equals', [aRoute(10, 'a1 b1x3')], '', 'a:10/ab,12 b:10/ab,11'],
  ['two equals and a reserve', [aRoute(10, 'a1 b1 c2')], '', 'a:10/ab,12,13/ab,14 b:10/ab,11,13/ab,15 c:16'],
  ['two equals, one down, and a reserve', [aRoute(10, 'a1 b1 c2')], 'a=down', 'b:10,11,13,14,15 c:12,16'],
  ['several routes', [aRoute(10, 'a1'), aRoute(20, 'b1 a2'), aRoute(30, 'c1')], '', 'a:10,21 b:20,22 c:30'],
  ['one dead carrier delays no other route', [aRoute(10, 'a1'), aRoute(20, 'b1')], 'a=down', 'b:20'],
])('claimableQueues: %s', (_, routes, states, expected) => {
  const claimed = ['a', 'b', 'c'].map((name): string => {
    const found = claimableQueues(routes, aCarrierId(name), availabilities(states))
    const words = found.map(({ queue, claimers }) =>
      [queue, ...(claimers.length > 0 ? [claimers.map(({ carrier }) => carrier).join('')] : [])].join('/'),
    )
    return words.length === 0 ? '' : `${name}:${words.join()}`
  })
  expect(claimed.filter((text) => text !== '').join(' ')).toBe(expected)
})

test.each<[string, number, string, string, number | undefined, boolean]>([
  ['the other carrier is up', 10, 'a', '', 11, true],
  ['the other carrier is down', 10, 'a', 'b=down', 11, false],
  ['the other carrier is throttled', 10, 'a', 'b=throttled', 11, true],
  ['back to the first', 11, 'b', '', 12, true],
  ['a route of one carrier', 20, 'a', '', undefined, false],
  ['no route', 0, 'a', '', undefined, false],
])('handOver: %s', (_, from, by, states, queue, isTakenOver) => {
  const routes = [aRoute(10, 'a1 b2'), aRoute(20, 'a1')]
  expect(handOver(routes, from as QueueNumber, aCarrierId(by), availabilities(states))).toEqual({ queue, isTakenOver })
})

test.each<[string, number, string, string, ReturnType<typeof handOverToOneOf>]>([
  ['the other of two', 10, 'b', '', { queue: queue(11), isTakenOver: true }],
  ['the other of two, which is down', 10, 'b', 'b=down', { queue: queue(11), isTakenOver: false }],
  ['one of three, with a queue of its own', 20, 'c', '', { queue: queue(26), isTakenOver: true }],
  ['the best of two', 20, 'c b', '', { queue: queue(25), isTakenOver: true }],
  ['the best is down', 20, 'c b', 'b=down', { queue: queue(26), isTakenOver: true }],
  ['both are down', 20, 'c b', 'b=down c=down', { queue: queue(25), isTakenOver: false }],
  ['no carrier of the route', 10, 'c', '', undefined],
  ['no route: any of all', 0, 'c', '', { queue: undefined, isTakenOver: true }],
  ['no route, and an unknown carrier', 0, 'd', '', undefined],
])('handOverToOneOf: %s', (_, from, registered, states, expected) => {
  const routes = from === 0 ? [] : [aRoute(10, 'a1 b2'), aRoute(20, 'a1 b2 c3')]
  const all = ['a', 'b', 'c'].map((name) => aCarrierId(name))
  const carriers = registered.split(' ').map((name) => aCarrierId(name))
  expect(handOverToOneOf(routes, queue(from), carriers, all, availabilities(states))).toEqual(expected)
})

test.each<[string, string, string, Lane, string, string]>([
  // Columns: title, carriers of the route, carriers with room, lane, claiming carrier, and the queues from which that
  // carrier may claim, each with its overflow seconds.
  ['the better one has room', 'a1 b2', 'a b', 'single', 'b', '11:-'],
  ['the better one is full', 'a1 b2', 'b', 'single', 'b', '10:2 11:-'],
  ['bulk never moves by default', 'a1 b2', 'b', 'bulk', 'b', '11:-'],
  ['a better one claims as before', 'a1 b2', 'b', 'single', 'a', '10:- 12:-'],
  ['the next one has room', 'a1 b2 c3', 'b c', 'single', 'c', '12:2 16:-'],
  ['all better ones are full', 'a1 b2 c3', 'c', 'single', 'c', '10:2 11:2 12:2 16:-'],
  ['messages for one carrier only do not overflow', 'a1 b2 c3', 'b', 'single', 'b', '10:2 11:- 13:2 15:-'],
])('%s', (_, carriers, roomy, lane, claimer, expected) => {
  const hasRoom = (carrier: string): boolean => roomy.split(' ').includes(carrier)
  const found = claimableQueues([aRoute(10, carriers)], aCarrierId(claimer), () => 'available', { lane, hasRoom })
  expect(found.map((one) => `${one.queue}:${one.overflowSeconds ?? '-'}`).join(' ')).toBe(expected)
})

test('a route sets for each lane the seconds after which messages overflow', () => {
  const route = { ...aRoute(10, 'a1 b2'), overflow: { single: 'never', bulk: 60 } } as const
  const over = (lane: Lane) =>
    claimableQueues([route], aCarrierId('b'), () => 'available', { lane, hasRoom: () => false })
      .filter(({ queue: number }) => number === 10)
      .map(({ overflowSeconds }) => overflowSeconds)
  expect([over('single'), over('bulk')]).toEqual([[], [60]])
})
