import { strict as assert } from 'node:assert'
import { scriptedCarrier } from '@gateway/core/testing'
import { dispatchWorld, type Disturb, type DispatchWorld } from '../../testing/dispatch-world.ts'
import { Claims } from './claims.ts'
import type { Mode } from './dispatcher-mode.ts'
import { dispatcherDefaults } from './dispatcher-settings.ts'
import { FlowControl } from './flow-control.ts'
import { InFlight } from './in-flight.ts'
import { BrokenInvariant } from './open-batch.ts'
import { OutcomeWriter } from './outcome-writer.ts'
import { RouteTurns } from './route-turns.ts'
import { Submissions } from './submissions.ts'

const inDoubtMax = 20

/** Creates claims and submissions without a dispatcher, so that the test itself makes all calls. */
function parts(world: DispatchWorld, disturb: Disturb = () => undefined) {
  const now: { mode: Mode } = { mode: 'working' }
  const mode = () => now.mode
  const carrier = scriptedCarrier({ outcomeOf: () => 'held' })
  const inFlight = new InFlight(inDoubtMax)
  const turns = new RouteTurns({ list: () => Promise.resolve([]) }, world.clock)
  turns.join({ carrier: carrier.id, availability: () => 'available', hasRoom: () => true, changed: () => undefined })
  const ports = { ...world.disturbed(disturb, inDoubtMax), clock: world.clock }
  const outcomes = new OutcomeWriter(ports, inFlight, () => 0)
  const flow = new FlowControl(world.clock, carrier, inFlight, dispatcherDefaults)
  const callbacks = { answered: () => undefined, ended: () => undefined }
  const all = { inFlight, outcomes, flow, turns, mode, ...callbacks }
  return {
    ...{ now, carrier, inFlight },
    claims: new Claims(ports, carrier.id, all, dispatcherDefaults),
    submissions: new Submissions(ports, carrier, all, dispatcherDefaults),
  }
}

const lostAt =
  (...claims: readonly number[]): Disturb =>
  (call, nth) =>
    call === 'claim' && claims.includes(nth) ? 'fails after its work' : undefined

test('messages that a failed claim may have marked count as in doubt until they are given back', async () => {
  const world = await dispatchWorld()
  await world.accept(5)
  const { claims, inFlight } = parts(world, lostAt(1))
  await expect(claims.claim('single', 5, 5)).rejects.toThrow('claim 1 fails')
  expect([inFlight.hasLostClaims(), inFlight.inDoubt(), inFlight.claiming()]).toEqual([true, 5, 0])
  expect([await claims.disownLost(), await claims.disownLost()]).toEqual([true, false])
  expect([inFlight.hasLostClaims(), inFlight.inDoubt()]).toEqual([false, 0])
  expect([await claims.claim('single', 5, 5), inFlight.batches()]).toMatchObject(['claimed', [{ open: 5, marked: 5 }]])
})

test('nothing is given back while another claim may still return a batch', async () => {
  const world = await dispatchWorld()
  await world.accept(5)
  const seen: boolean[] = []
  const { claims } = parts(world, (call, nth) =>
    call === 'claim' && nth === 2 ? async () => void seen.push(await claims.disownLost()) : lostAt(1)(call, nth),
  )
  await expect(claims.claim('single', 5, 5)).rejects.toThrow()
  await claims.claim('bulk', 5, 5)
  expect([seen, await claims.disownLost()]).toEqual([[false], true])
})

test('an epoch that ends in good order leaves no message of a failed claim unknown', async () => {
  const world = await dispatchWorld()
  const ids = await world.accept(5)
  const { claims } = parts(world, lostAt(1))
  await expect(claims.claim('single', 5, 5)).rejects.toThrow()
  await claims.end()
  const another = parts(world)
  await another.claims.claim('single', 5, 5)
  expect(another.inFlight.batches()).toMatchObject([{ open: ids.length }])
})

test.each<Mode>(['broken', 'ended'])('a claim under way when a dispatcher becomes %s opens nothing', async (mode) => {
  const world = await dispatchWorld()
  await world.accept(5)
  const { now, claims, inFlight } = parts(world, (call) =>
    call === 'claim' ? () => Promise.resolve((now.mode = mode)) : undefined,
  )
  expect(await claims.claim('single', 5, 5)).toBe('nothing')
  expect([inFlight.batches(), inFlight.claiming()]).toEqual([[], 0])
  expect(await claims.claim('single', 5, 5)).toBe('nothing')
})

test('concurrent callers share one new epoch after the old one was declared dead', async () => {
  const world = await dispatchWorld()
  await world.accept(5)
  const registered: number[] = []
  const { claims } = parts(world, (call, nth) => {
    if (call === 'register') registered.push(nth)
    return call === 'claim' && nth === 1 ? async () => world.ports.claimedBatches.retire(await first) : undefined
  })
  const first = claims.epoch()
  expect(await claims.claim('single', 5, 5)).toBe('nothing')
  const [second, third] = await Promise.all([claims.epoch(), claims.epoch()])
  expect([second === third, second === (await first), registered]).toEqual([true, false, [1, 2]])
})

test.each<Mode>(['broken', 'ended'])('nothing marked is submitted by a dispatcher that is %s', async (mode) => {
  const world = await dispatchWorld()
  await world.accept(5)
  const { now, carrier, inFlight, claims, submissions } = parts(world)
  await claims.claim('single', 5, 5)
  const [batch = assert.fail('nothing was claimed')] = inFlight.batches()
  submissions.submit(batch, 2)
  now.mode = mode
  expect(() => submissions.submit(batch)).toThrow(BrokenInvariant)
  expect([carrier.submitted.length, batch.next]).toEqual([2, 2])
})
