import { createCache } from './cache.ts'

function reads() {
  const pending: { key: string; answer: (value: string | undefined) => void; fail: () => void }[] = []
  const load = (key: string) =>
    new Promise<string | undefined>((resolve, reject) =>
      pending.push({ key, answer: resolve, fail: () => reject(new Error('gone')) }),
    )
  return { pending, load }
}

const bounds = { seconds: 4, entriesMax: 2 }

test('concurrent callers share one load, and the value is cached for its seconds, counted from before the load', async () => {
  let now = 1
  const { pending, load } = reads()
  const cache = createCache({ ...bounds, load }, () => now)
  const answers = [cache.get('a'), cache.get('a')]
  now = 4001
  pending[0]?.answer('one')
  expect(await Promise.all(answers)).toEqual(['one', 'one'])
  expect(await cache.get('a')).toBe('one')
  expect(pending).toHaveLength(1)
  now = 4002
  void cache.get('a')
  expect(pending).toHaveLength(2)
})

test('after a change no caller gets a value whose load began before it', async () => {
  const { pending, load } = reads()
  const cache = createCache({ ...bounds, load })
  const before = cache.get('a')
  cache.clear()
  const after = cache.get('a')
  pending[0]?.answer('old')
  pending[1]?.answer('new')
  expect(await before).toBe('old')
  expect(await after).toBe('new')
  expect(await cache.get('a')).toBe('new')
  expect(pending).toHaveLength(2)
})

test('missing values and failed loads are not cached', async () => {
  const { pending, load } = reads()
  const cache = createCache({ ...bounds, load })
  const missing = cache.get('a')
  pending[0]?.answer(undefined)
  expect(await missing).toBeUndefined()
  const failing = cache.get('a')
  pending[1]?.fail()
  await expect(failing).rejects.toThrow('gone')
  const found = cache.get('a')
  pending[2]?.answer('here')
  expect(await found).toBe('here')
})

test('the cache keeps its maximum size and evicts the least recently used entry first', async () => {
  const loads: string[] = []
  const load = (key: string): Promise<string | undefined> => {
    loads.push(key)
    return Promise.resolve(key)
  }
  const cache = createCache({ ...bounds, load })
  for (const key of ['a', 'b', 'c', 'b', 'c', 'a']) await cache.get(key)
  expect(loads).toEqual(['a', 'b', 'c', 'a'])
})
