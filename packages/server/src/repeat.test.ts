import { until } from '../testing/until.ts'
import { createLog } from './log.ts'
import { coalesceTimeouts, repeat, type Repeating } from './repeat.ts'

const log = createLog({ level: 'silent', name: 'test' })
const hour = 3_600_000

const repeating = (work: Repeating['work'], pauseMilliseconds = 1, logOfLoop = log) =>
  repeat({ name: 'test', pauseMilliseconds, log: logOfLoop, work })

test('runs never overlap, and are repeated after a pause', async () => {
  let [atWork, most, runs] = [0, 0, 0]
  const loop = repeating(async () => {
    most = Math.max(most, ++atWork)
    await new Promise(setImmediate)
    atWork--
    runs++
    return 'all'
  })
  for (let i = 0; i < 100; i++) {
    loop.wake()
    await new Promise(setImmediate)
  }
  await until(() => runs >= 5)
  await loop.stop()
  expect(most).toBe(1)
})

test('there is no pause while the work returns more', async () => {
  let runs = 0
  const loop = repeating(() => Promise.resolve(++runs < 10 ? 'more' : 'all'), hour)
  await until(() => runs === 10)
  await loop.stop()
  expect(runs).toBe(10)
})

test('a wake-up ends a pause, but not one after a failure', async () => {
  let runs = 0
  const loop = repeating(() => {
    runs++
    return runs === 3 ? Promise.reject(new Error('no')) : Promise.resolve('all')
  }, hour)
  for (let runsExpected = 2; runsExpected <= 3; runsExpected++) {
    await new Promise(setImmediate)
    loop.wake()
    await until(() => runs === runsExpected)
  }
  for (let i = 0; i < 20; i++) {
    loop.wake()
    await new Promise(setImmediate)
  }
  expect(runs).toBe(3)
  await loop.stop()
})

test('a stop waits for the running work, ends a pause at once, and no work runs afterwards', async () => {
  let release = (): void => undefined
  let runs = 0
  const loop = repeating(() => {
    runs++
    return new Promise((resolve) => (release = () => resolve('more')))
  })
  let isStopped = false
  const stopped = loop.stop().then(() => (isStopped = true))
  await new Promise(setImmediate)
  expect(isStopped).toBe(false)
  release()
  await stopped
  expect(runs).toBe(1)
  const paused = repeating(() => Promise.resolve('all'), hour)
  await new Promise(setImmediate)
  await paused.stop()
})

test.each([
  ['works', 'all', ['background work failed and is retried until it succeeds', 'background work succeeds again']],
  ['is at its end', 'end', ['background work failed and is retried until it succeeds']],
] as const)(
  'work that fails and then %s logs the failure, and the recovery if it works again',
  async (_, next, expected) => {
    const lines: string[] = []
    const logOfLoop = createLog({
      level: 'warn',
      name: 'test',
      destination: { write: (line) => void lines.push(line) },
    })
    let runs = 0
    const loop = repeating(() => (++runs === 1 ? Promise.reject(new Error('no')) : Promise.resolve(next)), 1, logOfLoop)
    await until(() => runs >= 2)
    await loop.stop()
    expect(lines.map((line) => (JSON.parse(line) as { msg: string }).msg)).toEqual(expected)
  },
)

interface Timer {
  readonly at: number
  readonly callback: () => void
}

/** Returns timers of a clock that the test moves. */
function manualTimers() {
  const timers = new Set<Timer>()
  let time = 0
  let wakeups = 0
  return {
    now: () => time,
    after: (milliseconds: number, callback: () => void) => {
      const timer = { at: time + milliseconds, callback }
      timers.add(timer)
      return () => void timers.delete(timer)
    },
    waiting: () => timers.size,
    wakeups: () => wakeups,
    runUntil: (end: number) => {
      for (;;) {
        const [next] = [...timers].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)
        if (next === undefined) break
        time = next.at
        wakeups++
        timers.delete(next)
        next.callback()
      }
      time = end
    },
  }
}

/** Starts a loop with this pause, and returns the times of its runs. */
function loop(timers: ReturnType<typeof manualTimers>, timeout: ReturnType<typeof coalesceTimeouts>, pause: number) {
  const times: number[] = []
  const again = (): void => {
    times.push(timers.now())
    timeout(again, pause)
  }
  return { times, start: (milliseconds: number) => timeout(again, milliseconds) }
}

test('loops with similar pauses soon run together, and no pause is longer than configured', () => {
  const timers = manualTimers()
  const timeout = coalesceTimeouts(timers)
  const pauses = [3000, 3000, 2500, 3000]
  const loops = pauses.map((pause) => loop(timers, timeout, pause))
  for (const [at, { start }] of loops.entries()) start(1000 + at * 400)
  timers.runUntil(60_000)
  const before = timers.wakeups()
  timers.runUntil(120_000)
  expect(timers.wakeups() - before).toBe(24)
  for (const [at, { times }] of loops.entries()) {
    const gaps = times.slice(1).map((time, i) => time - (times[i] ?? 0))
    expect(Math.max(...gaps)).toBeLessThanOrEqual(pauses[at] ?? 0)
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual((pauses[at] ?? 0) * 0.75)
  }
})

test('a pause with more than a quarter left is not ended by another', () => {
  const timers = manualTimers()
  const timeout = coalesceTimeouts(timers)
  const ended: string[] = []
  timeout(() => ended.push('long'), 60_000)
  timeout(() => ended.push('short'), 44_999)
  timers.runUntil(45_000)
  expect(ended).toEqual(['short'])
  timeout(() => ended.push('another'), 1000)
  timers.runUntil(46_000)
  expect(ended).toEqual(['short', 'long', 'another'])
})

test('pauses below a second end on time and end no other', () => {
  const timers = manualTimers()
  const timeout = coalesceTimeouts(timers)
  const ended: number[] = []
  timeout(() => ended.push(999), 999)
  timeout(() => ended.push(1000), 1000)
  timers.runUntil(999)
  expect(ended).toEqual([999])
})

test('a cancelled timer never fires, and nothing of it remains', () => {
  const timers = manualTimers()
  const timeout = coalesceTimeouts(timers)
  const ended: string[] = []
  const cancel = timeout(() => ended.push('cancelled'), 2000)
  timeout(() => {
    ended.push('first')
    cancelOther()
  }, 1000)
  const cancelOther = timeout(() => ended.push('other'), 1200)
  cancel()
  timers.runUntil(5000)
  expect(ended).toEqual(['first'])
  expect(timers.waiting()).toBe(0)
})
