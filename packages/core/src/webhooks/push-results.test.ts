import { PushResults } from './push-results.ts'
import type { EventListId, PushResult } from './webhooks.ts'

const result = (number: number): PushResult => ({
  list: `list-${number}` as EventListId,
  tries: 1,
  at: 0 as PushResult['at'],
  answer: { outcome: 'failed', failure: 'timeout', milliseconds: 1 },
  verdict: 'retry',
  next: undefined,
})

test('results that arrive while others are stored wait for the next call, however many they are', async () => {
  const stored: number[] = []
  const results = new PushResults({
    record: (pushed) => {
      stored.push(pushed.length)
      if (stored.length < 10) results.keep(result(stored.length))
      return Promise.resolve()
    },
    release: () => Promise.resolve(),
  })
  results.keep(result(0))
  await results.store(1)
  expect([stored, results.count]).toEqual([[1], 1])
  await results.store(1)
  expect(stored).toEqual([1, 1])
})

test('results that another call is storing are stored when this call resolves', async () => {
  const commits: (() => void)[] = []
  const results = new PushResults({
    record: () => new Promise((resolve) => commits.push(resolve)),
    release: () => Promise.resolve(),
  })
  const order: string[] = []
  const call = (name: string) => results.store(1).then(() => order.push(name))
  results.keep(result(0))
  const calls = [call('first'), call('second')]
  await new Promise(setImmediate)
  order.push('commits')
  for (const commit of commits) commit()
  await Promise.all(calls)
  expect([order[0], order.length, commits.length]).toEqual(['commits', 3, 1])
})
