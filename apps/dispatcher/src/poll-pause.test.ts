import { pollDefaults, pollPause } from './poll-pause.ts'

test('a process that is awake looks every 20 ms', () => {
  expect(pollPause(pollDefaults, undefined)).toBe(20)
})

test.each([
  [0, 20],
  [19, 20],
  [21, 21],
  [500, 500],
  [3000, 3000],
  [3_600_000, 3000],
])('after %p ms of sleep the pause is %p ms', (asleep, pause) => {
  expect(pollPause(pollDefaults, asleep)).toBe(pause)
})

test('whatever is missed at the beginning of a sleep is found after at most twice its time and a pause, or after the longest pause', () => {
  const settings = { pauseMilliseconds: 20, pauseMillisecondsMax: 1000, quietMilliseconds: 0 }
  const looks: number[] = []
  for (let at = 0; at < 20_000; at += pollPause(settings, at)) looks.push(at)
  for (let committed = 0; committed < 15_000; committed += 7) {
    const found = looks.find((at) => at >= committed) ?? Infinity
    expect(found).toBeLessThanOrEqual(Math.min(2 * committed + 20, committed + 1000))
  }
})
