import type { CarrierId } from '@gateway/core/dispatch'
import type { ObservedTraffic, TrafficObserver } from '@gateway/core/fleet'
import { aCarrierId, memoryPorts, until } from '@gateway/core/testing'
import { createLog } from '@gateway/server'
import { followWatches } from './follow-watches.ts'
import { Heartbeat } from './heartbeat.ts'

const log = createLog({ level: 'silent', name: 'test' })
const [one, two] = [aCarrierId('one'), aCarrierId('two')]
const aPdu: ObservedTraffic = { direction: 'sent', role: 'transceiver', fields: { command: 'submit_sm' } }

test('watched carriers are observed until the watch ends, and their PDUs are reported in limited batches', async () => {
  const { clock, fleet } = memoryPorts()
  const process = { id: '0195e9c4-0000-4000-8000-000000000001', host: 'alpha', pid: 11 }
  const user = { process, version: 1, simulated: undefined }
  const heartbeat = new Heartbeat({ fleet, user, leaseSeconds: 30, log })
  await heartbeat.start()
  let observed: ReadonlyMap<CarrierId, readonly TrafficObserver[]> = new Map()
  let looks = 0
  const observe = (next: typeof observed): void => {
    observed = next
    looks++
  }
  const dispatching = { observe }
  const following = followWatches({ heartbeat, fleet, clock, process, dispatching, log })
  const watch = { id: 'a', carrier: one, number: undefined, hasText: false }
  await fleet.renewWatch(watch, 60)
  await fleet.renewWatch({ ...watch, id: 'b', number: '27825550101' }, 60)
  const observers = await until(() => (observed.get(one)?.length === 2 ? observed.get(one) : undefined))
  expect([observed.get(two), observers[1]?.number]).toEqual([undefined, '27825550101'])
  for (let nth = 0; nth < 60; nth++) observers[0]?.saw(aPdu)
  const reported = await until(async () => {
    const some = await fleet.takeTraffic('a', 100)
    return some.length > 0 ? some : undefined
  })
  expect(reported).toHaveLength(50)
  expect(reported[0]).toMatchObject({ ...aPdu, watch: 'a', host: 'alpha', pid: 11, leftOut: 0 })
  observers[0]?.saw(aPdu)
  const [next] = await until(async () => {
    const some = await fleet.takeTraffic('a', 100)
    return some.length > 0 ? some : undefined
  })
  expect(next?.leftOut).toBe(10)
  await fleet.endWatch('a')
  await until(() => observed.get(one)?.length === 1)
  expect(observed.get(one)?.[0]).toBe(observers[1])
  await fleet.endWatch('b')
  await until(() => observed.size === 0)
  expect(looks).toBeLessThan(5)
  await following.stop()
  await heartbeat.stop()
})
