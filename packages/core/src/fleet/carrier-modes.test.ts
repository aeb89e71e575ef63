import { aCarrierId, aNumber, anOrder, numbers, untilInTurns } from '@gateway/core/testing'
import { dispatchWorld, type DispatchWorld } from '../../testing/dispatch-world.ts'
import { endDispatchers, startDispatcher, type DispatcherOptions } from '../../testing/start-dispatcher.ts'
import { RouteTurns } from '../dispatch/route-turns.ts'

afterEach(endDispatchers)

async function accept({ ports, account }: DispatchWorld, to = numbers(200)) {
  const accepted = await ports.messages.accept(anOrder(account.id, { to }))
  if (typeof accepted === 'string') throw new Error(accepted)
  return accepted.results.flat()
}

/**
 * Returns true if no dispatcher holds a claimed message, so that all unfinished messages are due or to be tried again.
 */
const returned = ({ store }: DispatchWorld): boolean =>
  [...store.dispatchers.values()].every(({ batches }) =>
    [...batches.values()].every((batch) => batch.messages.size === 0),
  )

test('a paused carrier gets no message, gives unsent ones back at once, and its answers are stored', async () => {
  const world = await dispatchWorld()
  const { carrier, setMode } = startDispatcher(world, { window: 20, outcomeOf: () => 'held' })
  await accept(world)
  await untilInTurns(() => carrier.unanswered.length > 5)
  setMode('paused')
  const { length } = carrier.submitted
  carrier.release('accepted')
  await untilInTurns(() => returned(world))
  await accept(world, [aNumber('27831234567')])
  await expect(untilInTurns(() => carrier.submitted.length > length, 0.1)).rejects.toThrow()
  expect([world.waiting(), carrier.unanswered.length]).toEqual([201 - length, 0])
  // Marked messages that were not sent wait for another attempt, as after a temporary refusal.
  world.clock.step(600)
  setMode('running')
  await untilInTurns(() => carrier.release('accepted') === 0 && world.waiting() === 0)
  await world.assertTidy()
})

test('messages go to the next carrier of the route while one is paused, and wait if all are paused', async () => {
  const world = await dispatchWorld()
  const carriers = ['a', 'b'].map((name, at) => ({ carrier: aCarrierId(name), priority: at + 1, weight: 1 }))
  await world.ports.routes.publish([{ name: 'all', prefixes: [], accounts: [], senders: [], carriers }])
  const turns = new RouteTurns(world.ports.routes, world.clock)
  const start = (id: string, more: DispatcherOptions = {}) => startDispatcher(world, { id, turns, ...more })
  const [first, second] = [start('a'), start('b')]
  first.setMode('paused')
  await accept(world)
  await untilInTurns(() => second.carrier.submitted.length === 200)
  second.setMode('drained')
  await accept(world)
  await expect(untilInTurns(() => second.carrier.submitted.length > 200, 0.1)).rejects.toThrow()
  first.setMode('running')
  await untilInTurns(() => first.carrier.submitted.length === 200)
})

test('a dispatcher that starts with a paused carrier submits nothing', async () => {
  const world = await dispatchWorld()
  await accept(world)
  const { carrier, setMode } = startDispatcher(world, { mode: 'paused' })
  await expect(untilInTurns(() => carrier.submitted.length > 0, 0.1)).rejects.toThrow()
  setMode('running')
  await untilInTurns(() => carrier.submitted.length === 200)
})
