import { until } from '../testing/until.ts'
import { timeSlices } from './time-slices.ts'

const occupy = (milliseconds: number) => {
  const end = performance.now() + milliseconds
  while (performance.now() < end);
}

test('the first piece runs at once, and what a turn has no time for runs in turn of its owners', async () => {
  const slices = timeSlices({ turnMs: 1 })
  const done: string[] = []
  const piece = async (name: string) => slices.run(name.slice(0, 1), () => (occupy(1.1), done.push(name)))
  const all = ['a1', 'a2', 'a3', 'b1'].map(piece)
  expect(done).toEqual(['a1'])
  await Promise.all(all)
  expect(done).toEqual(['a1', 'a2', 'b1', 'a3'])
})

test('between two pieces everything else has its turn', async () => {
  const slices = timeSlices({ turnMs: 1 })
  let [pieces, turns] = [0, 0]
  const count = () => {
    turns++
    if (pieces < 20) setImmediate(count)
  }
  setImmediate(count)
  const run = async () => slices.run('a', () => (occupy(1.1), pieces++))
  await Promise.all(Array.from({ length: 20 }, run))
  expect(turns).toBeGreaterThanOrEqual(18)
})

test('a piece that throws rejects its own call only', async () => {
  const slices = timeSlices({ turnMs: 0 })
  const failing = slices.run('a', () => {
    throw new Error('not valid')
  })
  const next = slices.run('a', () => 'done')
  await expect(failing).rejects.toThrow('not valid')
  expect(await next).toBe('done')
})

test('whoever is unknown gets a part of the time, and waits for all who are known', async () => {
  const slices = timeSlices({ turnMs: 1, unknownShare: 0.1 })
  let unknownMs = 0
  let stopped = false
  const unknown = async (owner: string) => {
    while (!stopped)
      await slices.runUnknown(owner, () => {
        occupy(1)
        unknownMs++
      })
  }
  const started = performance.now()
  const running = ['a', 'b', 'c'].map(unknown)
  await until(() => unknownMs >= 20)
  const share = unknownMs / (performance.now() - started)
  stopped = true
  await Promise.all(running)
  expect(share).toBeLessThan(0.15)
})
