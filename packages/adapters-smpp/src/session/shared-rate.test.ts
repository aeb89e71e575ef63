import { carrierId } from '@gateway/core/dispatch'
import type { CarrierRates } from '@gateway/core/fleet'
import { instant } from '@gateway/core/time'
import { memoryPorts } from '@gateway/core/testing'
import { createPace } from './pace.ts'
import { shareRate } from './shared-rate.ts'

const carrier = carrierId('shared') ?? failed()

function failed(): never {
  throw new Error('no name')
}

/** Processes that share a carrier of 20 a second, in a time of its own that moves in steps of 10 ms. */
function aCarrier(perSecond = 20) {
  let now = 0
  const { carrierRates } = memoryPorts({ clock: { now: () => instant(now) } })
  const left: number[] = []
  const processes: { wanted: number; taken: number; step: () => Promise<void> }[] = []

  return {
    left,
    /** A process that wants so many a second, and what it has got so far. */
    process(wanted: number, store: CarrierRates = carrierRates, notes: string[] = []) {
      const pace = createPace(perSecond)
      const rate = shareRate({
        ...{ carrier, rates: store, perSecond, leaseSeconds: 10, pace, changed: () => undefined },
        ...{ notify: (what) => notes.push(what), now: () => now },
      })
      let owed = 0
      const one = {
        wanted,
        taken: 0,
        async step() {
          if (now % 250 === 0) await rate.look()
          // As a dispatcher that takes no more than leaves soon.
          owed = Math.min(5, owed + one.wanted / 100)
          for (; owed >= 1 && pace.take(1, now) === 1; owed--) {
            one.taken++
            left.push(now)
          }
        },
      }
      processes.push(one)
      const leave = () => void processes.splice(processes.indexOf(one), 1)
      return { ...rate, one, leave }
    },
    async run(seconds: number) {
      for (const end = now + seconds * 1000; now < end; now += 10) for (const one of processes) await one.step()
    },
    most: () => Math.max(...left.map((from) => left.filter((at) => at >= from && at < from + 1000).length)),
    store: carrierRates,
  }
}

test('two that want all get half each, and no second, wherever it begins, gets more than the carrier takes and one', async () => {
  const shared = aCarrier()
  const [one, two] = [shared.process(100), shared.process(100)]
  await shared.run(6)
  const [before, since] = [one.one.taken, two.one.taken]
  await shared.run(10)
  expect(one.one.taken - before).toBeGreaterThan(85)
  expect(two.one.taken - since).toBeGreaterThan(85)
  expect(shared.most()).toBeLessThanOrEqual(21)
})

test('what one does not need the other gets within seconds, and back again', async () => {
  const shared = aCarrier()
  const [one, two] = [shared.process(100), shared.process(0)]
  await shared.run(6)
  let before = one.one.taken
  await shared.run(10)
  expect(one.one.taken - before).toBeGreaterThan(165)
  one.one.wanted = 2
  two.one.wanted = 100
  await shared.run(6)
  before = two.one.taken
  await shared.run(10)
  expect(two.one.taken - before).toBeGreaterThan(150)
  expect(shared.most()).toBeLessThanOrEqual(21)
})

test('who stops, or is gone, leaves its share to the others', async () => {
  const shared = aCarrier()
  const [one, two, three] = [shared.process(100), shared.process(100), shared.process(100)]
  await shared.run(6)
  two.leave()
  await two.stop()
  three.leave()
  await shared.run(7)
  const before = one.one.taken
  await shared.run(5)
  expect(one.one.taken - before).toBeGreaterThan(85)
  expect(shared.most()).toBeLessThanOrEqual(21)
})

test('while the store is away, and when it is back, each keeps its last share, and says so once', async () => {
  const shared = aCarrier()
  let isAway = false
  const notes: string[] = []
  const store: CarrierRates = {
    renew: (...given) => (isAway ? Promise.reject(new Error('away')) : shared.store.renew(...given)),
  }
  const [one, two] = [shared.process(100, store, notes), shared.process(100, store)]
  await shared.run(10)
  isAway = true
  const [before, since] = [one.one.taken, two.one.taken]
  await shared.run(20)
  expect(one.one.taken - before).toBeGreaterThan(170)
  expect(two.one.taken - since).toBeGreaterThan(170)
  expect(shared.most()).toBeLessThanOrEqual(21)
  expect(notes).toEqual(['its rate cannot be shared, and stays 10 a second: away'])
  isAway = false
  const [oneBack, twoBack] = [one.one.taken, two.one.taken]
  await shared.run(3)
  expect([one.one.taken - oneBack, two.one.taken - twoBack]).toEqual([expect.closeTo(30, -1), expect.closeTo(30, -1)])
  expect(shared.most()).toBeLessThanOrEqual(21)
})

test('a carrier of one a second is used by one process at a time', async () => {
  const shared = aCarrier(1)
  shared.process(100)
  shared.process(100)
  await shared.run(20)
  expect(shared.left.length).toBeGreaterThan(15)
  expect(shared.most()).toBeLessThanOrEqual(2)
})
