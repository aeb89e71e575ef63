import { Batcher } from './batcher.ts'

/** Returns a `run` function whose runs wait until the test ends them, and the list of runs that have begun. */
function runs() {
  const begun: { jobs: readonly string[]; end: () => void; fail: (error: Error) => void }[] = []
  const run = (jobs: readonly string[]) =>
    new Promise<readonly string[]>((resolve, reject) =>
      begun.push({ jobs, end: () => resolve(jobs.map((job) => `${job} done`)), fail: reject }),
    )
  return { begun, run }
}

const turn = () => new Promise((resolve) => setImmediate(resolve))

const bounds = { inFlightMax: 2, jobsMax: 3, weightMax: 10, weight: (job: string) => job.length }

test('jobs of one turn start together if a run is free, and jobs added meanwhile share the next run', async () => {
  const { begun, run } = runs()
  const line = new Batcher({ ...bounds, run })
  const results: Promise<string>[] = []
  for (const jobs of [['a', 'b'], ['c'], ['d', 'e'], ['f']]) {
    results.push(...jobs.map((job) => line.add(job)))
    await turn()
  }
  expect(begun.map(({ jobs }) => jobs)).toEqual([['a', 'b'], ['c']])
  begun[1]?.end()
  await turn()
  expect(begun[2]?.jobs).toEqual(['d', 'e', 'f'])
  begun[0]?.end()
  begun[2]?.end()
  expect(await Promise.all(results)).toEqual(['a', 'b', 'c', 'd', 'e', 'f'].map((job) => `${job} done`))
})

test('jobs beyond the maximum of one run start in another free run at once', async () => {
  const { begun, run } = runs()
  const line = new Batcher({ ...bounds, run })
  const results = Promise.all(['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((job) => line.add(job)))
  await turn()
  expect(begun.map(({ jobs }) => jobs.length)).toEqual([3, 3])
  for (let i = 0; i < 3; i++) {
    begun[i]?.end()
    await turn()
  }
  expect(await results).toHaveLength(7)
})

test('jobs run in order: no job overtakes a heavy one or joins it beyond the maximum weight', async () => {
  const { begun, run } = runs()
  const line = new Batcher({ ...bounds, inFlightMax: 1, run })
  const first = line.add('first')
  await turn()
  const waiting = ['ccc', 'heavy-heavy-heavy', 'd', 'e', 'f', 'g'].map((job) => line.add(job))
  for (let i = 0; i < 6; i++) {
    begun[i]?.end()
    await turn()
  }
  expect(begun.map(({ jobs }) => jobs)).toEqual([['first'], ['ccc'], ['heavy-heavy-heavy'], ['d', 'e', 'f'], ['g']])
  await Promise.all([first, ...waiting])
})

/** Clock that the test advances. */
function stoppedClock() {
  let at = 0
  let calls: { readonly due: number; readonly call: () => void }[] = []
  return {
    now: () => at,
    later: (ms: number, call: () => void) => void calls.push({ due: at + ms, call }),
    async moveTo(to: number): Promise<void> {
      at = to
      const due = calls.filter((one) => one.due <= at)
      calls = calls.filter((one) => one.due > at)
      for (const { call } of due) call()
      await turn()
    },
  }
}

test('with gathering, a second run begins only with enough jobs or when the first one takes long', async () => {
  const { begun, run } = runs()
  const clock = stoppedClock()
  const line = new Batcher({ ...bounds, gatherMs: 20, clock, run })
  const results: Promise<string>[] = []
  const add = async (...jobs: string[]) => {
    results.push(...jobs.map((job) => line.add(job)))
    await turn()
    return begun.map((one) => one.jobs.length)
  }
  expect(await add('a')).toEqual([1])
  await clock.moveTo(19)
  expect(await add('b')).toEqual([1])
  expect(await add('c')).toEqual([1])
  expect(await add('d')).toEqual([1, 3])
  begun[1]?.end()
  await turn()
  await clock.moveTo(38)
  expect(await add('e')).toEqual([1, 3])
  await clock.moveTo(39)
  expect(await add()).toEqual([1, 3, 1])
  begun[2]?.end()
  await turn()
  expect(await add('heavy')).toEqual([1, 3, 1, 1])
  expect(await add('g')).toEqual([1, 3, 1, 1])
  begun[0]?.end()
  await turn()
  begun[3]?.end()
  await turn()
  begun[4]?.end()
  expect(await Promise.all(results)).toHaveLength(7)
})

test('gathered jobs start on time even if no job is added and the other run does not end', async () => {
  const { begun, run } = runs()
  const clock = stoppedClock()
  const line = new Batcher({ ...bounds, gatherMs: 20, clock, run })
  const first = line.add('a')
  await turn()
  await clock.moveTo(5)
  const second = line.add('b')
  await turn()
  await clock.moveTo(19)
  expect(begun.map(({ jobs }) => jobs)).toEqual([['a']])
  await clock.moveTo(20)
  expect(begun.map(({ jobs }) => jobs)).toEqual([['a'], ['b']])
  begun[1]?.end()
  expect(await second).toBeDefined()
  begun[0]?.end()
  await first
})

test('a failed run fails only its own jobs, and the next one runs', async () => {
  const { begun, run } = runs()
  const line = new Batcher({ ...bounds, inFlightMax: 1, run })
  const first = line.add('a')
  await turn()
  const results = Promise.allSettled([first, line.add('b')])
  begun[0]?.fail(new Error('no'))
  await turn()
  begun[1]?.end()
  expect((await results).map(({ status }) => status)).toEqual(['rejected', 'fulfilled'])
})

test('a job of a run may fail or finish later without affecting the others', async () => {
  let finish: (text: string) => void = () => undefined
  const late = new Promise<string>((resolve) => (finish = resolve))
  const line = new Batcher<string, string>({
    ...bounds,
    run: (jobs) =>
      Promise.resolve(
        jobs.map((job) => {
          if (job === 'late') return late
          return job === 'bad' ? Promise.reject(new Error('bad')) : job
        }),
      ),
  })
  const results = ['late', 'bad', 'good'].map((job) => line.add(job))
  await expect(results[1]).rejects.toThrow('bad')
  expect(await results[2]).toBe('good')
  finish('at last')
  expect(await results[0]).toBe('at last')
})
