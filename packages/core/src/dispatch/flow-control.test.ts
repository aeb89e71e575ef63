import { steppingClock } from '@gateway/core/testing'
import { claimSize, markRoom, markSize, Throughput, submitRoom, type Load } from './flow-control.ts'

function setUp() {
  const clock = steppingClock()
  const throughput = new Throughput(clock)
  /**
   * Starts submissions, then reports `count` answers, one every `seconds`, after which `remaining` submissions are
   * outstanding.
   */
  const answers = (count: number, seconds: number, remaining = 10) => {
    throughput.began()
    for (let i = 0; i < count; i++) {
      clock.step(seconds)
      throughput.answered(1, i < count - 1 ? Math.max(remaining, 1) : remaining)
    }
    return throughput.perSecond
  }
  return { clock, throughput, answers }
}

test('the throughput is infinite before the first answer', () => {
  const { throughput, answers } = setUp()
  expect(throughput.perSecond).toBe(Infinity)
  expect(answers(1, 5)).toBeCloseTo(0.2)
})

test('50 answers a second are measured after a tenth of a second', () => {
  expect(setUp().answers(5, 0.02)).toBe(50)
})

test('a pause without outstanding submissions does not count', () => {
  const { clock, answers } = setUp()
  expect(answers(5, 0.02, 0)).toBe(50)
  clock.step(3600)
  expect(answers(5, 0.02)).toBe(50)
})

test('a faster carrier is noticed even if it is never busy for a tenth of a second', () => {
  const { answers } = setUp()
  answers(5, 0.02, 0)
  expect(answers(25, 0.001, 0)).toBe(1000)
})

test('a faster carrier is noticed even if it never has more than one message', () => {
  const { answers } = setUp()
  answers(3, 1)
  expect(answers(1, 0.002, 0)).toBe(500)
})

test('a single slow answer does not lower the throughput', () => {
  const { answers } = setUp()
  answers(100, 0.001)
  expect(answers(1, 0.3, 0)).toBe(1000)
})

test('a slower carrier is noticed, too', () => {
  const { answers } = setUp()
  answers(25, 0.001, 0)
  expect(answers(10, 0.1)).toBeCloseTo(10)
})

test('a window that a slow carrier answers at once does not count as thousands of answers a second', () => {
  const { clock, throughput } = setUp()
  throughput.began()
  for (let turn = 0; turn < 5; turn++) {
    clock.step(4)
    // The first answer of each turn frees the window, so the next window is submitted before the other answers are
    // reported.
    for (const [answers, unanswered] of [
      [1, 16],
      [8, 8],
      [8, 0],
    ] as const)
      throughput.answered(answers, unanswered, 4000)
    clock.step(0.15)
    throughput.answered(1, 16, 4000)
    expect(throughput.perSecond).toBeLessThan(5)
  }
})

test('answers in the same millisecond give a finite throughput', () => {
  const { throughput } = setUp()
  throughput.began()
  throughput.answered(100, 0)
  expect(throughput.perSecond).toBe(100_000)
})

const load: Load = {
  ...{ inDoubtMax: 200, sliceMax: 500, window: 50, answersPerSecond: Infinity, isProbing: false },
  ...{ unanswered: 0, overdue: 0, leaving: 0, inDoubt: 0, ahead: { single: 0, bulk: 0 } },
}

test.each([
  ['before the first answer', Infinity, 50, 37],
  ['with a thousand answers a second (one window ahead)', 1000, 100, 100],
  ['with a hundred answers a second (five ahead)', 100, 55, 55],
  ['with five answers a second (one ahead)', 5, 51, 26],
])(
  'a carrier with a window of 50, %s, has at most %3$i single and %4$i bulk messages marked',
  (_, answersPerSecond, single, bulk) => {
    /** Marks until no room is left, one commit at a time, and submits as many as the window has room for. */
    const mostMarked = (lane: 'single' | 'bulk'): number => {
      let now: Load = { ...load, answersPerSecond }
      for (let room = markRoom(lane, now); room > 0; room = markRoom(lane, now)) {
        expect(room).toBeLessThanOrEqual(50)
        const leaves = Math.min(now.leaving + room, Math.max(0, submitRoom(lane, now)))
        now = {
          ...{ ...now, inDoubt: now.inDoubt + room },
          ...{ unanswered: now.unanswered + leaves, leaving: now.leaving + room - leaves },
        }
      }
      return now.inDoubt
    }
    expect([mostMarked('single'), mostMarked('bulk')]).toEqual([single, bulk])
  },
)

test.each([0, 20, 50])('at most 1.1 windows are marked and not submitted, with %i outstanding', (unanswered) => {
  for (const lane of ['single', 'bulk'] as const) {
    let leaving = 0
    const now = (): Load => ({ ...load, answersPerSecond: 1000, unanswered, leaving, inDoubt: unanswered + leaving })
    for (let room = markRoom(lane, now()); room > 0; room = markRoom(lane, now())) leaving += room
    expect(leaving).toBe(unanswered === 50 ? 50 : 55)
  }
})

test.each([
  ['bulk', 5, 6],
  ['bulk', 999, 6],
  ['bulk', 1000, 12],
  ['single', 1000, 6],
] as const)(
  'in the %s lane with a window of 50 and %i answers a second at least %i messages are marked at a time',
  (lane, rate, least) => {
    // The carrier answers submissions one by one, and each answer lets a message that was marked ahead be submitted.
    const ahead = rate < 100 ? 1 : 50
    const sizes = Array.from({ length: 50 }, (_, answered) => {
      const [unanswered, leaving] = [50 - Math.max(0, answered - ahead), Math.max(0, ahead - answered)]
      const inDoubt = unanswered + leaving
      return markSize(lane, 500, { ...load, answersPerSecond: rate, unanswered, leaving, inDoubt })
    })
    expect(Math.min(...sizes.filter((size) => size > 0))).toBe(least)
  },
)

test('bulk is claimed for two seconds ahead, at most one slice, and one window before the first answer', () => {
  const sizes = [Infinity, 1, 5, 100, 5000].map((answersPerSecond) => claimSize('bulk', { ...load, answersPerSecond }))
  expect(sizes).toEqual([50, 2, 10, 200, 500])
})

test('behind a full window of a slow carrier nothing is claimed: another carrier may have room', () => {
  const full: Load = { ...load, window: 4, unanswered: 4, inDoubt: 4 }
  const sizes = [0.8, 4.9, 5].map((answersPerSecond) => claimSize('single', { ...full, answersPerSecond }))
  expect(sizes).toEqual([0, 0, 1])
})

test.each(['single', 'bulk'] as const)(
  'a probe of the %s lane is claimed and marked beside many without an answer',
  (lane) => {
    const probing: Load = { ...load, window: 61, unanswered: 60, answersPerSecond: 500, isProbing: true }
    expect([claimSize(lane, probing) > 0, markSize(lane, 100, probing)]).toEqual([true, 1])
    expect(markSize(lane, 100, { ...probing, answersPerSecond: Infinity, isProbing: false })).toBe(0)
  },
)
