import { NetworkQueue, type NetworkQueueSettings } from './network-queue.ts'

const settings = { atOnceMax: 2, waitingMax: 10 }

/** Returns a queue with jobs that end when the test says so. */
function queueOfHeldJobs(bounds: NetworkQueueSettings) {
  const queue = new NetworkQueue(bounds)
  const started: string[] = []
  const ends = new Map<string, () => void>()
  return {
    started,
    run: (network: string, name: string) =>
      queue.run(network, () => {
        started.push(name)
        return new Promise<string>((resolve) => ends.set(name, () => resolve(name)))
      }),
    async end(name: string) {
      await new Promise(setImmediate)
      ends.get(name)?.()
      await new Promise(setImmediate)
    },
    queue,
  }
}

test('at most the configured number of jobs runs concurrently, and the others in order', async () => {
  const work = queueOfHeldJobs(settings)
  const all = Promise.all(['a', 'b', 'c', 'd'].map((name) => work.run('n', name)))
  await new Promise(setImmediate)
  expect(work.started).toEqual(['a', 'b'])
  await work.end('b')
  expect(work.started).toEqual(['a', 'b', 'c'])
  await work.end('a')
  await work.end('c')
  await work.end('d')
  expect(await all).toEqual(['a', 'b', 'c', 'd'])
})

test('while the event loop is busy one job runs at a time, and later as many as before', async () => {
  let isBusy = true
  const work = queueOfHeldJobs({ ...settings, isBusy: () => isBusy })
  const all = Promise.all(['a', 'b', 'c', 'd', 'e'].map((name) => work.run('n', name)))
  await new Promise(setImmediate)
  expect(work.started).toEqual(['a'])
  isBusy = false
  await work.end('a')
  expect(work.started).toEqual(['a', 'b', 'c'])
  isBusy = true
  await work.end('b')
  expect(work.started).toEqual(['a', 'b', 'c'])
  await work.end('c')
  expect(work.started).toEqual(['a', 'b', 'c', 'd'])
  isBusy = false
  const last = work.run('n', 'f')
  await new Promise(setImmediate)
  expect(work.started).toEqual(['a', 'b', 'c', 'd', 'e'])
  for (const name of ['d', 'e', 'f']) await work.end(name)
  expect(await all).toEqual(['a', 'b', 'c', 'd', 'e'])
  expect(await last).toBe('f')
})

test('a flood from one network delays another network by only one job', async () => {
  const work = queueOfHeldJobs({ ...settings, atOnceMax: 1 })
  const all = ['a', 'b', 'c', 'd', 'e'].map((name) => work.run('flood', name))
  all.push(work.run('quiet', 'q'))
  await new Promise(setImmediate)
  for (const name of ['a', 'b', 'q', 'c', 'd', 'e']) await work.end(name)
  expect(work.started).toEqual(['a', 'b', 'q', 'c', 'd', 'e'])
  await Promise.all(all)
})

const refused = expect.objectContaining({ code: 'overloaded' }) as unknown

/** Turns a rejection into a result, so that none is unhandled meanwhile. */
const answer = (of: Promise<string>) => of.catch((problem: unknown) => problem)

test('when the queue is full, the newest waiting job is refused for a job of a network without any', async () => {
  const work = queueOfHeldJobs({ atOnceMax: 1, waitingMax: 2 })
  const all = ['a', 'b', 'c', 'd'].map((name) => answer(work.run('n', name)))
  for (const name of ['a', 'b', 'd']) await work.end(name)
  expect(await Promise.all(all)).toEqual(['a', 'b', refused, 'd'])
  const again = work.run('n', 'again')
  await new Promise(setImmediate)
  await work.end('again')
  expect(await again).toBe('again')
  expect(work.queue.waiting).toBe(0)
})

test('when the queue is full, the newest job of the network with the most waiting jobs is refused for another network', async () => {
  const work = queueOfHeldJobs({ atOnceMax: 1, waitingMax: 3 })
  const all = ['a', 'b', 'c'].map((name) => answer(work.run('n', name)))
  all.push(answer(work.run('m', 'd')), answer(work.run('o', 'e')))
  for (const name of ['a', 'b', 'd', 'e']) await work.end(name)
  expect(work.started).toEqual(['a', 'b', 'd', 'e'])
  expect(await Promise.all(all)).toEqual(['a', 'b', refused, 'd', 'e'])
})

test('of networks with equally many waiting jobs, the one whose turn comes last has its newest refused', async () => {
  const work = queueOfHeldJobs({ atOnceMax: 1, waitingMax: 2 })
  const all = ['m', 'n', 'o', 'p', 'q'].map((network) => answer(work.run(network, `of ${network}`)))
  for (const name of ['of m', 'of n', 'of q']) await work.end(name)
  expect(await Promise.all(all)).toEqual(['of m', 'of n', refused, refused, 'of q'])
})

test('a network with a burden gives its place to one without, and never the other way round', async () => {
  const work = queueOfHeldJobs({ atOnceMax: 1, waitingMax: 2, burdenOf: (network) => (network === 'guesser' ? 1 : 0) })
  const all = ['first', 'guesser', 'm', 'n', 'guesser'].map((network, i) => answer(work.run(network, `${i}`)))
  for (const name of ['0', '2', '3']) await work.end(name)
  expect(await Promise.all(all)).toEqual(['0', refused, '2', '3', refused])
})

test('the number of waiting jobs is limited to those that recent jobs would finish within the configured time, but at least ten times the concurrency', async () => {
  let now = 0
  const queue = new NetworkQueue({ atOnceMax: 2, waitingMax: 100, waitSecondsMax: 1, now: () => now })
  const run = (milliseconds: number) => queue.run('n', () => Promise.resolve(void (now += milliseconds)))
  const waitingOf = async (count: number) => {
    const all = Array.from({ length: count }, () => run(0).catch(() => undefined))
    const { waiting } = queue
    await Promise.all(all)
    return waiting
  }
  await run(40)
  expect(await waitingOf(90)).toBe(50)
  for (let i = 0; i < 100; i++) await run(10_000)
  expect(await waitingOf(90)).toBe(20)
})

test('while the event loop is busy the limit of waiting jobs assumes one job at a time', async () => {
  let now = 0
  const settings = { atOnceMax: 2, waitingMax: 100, waitSecondsMax: 1, now: () => now, isBusy: () => true }
  const queue = new NetworkQueue(settings)
  await queue.run('n', () => Promise.resolve(void (now += 40)))
  const all = Array.from({ length: 90 }, () => queue.run('n', () => Promise.resolve()).catch(() => undefined))
  expect(queue.waiting).toBe(25)
  await Promise.all(all)
})

test('the next job runs after a job that fails', async () => {
  const queue = new NetworkQueue({ ...settings, atOnceMax: 1 })
  const failing = queue.run('n', () => Promise.reject(new Error('out of memory')))
  const next = queue.run('n', () => Promise.resolve('done'))
  await expect(failing).rejects.toThrow('out of memory')
  expect(await next).toBe('done')
})
