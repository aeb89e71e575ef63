import { networkQueue, type NetworkQueueSettings } from './network-queue.ts'

const settings = { atOnceMax: 2, waitingMax: 10 }

/** Work that ends when the test says so. */
function held(bounds: NetworkQueueSettings) {
  const queue = networkQueue(bounds)
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

test('no more than the bound runs at a time, the rest in the order it came', async () => {
  const work = held(settings)
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

test('while the event loop is busy one runs at a time, and as many as before when it is not', async () => {
  let isBusy = true
  const work = held({ ...settings, isBusy: () => isBusy })
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

test('a flood from one network delays another network by one turn only', async () => {
  const work = held({ ...settings, atOnceMax: 1 })
  const all = ['a', 'b', 'c', 'd', 'e'].map((name) => work.run('flood', name))
  all.push(work.run('quiet', 'q'))
  await new Promise(setImmediate)
  for (const name of ['a', 'b', 'q', 'c', 'd', 'e']) await work.end(name)
  expect(work.started).toEqual(['a', 'b', 'q', 'c', 'd', 'e'])
  await Promise.all(all)
})

const refused = expect.objectContaining({ code: 'overloaded' }) as unknown

/** What is rejected becomes an answer, so that nothing is unhandled meanwhile. */
const answer = (of: Promise<string>) => of.catch((problem: unknown) => problem)

test('when the queue is full, the newest that waits makes room for the newcomer of a network that is alone', async () => {
  const work = held({ atOnceMax: 1, waitingMax: 2 })
  const all = ['a', 'b', 'c', 'd'].map((name) => answer(work.run('n', name)))
  for (const name of ['a', 'b', 'd']) await work.end(name)
  expect(await Promise.all(all)).toEqual(['a', 'b', refused, 'd'])
  const again = work.run('n', 'again')
  await new Promise(setImmediate)
  await work.end('again')
  expect(await again).toBe('again')
  expect(work.queue.waiting).toBe(0)
})

test('when the queue is full, the newest of the network that has most waiting makes room for another network', async () => {
  const work = held({ atOnceMax: 1, waitingMax: 3 })
  const all = ['a', 'b', 'c'].map((name) => answer(work.run('n', name)))
  all.push(answer(work.run('m', 'd')), answer(work.run('o', 'e')))
  for (const name of ['a', 'b', 'd', 'e']) await work.end(name)
  expect(work.started).toEqual(['a', 'b', 'd', 'e'])
  expect(await Promise.all(all)).toEqual(['a', 'b', refused, 'd', 'e'])
})

test('among networks that have as much waiting the one whose turn comes last makes room: the first are served', async () => {
  const work = held({ atOnceMax: 1, waitingMax: 2 })
  const all = ['m', 'n', 'o', 'p', 'q'].map((network) => answer(work.run(network, `of ${network}`)))
  for (const name of ['of m', 'of n', 'of q']) await work.end(name)
  expect(await Promise.all(all)).toEqual(['of m', 'of n', refused, refused, 'of q'])
})

test('a network with a burden makes room for one without, and never the other way round', async () => {
  const work = held({ atOnceMax: 1, waitingMax: 2, burdenOf: (network) => (network === 'guesser' ? 1 : 0) })
  const all = ['first', 'guesser', 'm', 'n', 'guesser'].map((network, i) => answer(work.run(network, `${i}`)))
  for (const name of ['0', '2', '3']) await work.end(name)
  expect(await Promise.all(all)).toEqual(['0', refused, '2', '3', refused])
})

test('no more waits than is done in the time of the setting, by what work took lately, but ten times what runs at once', async () => {
  let now = 0
  const queue = networkQueue({ atOnceMax: 2, waitingMax: 100, waitSecondsMax: 1, now: () => now })
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

test('while the event loop is busy only as many wait as one at a time does in the time of the setting', async () => {
  let now = 0
  const settings = { atOnceMax: 2, waitingMax: 100, waitSecondsMax: 1, now: () => now, isBusy: () => true }
  const queue = networkQueue(settings)
  await queue.run('n', () => Promise.resolve(void (now += 40)))
  const all = Array.from({ length: 90 }, () => queue.run('n', () => Promise.resolve()).catch(() => undefined))
  expect(queue.waiting).toBe(25)
  await Promise.all(all)
})

test('work that fails gives its turn on', async () => {
  const queue = networkQueue({ ...settings, atOnceMax: 1 })
  const failing = queue.run('n', () => Promise.reject(new Error('out of memory')))
  const next = queue.run('n', () => Promise.resolve('done'))
  await expect(failing).rejects.toThrow('out of memory')
  expect(await next).toBe('done')
})
