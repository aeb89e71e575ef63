import fc from 'fast-check'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { HoldBackQueue } from './hold-back-queue.ts'

/**
 * Creates a queue of texts whose last word is the key. Texts that begin with `held` wait until they are let go. If
 * `gated`, each batch waits for `proceed`; the first `fails` batches fail.
 */
function aQueue({ batchMax = 3, gated = false, fails = 0 } = {}) {
  const stored: string[][] = []
  const letGo = new Set<string>()
  let gate = Promise.resolve()
  let proceed = (): void => undefined
  const close = (): void => void (gate = new Promise((resolve) => (proceed = resolve)))
  if (gated) close()
  const queue = new HoldBackQueue<string>(
    async (words) => {
      stored.push([...words])
      await gate
      if (words.includes('bad') || fails-- > 0) throw new Error('no')
      return words.filter((word) => word === 'odd')
    },
    {
      holdsBack: (words) => () => words.some((word) => word.startsWith('held') && !letGo.has(word)),
      keyOf: (word) => word.split(' ').at(-1) ?? '',
      isRepeatable: (word) => word !== 'bad',
      batchMax,
    },
  )
  return { queue, stored, letGo, proceed: () => proceed() }
}

test('items that arrive while a batch is being stored go into the next batch, in order', async () => {
  const { queue, stored, proceed } = aQueue({ gated: true })
  const all = ['a', 'b', 'c', 'd', 'e'].map((word) => queue.add([word]))
  await nextTurn()
  proceed()
  await Promise.all(all)
  expect(stored).toEqual([['a'], ['b', 'c', 'd'], ['e']])
})

test('the items of one call are stored together, however many they are', async () => {
  const { queue, stored } = aQueue()
  await queue.add(['a', 'b', 'c', 'd', 'e'])
  expect(stored).toEqual([['a', 'b', 'c', 'd', 'e']])
})

test('a waiting item delays its whole call, and other calls pass it', async () => {
  const { queue, stored, letGo } = aQueue()
  let done = false
  const waiting = queue.add(['a', 'held b']).then(() => (done = true))
  await queue.add(['c'])
  queue.run()
  await nextTurn()
  expect([done, stored]).toEqual([false, [['c']]])
  letGo.add('held b')
  queue.run()
  await waiting
  expect(stored).toEqual([['c'], ['a', 'held b']])
})

test('a waiting item lets no item of its own key pass, in the same call or another', async () => {
  const { queue, stored, letGo } = aQueue({ batchMax: 9 })
  const first = queue.add(['held 1 a', '1 b'])
  const behind = [queue.add(['2 b', '2 c']), queue.add(['3 c']), queue.add(['1 d'])]
  await behind[2]
  expect(stored).toEqual([['1 d']])
  letGo.add('held 1 a')
  queue.run()
  await Promise.all([first, ...behind])
  expect(stored).toEqual([['1 d'], ['held 1 a', '1 b', '2 b', '2 c', '3 c']])
})

test('a failed item is stored before a later one of its key, and again when it is offered again', async () => {
  const { queue, stored } = aQueue({ fails: 2 })
  const outcome = (items: readonly string[]) =>
    queue.add(items).then(
      () => 'stored',
      () => 'failed',
    )
  expect([await outcome(['1 a', '1 b']), await outcome(['2 a'])]).toEqual(['failed', 'failed'])
  expect([await outcome(['1 c']), await outcome(['3 a']), await outcome(['4 a'])]).toEqual([
    'stored',
    'stored',
    'stored',
  ])
  expect(stored.slice(1)).toEqual([['1 a', '2 a'], ['1 c'], ['1 a', '2 a', '3 a'], ['4 a']])
  expect(await outcome(['1 b'])).toBe('stored')
  expect(stored.at(-1)).toEqual(['1 b', '1 b'])
})

test('with random failures and waits items of one key are first stored in order of arrival', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ keys: fc.array(fc.nat({ max: 3 }), { minLength: 1, maxLength: 3 }), waits: fc.boolean() })),
      fc.array(fc.boolean()),
      async (calls, failures) => {
        const letGo = new Set<number>()
        const order: number[] = []
        let batches = 0
        const queue = new HoldBackQueue<{ readonly key: number; readonly at: number; readonly waits: boolean }>(
          (items) => {
            if (failures[batches++] === true) return Promise.reject(new Error('no'))
            for (const { at } of items) if (!order.includes(at)) order.push(at)
            return Promise.resolve([])
          },
          {
            holdsBack: (items) => () => items.some(({ waits, at }) => waits && !letGo.has(at)),
            keyOf: ({ key }) => String(key),
            isRepeatable: () => true,
            batchMax: 4,
          },
        )
        let count = 0
        const all = calls.map(({ keys, waits }) => keys.map((key) => ({ key, at: count++, waits })))
        const first = all.map((items) => queue.add(items).catch(() => undefined))
        await nextTurn()
        for (const { at } of all.flat()) letGo.add(at)
        queue.run()
        await Promise.all(first)
        // The carrier offers all items again, the latest first.
        for (const items of all.toReversed()) await queue.add(items).catch(() => undefined)
        for (const key of [0, 1, 2, 3]) {
          const own = new Set(
            all
              .flat()
              .filter((item) => item.key === key)
              .map(({ at }) => at),
          )
          const stored = order.filter((at) => own.has(at))
          expect(stored).toEqual(stored.toSorted((a, b) => a - b))
        }
      },
    ),
  )
})

test('a failed call rejects and does not block later calls', async () => {
  const { queue, stored } = aQueue()
  const first = queue.add(['a'])
  const bad = [queue.add(['bad']), queue.add(['b'])]
  await first
  expect((await Promise.allSettled(bad)).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  await queue.add(['c'])
  expect(stored).toEqual([['a'], ['bad', 'b'], ['c']])
})

test('an empty queue stores nothing', async () => {
  const { queue, stored } = aQueue()
  queue.run()
  await nextTurn()
  expect(stored).toEqual([])
})
