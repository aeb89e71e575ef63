import { collector } from './collector.ts'

/** Runs that end when the test says so. */
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

test('a job starts at once where there is a free place, and those that come meanwhile share the next', async () => {
  const { begun, run } = runs()
  const line = collector({ ...bounds, run })
  const results = Promise.all(['a', 'b', 'c', 'd'].map((job) => line.add(job)))
  expect(begun.map(({ jobs }) => jobs)).toEqual([['a'], ['b']])
  begun[1]?.end()
  await turn()
  expect(begun[2]?.jobs).toEqual(['c', 'd'])
  begun[0]?.end()
  begun[2]?.end()
  expect(await results).toEqual(['a done', 'b done', 'c done', 'd done'])
})

test('first come, first served: a heavy job is neither passed nor joined beyond the weight of a run', async () => {
  const { begun, run } = runs()
  const line = collector({ ...bounds, inFlightMax: 1, run })
  const waiting = ['first', 'ccc', 'heavy-heavy-heavy', 'd', 'e', 'f', 'g'].map((job) => line.add(job))
  for (let i = 0; i < 6; i++) {
    begun[i]?.end()
    await turn()
  }
  expect(begun.map(({ jobs }) => jobs)).toEqual([['first'], ['ccc'], ['heavy-heavy-heavy'], ['d', 'e', 'f'], ['g']])
  await Promise.all(waiting)
})

test('a run that fails fails its own jobs only, and the next one runs', async () => {
  const { begun, run } = runs()
  const line = collector({ ...bounds, inFlightMax: 1, run })
  const results = Promise.allSettled([line.add('a'), line.add('b')])
  begun[0]?.fail(new Error('no'))
  await turn()
  begun[1]?.end()
  expect((await results).map(({ status }) => status)).toEqual(['rejected', 'fulfilled'])
})

test('one job of a run may fail or finish later without the others', async () => {
  let finish: (text: string) => void = () => undefined
  const late = new Promise<string>((resolve) => (finish = resolve))
  const line = collector<string, string>({
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
