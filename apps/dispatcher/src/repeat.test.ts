import { until } from '@gateway/core/testing'
import { createLog } from '@gateway/server'
import { repeat, type Repeating } from './repeat.ts'

const log = createLog({ level: 'silent', name: 'test' })
const hour = 3_600_000

const repeating = (work: Repeating['work'], pauseMilliseconds = 1, told = log) =>
  repeat({ what: 'test', pauseMilliseconds, log: told, work })

test('work never overlaps itself, and is done again after a pause', async () => {
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

test('as long as there is more it does not pause', async () => {
  let runs = 0
  const loop = repeating(() => Promise.resolve(++runs < 10 ? 'more' : 'all'), hour)
  await until(() => runs === 10)
  await loop.stop()
  expect(runs).toBe(10)
})

test('a wake ends a pause, but not the pause after a failure', async () => {
  let runs = 0
  const loop = repeating(() => {
    runs++
    return runs === 3 ? Promise.reject(new Error('no')) : Promise.resolve('all')
  }, hour)
  for (let wanted = 2; wanted <= 3; wanted++) {
    await new Promise(setImmediate)
    loop.wake()
    await until(() => runs === wanted)
  }
  for (let i = 0; i < 20; i++) {
    loop.wake()
    await new Promise(setImmediate)
  }
  expect(runs).toBe(3)
  await loop.stop()
})

test('a stop waits for work at hand, ends a pause at once, and nothing is done after it', async () => {
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
  ['works', 'all', ['failed, and is tried again until it works', 'works again']],
  ['is at its end', 'end', ['failed, and is tried again until it works']],
] as const)('after a failure, work that %s then is told so', async (_, next, expected) => {
  const lines: string[] = []
  const told = createLog({ level: 'warn', name: 'test', destination: { write: (line) => void lines.push(line) } })
  let runs = 0
  const loop = repeating(() => (++runs === 1 ? Promise.reject(new Error('no')) : Promise.resolve(next)), 1, told)
  await until(() => runs >= 2)
  await loop.stop()
  expect(lines.map((line) => (JSON.parse(line) as { msg: string }).msg)).toEqual(expected)
})
