import { carrierId } from '@gateway/core/dispatch'
import { instant } from '@gateway/core/time'
import { memoryCarrierShares } from '../testing/memory-carrier-shares.ts'
import type { CarrierRates } from './carrier-rates.ts'
import { Pace } from './pace.ts'
import { SharedRate } from './shared-rate.ts'

const carrier = carrierId('shared') ?? failed()

function failed(): never {
  throw new Error('no name')
}

/** Creates processes that share a carrier with a rate of 20 parts a second. Time is simulated in steps of 10 ms. */
function aCarrier(perSecond = 20) {
  let now = 0
  const { carrierRates } = memoryCarrierShares({ now: () => instant(now) })
  const departures: number[] = []
  const processes: { demand: number; parts: number; step: () => Promise<void> }[] = []

  return {
    departures,
    /** Adds a process that needs `perSecondNeeded`, and counts the parts that it sends. */
    process(perSecondNeeded: number, store: CarrierRates = carrierRates, notes: string[] = []) {
      const pace = new Pace(perSecond)
      const rate = new SharedRate({
        ...{ carrier, rates: store, perSecond, leaseSeconds: 10, pace, changed: () => undefined },
        ...{ notify: (text) => notes.push(text), now: () => now },
      })
      let owed = 0
      const one = {
        demand: perSecondNeeded,
        parts: 0,
        async step() {
          if (now % 250 === 0) await rate.look()
          // Behaves like a dispatcher that claims no more messages than can be sent soon.
          owed = Math.min(5, owed + one.demand / 100)
          for (; owed >= 1 && pace.take(1, now) === 1; owed--) {
            one.parts++
            departures.push(now)
          }
        },
      }
      processes.push(one)
      const leave = () => void processes.splice(processes.indexOf(one), 1)
      return { stop: () => rate.stop(), one, leave }
    },
    async run(seconds: number) {
      for (const end = now + seconds * 1000; now < end; now += 10) for (const one of processes) await one.step()
    },
    most: () => Math.max(...departures.map((from) => departures.filter((at) => at >= from && at < from + 1000).length)),
    store: carrierRates,
  }
}

test('two processes that each need the whole rate get half of it, and no period of one second exceeds the rate by more than one', async () => {
  const shared = aCarrier()
  const [one, two] = [shared.process(100), shared.process(100)]
  await shared.run(6)
  const [before, since] = [one.one.parts, two.one.parts]
  await shared.run(10)
  expect(one.one.parts - before).toBeGreaterThan(85)
  expect(two.one.parts - since).toBeGreaterThan(85)
  expect(shared.most()).toBeLessThanOrEqual(21)
})

test('the unused share of one process goes to the other within seconds, and back again', async () => {
  const shared = aCarrier()
  const [one, two] = [shared.process(100), shared.process(0)]
  await shared.run(6)
  let before = one.one.parts
  await shared.run(10)
  expect(one.one.parts - before).toBeGreaterThan(165)
  one.one.demand = 2
  two.one.demand = 100
  await shared.run(6)
  before = two.one.parts
  await shared.run(10)
  expect(two.one.parts - before).toBeGreaterThan(150)
  expect(shared.most()).toBeLessThanOrEqual(21)
})

test('the share of a process that stops, or is killed, goes to the others', async () => {
  const shared = aCarrier()
  const [one, two, three] = [shared.process(100), shared.process(100), shared.process(100)]
  await shared.run(6)
  two.leave()
  await two.stop()
  three.leave()
  await shared.run(7)
  const before = one.one.parts
  await shared.run(5)
  expect(one.one.parts - before).toBeGreaterThan(85)
  expect(shared.most()).toBeLessThanOrEqual(21)
})

test('while the store is unavailable each process keeps its last share and reports it once', async () => {
  const shared = aCarrier()
  let isAway = false
  const notes: string[] = []
  const store: CarrierRates = {
    renew: (...parameters) => (isAway ? Promise.reject(new Error('away')) : shared.store.renew(...parameters)),
  }
  const [one, two] = [shared.process(100, store, notes), shared.process(100, store)]
  await shared.run(10)
  isAway = true
  const [before, since] = [one.one.parts, two.one.parts]
  await shared.run(20)
  expect(one.one.parts - before).toBeGreaterThan(170)
  expect(two.one.parts - since).toBeGreaterThan(170)
  expect(shared.most()).toBeLessThanOrEqual(21)
  expect(notes).toEqual(['its rate cannot be shared, and stays 10 a second: away'])
  isAway = false
  const [oneBack, twoBack] = [one.one.parts, two.one.parts]
  await shared.run(3)
  expect([one.one.parts - oneBack, two.one.parts - twoBack]).toEqual([expect.closeTo(30, -1), expect.closeTo(30, -1)])
  expect(shared.most()).toBeLessThanOrEqual(21)
})

test('a carrier of one a second is used by one process at a time', async () => {
  const shared = aCarrier(1)
  shared.process(100)
  shared.process(100)
  await shared.run(20)
  expect(shared.departures.length).toBeGreaterThan(15)
  expect(shared.most()).toBeLessThanOrEqual(2)
})
