import { setImmediate as nextTurn } from 'node:timers/promises'
import {
  aCarrierId,
  aNumber,
  anOrder,
  aSender,
  numbers,
  untilInTurns,
  type ScriptedCarrier,
} from '@gateway/core/testing'
import { dispatchWorld, type DispatchWorld } from '../../testing/dispatch-world.ts'
import { endDispatchers, startDispatcher, type DispatcherOptions } from '../../testing/start-dispatcher.ts'
import { createProcessing } from '../processing.ts'
import { RouteTurns } from './route-turns.ts'
import type { Route, RouteCarrier } from '../routes/routes.ts'

afterEach(endDispatchers)

const over = (name: string, changes: Partial<RouteCarrier> = {}): RouteCarrier => ({
  ...{ carrier: aCarrierId(name), priority: 1, weight: 1 },
  ...changes,
})
const others = (...carriers: readonly RouteCarrier[]): Route => ({
  ...{ name: 'others', prefixes: [], accounts: [], senders: [], carriers },
})
const first = { ...others(over('a')), name: 'first', prefixes: ['27820'] }

interface Process {
  readonly world: DispatchWorld
  readonly start: (id: string, options?: DispatcherOptions) => ScriptedCarrier
}

/** Creates the dispatchers of one process, and the periodic work. */
async function aProcess(...routes: readonly Route[]): Promise<Process> {
  const world = await dispatchWorld()
  await world.ports.routes.publish(routes)
  const turns = new RouteTurns(world.ports.routes, world.clock)
  return { world, start: (id, options) => startDispatcher(world, { id, turns, ...options }).carrier }
}

async function send({ ports, account }: DispatchWorld, to: ReturnType<typeof numbers>): Promise<void> {
  const accepted = await ports.messages.accept(anOrder(account.id, { to, costs: [0] }))
  if (typeof accepted === 'string') throw new Error(accepted)
}

const idsOf = ({ submitted }: ScriptedCarrier) => submitted.map(({ id }) => id)

test('a carrier that never answers, with thousands of messages queued, delays no message of another route', async () => {
  const { world, start } = await aProcess(first, others(over('b')))
  const dead = start('a', { outcomeOf: () => 'held', window: 50 })
  const alive = start('b', { window: 50 })
  await send(world, numbers(1000, '01'))
  await send(world, numbers(1000, '02'))
  await untilInTurns(() => dead.submitted.length > 0)
  await send(world, [aNumber('27831234567')])
  await untilInTurns(() => alive.submitted.length === 1)
  expect(dead.submitted.length).toBeLessThanOrEqual(50)
})

test('a carrier that is down claims nothing, and messages of its route wait until it is up', async () => {
  const { world, start } = await aProcess(first, others(over('b')))
  const carrier = start('a', { availability: 'down' })
  start('b')
  await send(world, numbers(20))
  await send(world, numbers(1))
  await expect(untilInTurns(() => carrier.submitted.length > 0, 0.1)).rejects.toThrow()
  carrier.become('available')
  await untilInTurns(() => carrier.submitted.length === 21)
})

test('carriers of equal priority get waiting messages roughly in proportion to their weights', async () => {
  const { world, start } = await aProcess(others(over('a', { weight: 3 }), over('b')))
  const [a, b] = [start('a', { window: 100 }), start('b', { window: 100 })]
  for (let sends = 0; sends < 4; sends++) await send(world, numbers(1000))
  await untilInTurns(() => a.submitted.length + b.submitted.length === 4000)
  expect(a.submitted.length / 4000).toBeGreaterThan(0.65)
  expect(a.submitted.length / 4000).toBeLessThan(0.85)
})

test('a carrier with a full window does not delay others of its priority', async () => {
  const { world, start } = await aProcess(others(over('a'), over('b')))
  const full = start('a', { outcomeOf: () => 'held', window: 10 })
  const other = start('b', { window: 50 })
  await send(world, numbers(1000))
  await untilInTurns(() => full.submitted.length > 0 && other.submitted.length > 400)
})

test('while the first carrier of a route is down the second one gets its messages, even claimed ones', async () => {
  const { world, start } = await aProcess(others(over('a'), over('b', { priority: 2 })))
  const a = start('a', { availability: 'available', outcomeOf: () => 'held', window: 10 })
  const b = start('b', { window: 100 })
  await send(world, numbers(300))
  await untilInTurns(() => a.submitted.length > 0)
  expect(b.submitted).toEqual([])
  a.become('down')
  await untilInTurns(() => b.submitted.length >= 290)
  await untilInTurns(() => {
    a.release('unknown')
    return world.waiting() === 0
  })
  expect(new Set([...idsOf(a), ...idsOf(b)]).size).toBe(300)
})

test('messages refused for now go to the other carrier first; messages that may have been accepted go to no other', async () => {
  const { world, start } = await aProcess(others(over('a'), over('b', { priority: 2 })))
  const a = start('a', { outcomeOf: ({ to }) => (to.endsWith('01') ? 'refused-for-now' : 'unknown') })
  const b = start('b')
  await send(world, [...numbers(5, '01'), ...numbers(5, '02')])
  const processing = createProcessing({ ...world.ports, clock: world.clock })
  await untilInTurns(async () => {
    await processing.promote()
    return b.submitted.length === 5
  })
  expect(b.submitted.every(({ to }) => to.endsWith('01'))).toBe(true)
  expect(a.submitted.length).toBe(10)
  await untilInTurns(() => world.waiting() === 0)
})

test('messages that a carrier refused for now stay with it while no other carrier is up', async () => {
  const { world, start } = await aProcess(others(over('a'), over('b', { priority: 2 })))
  const a = start('a', { outcomeOf: (_, attempt) => (attempt === 1 ? 'refused-for-now' : 'accepted') })
  start('b', { availability: 'down' })
  await send(world, numbers(3))
  const processing = createProcessing({ ...world.ports, clock: world.clock })
  await untilInTurns(async () => {
    world.clock.step(1)
    await processing.promote()
    return a.submitted.length === 6
  })
})

/** Accepts one message to each number from a sender that is registered only with these carriers. */
async function sendFromName({ ports, account }: DispatchWorld, to: ReturnType<typeof numbers>, ...over: string[]) {
  const name = { account: account.id, sender: aSender('Acme'), destinations: [], defaultFor: [] }
  const carriers = over.map((one) => aCarrierId(one))
  await ports.senders.allow({ ...name, carriers, otherwise: 'refuse' })
  const accepted = await ports.messages.accept(anOrder(account.id, { to, costs: [0], senders: [name.sender] }))
  if (typeof accepted === 'string') throw new Error(accepted)
}

test.each([['b'], ['c']])('a sender registered only with carrier %s of three is sent over it', async (knowing) => {
  const carriers = ['a', 'b', 'c'].map((name, i) => over(name, { priority: i + 1 }))
  const { world, start } = await aProcess(others(...carriers))
  const started = new Map(carriers.map(({ carrier }) => [carrier as string, start(carrier)]))
  await sendFromName(world, [...numbers(20, '01'), ...numbers(1, '02')], knowing)
  const processing = createProcessing({ ...world.ports, clock: world.clock })
  await untilInTurns(async () => {
    await processing.promote()
    return started.get(knowing)?.submitted.length === 21
  })
  await untilInTurns(() => world.waiting() === 0)
  expect([...started.values()].reduce((sum, { submitted }) => sum + submitted.length, 0)).toBe(21)
})

test('a message whose sender is registered only with a carrier that is down waits for it', async () => {
  const { world, start } = await aProcess(others(over('a'), over('b', { priority: 2 })))
  const [a, b] = [start('a'), start('b', { availability: 'down' })]
  await sendFromName(world, numbers(3), 'b')
  const processing = createProcessing({ ...world.ports, clock: world.clock })
  const move = async (): Promise<void> => {
    world.clock.step(1)
    await processing.promote()
  }
  await untilInTurns(async () => {
    await move()
    return world.store.later.allOf(world.account.id).some(({ attempt }) => attempt > 1)
  })
  b.become('available')
  await untilInTurns(async () => {
    await move()
    return b.submitted.length === 3
  })
  expect(a.submitted).toEqual([])
})

test('a message whose sender no carrier of the route has registered is refused, and goes to no other route', async () => {
  const { world, start } = await aProcess(first, others(over('b')))
  const [a, b] = [start('a'), start('b')]
  await sendFromName(world, numbers(3), 'b')
  await untilInTurns(() => world.waiting() === 0)
  expect([...a.submitted, ...b.submitted]).toEqual([])
})

test('messages that wait in a withdrawn route are sent over another route', async () => {
  const { world, start } = await aProcess(first, others(over('b')))
  start('a', { availability: 'down' })
  const b = start('b')
  await send(world, numbers(20))
  await world.ports.routes.publish([others(over('b'))])
  await createProcessing({ ...world.ports, clock: world.clock }).reroute()
  await untilInTurns(() => b.submitted.length === 20)
})

test('a carrier that becomes throttled gives unmarked messages to a carrier of the next priority with room', async () => {
  const { world, start } = await aProcess(others(over('a'), over('b', { priority: 2 })))
  const a = start('a', { availability: 'available', outcomeOf: () => 'held', window: 10 })
  const b = start('b', { window: 100 })
  await send(world, numbers(100))
  await untilInTurns(() => a.submitted.length > 0)
  const sentByA = a.submitted.length
  a.become('throttled')
  await untilInTurns(() => b.submitted.length === 100 - sentByA)
  expect(a.submitted).toHaveLength(sentByA)
})

test('a throttled carrier without an alternative keeps its messages', async () => {
  const { world, start } = await aProcess(others(over('a')))
  const a = start('a', { availability: 'available', outcomeOf: () => 'held', window: 10 })
  await send(world, numbers(100))
  await untilInTurns(() => a.submitted.length > 0)
  a.become('throttled')
  while (a.submitted.length < 100) {
    a.release('accepted', 1)
    await nextTurn()
  }
})

test('a probing carrier first gets the messages it has room for, and the next priority gets the rest', async () => {
  const { world, start } = await aProcess(others(over('a'), over('b', { priority: 2 })))
  const a = start('a', { availability: 'probing', outcomeOf: () => 'held', window: 1 })
  const b = start('b', { window: 100 })
  for (let sent = 0; sent < 20; sent++) await send(world, numbers(1))
  await send(world, numbers(30, '02'))
  await untilInTurns(() => a.submitted.length + b.submitted.length === 50)
  expect(a.submitted).toHaveLength(1)
  a.release('accepted')
  await send(world, numbers(1))
  await untilInTurns(() => a.submitted.length === 2)
})

test('a throttled carrier gets every message for which it has room', async () => {
  const { world, start } = await aProcess(others(over('a'), over('b', { priority: 2 })))
  const [a, b] = [start('a', { availability: 'throttled' }), start('b')]
  for (let sent = 1; sent <= 20; sent++) {
    await send(world, numbers(1))
    await untilInTurns(() => a.submitted.length + b.submitted.length === sent)
  }
  expect(b.submitted).toEqual([])
})

test('a probe may be a bulk message, even while others have no answer', async () => {
  const { world, start } = await aProcess(others(over('a')))
  let room = 20
  const a = start('a', { availability: 'available', outcomeOf: () => 'held', room: () => room - a.unanswered.length })
  await send(world, numbers(100))
  await untilInTurns(() => a.submitted.length >= 10)
  const lost = a.submitted.length
  room = lost + 1
  a.become('probing')
  await untilInTurns(() => a.submitted.length === lost + 1)
})

test('marked messages that cannot be submitted because the carrier is down are not unknown after a stop', async () => {
  const world = await dispatchWorld()
  let [room, isArmed] = [10, false]
  const { carrier, dispatcher } = startDispatcher(world, {
    ...{ window: 10, availability: 'available', outcomeOf: () => 'held', room: () => room },
    handBack: () => void carrier.release('refused-for-now'),
    disturb: (call) => {
      if (call === 'claim' && isArmed) room = 0
      return undefined
    },
  })
  isArmed = true
  await world.accept(10)
  await untilInTurns(() => dispatcher.state().inDoubt === 10)
  expect(carrier.submitted).toEqual([])
  carrier.become('down')
  await dispatcher.drain(new Promise(() => undefined))
  // All messages wait again. If the dispatcher had left them in doubt, they would have ended with code 106.
  expect(world.waiting()).toBe(10)
})
