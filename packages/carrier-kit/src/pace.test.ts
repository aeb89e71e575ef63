import { Pace } from './pace.ts'

test('without a limit everything may be sent; a limit allows bursts of a tenth of a second', () => {
  expect(new Pace(undefined).take(1000, 0)).toBe(1000)
  const pace = new Pace(100)
  expect(pace.take(50, 0)).toBe(10)
  expect(pace.take(50, 0)).toBe(0)
  expect(pace.nextAt(0)).toBeCloseTo(10)
  expect(pace.take(50, 1000)).toBe(10)
})

test.each([1, 20, 333])(
  '%d a second: no second of the carrier, wherever it begins, gets more where one is 9 ms late, and the rate is used',
  (perSecond) => {
    const pace = new Pace(perSecond)
    const departures: number[] = []
    let seed = 7
    for (let now = 0; now < 20_000; now += 1 + ((seed = (seed * 16_807) % 2_147_483_647) % 40))
      for (let count = pace.take(50, now); count > 0; count--) departures.push(now)
    const within = (start: number) => departures.filter((at) => at >= start && at < start + 1009).length
    expect(Math.max(...departures.map(within))).toBeLessThanOrEqual(Math.ceil(perSecond))
    expect(departures.length).toBeGreaterThan(20 * perSecond * 0.8)
  },
)

test('after a pause nextAt returns when the next part may be sent', () => {
  const pace = new Pace(20)
  const departures: number[] = []
  for (let now = 0; departures.length < 100; now = pace.nextAt(now))
    for (let n = pace.take(9, now); n > 0; n--) departures.push(now)
  expect(departures.at(-1)).toBeLessThan(5200)
})

test('after a throttling error sending pauses, resumes slower, speeds up each second, and is unlimited after a minute', () => {
  const pace = new Pace(undefined)
  for (let i = 0; i < 80; i++) pace.accepted(i)
  pace.throttled(100)
  pace.throttled(101) // The rest of the window is throttled too.
  expect([pace.take(1, 599), pace.nextAt(200)]).toEqual([0, 600])
  expect(pace.state(600)).toEqual({ perSecond: 64, isThrottled: true })
  expect(pace.state(1600).perSecond).toBeCloseTo(70.4)
  expect([pace.isPaused(599), pace.isPaused(600)]).toEqual([true, false])
  expect(pace.state(61_000)).toEqual({ perSecond: undefined, isThrottled: false })
})

test('at least 14 a second are used of a carrier that accepts 20 in each of its seconds', () => {
  const pace = new Pace(undefined)
  const perSecond = 20
  let [accepted, second, inSecond] = [0, -1, 0]
  const refused: number[] = []
  for (let now = 0; now < 60_000; now += 10) {
    if (Math.floor(now / 1000) !== second) [second, inSecond] = [Math.floor(now / 1000), 0]
    for (let n = pace.take(10, now); n > 0; n--) {
      if (++inSecond <= perSecond) {
        accepted++
        pace.accepted(now)
      } else {
        refused.push(now)
        pace.throttled(now)
      }
    }
  }
  expect(accepted / 60).toBeGreaterThan(14)
  expect(refused.length).toBeLessThan(60)
})

test('each further error before a part is accepted doubles the pause, up to eight seconds', () => {
  const pace = new Pace(undefined)
  const pauses: number[] = []
  for (let now = 0; pauses.length < 7; now = pace.nextAt(now)) {
    pace.throttled(now)
    pauses.push(pace.nextAt(now) - now)
    now = pace.nextAt(now)
  }
  expect(pauses).toEqual([500, 1000, 2000, 4000, 8000, 8000, 8000])
})

test('a throttling error that requests a pause gets it, also while another pause lasts, and an hour at most', () => {
  const pace = new Pace(undefined)
  pace.throttled(0, 30_000)
  expect([pace.nextAt(0), pace.take(1, 29_999), pace.take(1, 30_100)]).toEqual([30_000, 0, 1])
  pace.throttled(31_000)
  pace.throttled(31_100, 5000)
  pace.throttled(31_200, 1000)
  expect(pace.nextAt(31_200)).toBe(36_100)
  pace.throttled(40_000, 1e12)
  expect(pace.nextAt(40_000)).toBe(3_640_000)
  expect(pace.state(3_640_001).isThrottled).toBe(true)
})
