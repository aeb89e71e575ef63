import { livenessStep } from './liveness.ts'
import { createPace } from './pace.ts'
import { reconnectDelay } from './link.ts'

test.each([
  ['it has just spoken', 0, undefined, 14_999, 'nothing'],
  ['it is silent', 0, undefined, 15_000, 'enquire'],
  ['it was asked a moment ago', 0, 15_000, 29_999, 'nothing'],
  ['it has not answered', 0, 15_000, 30_000, 'dead'],
  ['it has spoken since it was asked', 16_000, 15_000, 31_000, 'enquire'],
] as const)('%s', (_, receivedAt, enquiredAt, now, step) => {
  expect(livenessStep(receivedAt, enquiredAt, 15_000, now)).toBe(step)
})

test('the wait for a connection doubles up to its longest, and half of it is chance', () => {
  expect([1, 2, 3, 6, 100].map((failures) => reconnectDelay(failures, 1, 30, 1))).toEqual([1, 2, 4, 30, 30])
  expect(reconnectDelay(3, 1, 30, 0)).toBe(2)
})

describe('pace', () => {
  test('without a limit everything may leave; with one so much a second, in bursts of a tenth', () => {
    expect(createPace(undefined).take(1000, 0)).toBe(1000)
    const pace = createPace(100)
    expect(pace.take(50, 0)).toBe(10)
    expect(pace.take(50, 0)).toBe(0)
    expect(pace.nextAt(0)).toBeCloseTo(10)
    expect(pace.take(50, 1000)).toBe(10)
  })

  test.each([1, 20, 333])(
    '%d a second: no second of the carrier, wherever it begins, gets more where one is 9 ms late, and the rate is used',
    (perSecond) => {
      const pace = createPace(perSecond)
      const left: number[] = []
      let seed = 7
      for (let now = 0; now < 20_000; now += 1 + ((seed = (seed * 16_807) % 2_147_483_647) % 40))
        for (let taken = pace.take(50, now); taken > 0; taken--) left.push(now)
      const within = (start: number) => left.filter((at) => at >= start && at < start + 1009).length
      expect(Math.max(...left.map(within))).toBeLessThanOrEqual(Math.ceil(perSecond))
      expect(left.length).toBeGreaterThan(20 * perSecond * 0.8)
    },
  )

  test('after a pause it tells when the next may leave', () => {
    const pace = createPace(20)
    const left: number[] = []
    for (let now = 0; left.length < 100; now = pace.nextAt(now))
      for (let n = pace.take(9, now); n > 0; n--) left.push(now)
    expect(left.at(-1)).toBeLessThan(5200)
  })

  test('a throttling error stops it, then it goes on with less than was taken, faster each second, and is free after a minute', () => {
    const pace = createPace(undefined)
    for (let i = 0; i < 80; i++) pace.accepted(i)
    pace.throttled(100)
    pace.throttled(101) // the rest of the window
    expect([pace.take(1, 599), pace.nextAt(200)]).toEqual([0, 600])
    expect(pace.state(600)).toEqual({ perSecond: 64, isThrottled: true })
    expect(pace.state(1600).perSecond).toBeCloseTo(70.4)
    expect([pace.isPaused(599), pace.isPaused(600)]).toEqual([true, false])
    expect(pace.state(61_000)).toEqual({ perSecond: undefined, isThrottled: false })
  })

  test('of a carrier that takes 20 in each of its seconds at least 14 a second are used', () => {
    const pace = createPace(undefined)
    const perSecond = 20
    let [taken, second, inSecond] = [0, -1, 0]
    const refused: number[] = []
    for (let now = 0; now < 60_000; now += 10) {
      if (Math.floor(now / 1000) !== second) [second, inSecond] = [Math.floor(now / 1000), 0]
      for (let n = pace.take(10, now); n > 0; n--) {
        if (++inSecond <= perSecond) {
          taken++
          pace.accepted(now)
        } else {
          refused.push(now)
          pace.throttled(now)
        }
      }
    }
    expect(taken / 60).toBeGreaterThan(14)
    expect(refused.length).toBeLessThan(60)
  })

  test('each further error before anything was taken makes the pause longer, up to eight seconds', () => {
    const pace = createPace(undefined)
    const pauses: number[] = []
    for (let now = 0; pauses.length < 7; now = pace.nextAt(now)) {
      pace.throttled(now)
      pauses.push(pace.nextAt(now) - now)
      now = pace.nextAt(now)
    }
    expect(pauses).toEqual([500, 1000, 2000, 4000, 8000, 8000, 8000])
  })
})
