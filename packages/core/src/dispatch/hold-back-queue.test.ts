import { setImmediate as nextTurn } from 'node:timers/promises'
import { createHoldBackQueue } from './hold-back-queue.ts'

/**
 * A queue of words; those that begin with `held` wait until they are let go. Each batch waits for `proceed`, if that is
 * so wished.
 */
function aQueue({ batchMax = 3, gated = false } = {}) {
  const stored: string[][] = []
  const letGo = new Set<string>()
  let gate = Promise.resolve()
  let proceed = (): void => undefined
  const close = (): void => void (gate = new Promise((resolve) => (proceed = resolve)))
  if (gated) close()
  const queue = createHoldBackQueue<string>(
    async (words) => {
      stored.push([...words])
      await gate
      if (words.includes('bad')) throw new Error('no')
      return words.filter((word) => word === 'odd')
    },
    (words) => () => words.some((word) => word.startsWith('held') && !letGo.has(word)),
    batchMax,
  )
  return { queue, stored, letGo, proceed: () => proceed() }
}

test('what comes while a batch is being stored goes into the next one, in its order', async () => {
  const { queue, stored, proceed } = aQueue({ gated: true })
  const all = ['a', 'b', 'c', 'd', 'e'].map((word) => queue.add([word]))
  await nextTurn()
  proceed()
  await Promise.all(all)
  expect(stored).toEqual([['a'], ['b', 'c', 'd'], ['e']])
})

test('what belongs to one call is stored together, however much it is', async () => {
  const { queue, stored } = aQueue()
  await queue.add(['a', 'b', 'c', 'd', 'e'])
  expect(stored).toEqual([['a', 'b', 'c', 'd', 'e']])
})

test('what is held waits with all of its call, and others go past it', async () => {
  const { queue, stored, letGo } = aQueue()
  let done = false
  const held = queue.add(['a', 'held b']).then(() => (done = true))
  await queue.add(['c'])
  queue.run()
  await nextTurn()
  expect([done, stored]).toEqual([false, [['c']]])
  letGo.add('held b')
  queue.run()
  await held
  expect(stored).toEqual([['c'], ['a', 'held b']])
})

test('what could not be stored rejects, is not tried again, and keeps nothing behind it', async () => {
  const { queue, stored } = aQueue()
  const first = queue.add(['a'])
  const bad = [queue.add(['bad']), queue.add(['b'])]
  await first
  expect((await Promise.allSettled(bad)).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  await queue.add(['c'])
  expect(stored).toEqual([['a'], ['bad', 'b'], ['c']])
})

test('a queue with nothing in it stores nothing', async () => {
  const { queue, stored } = aQueue()
  queue.run()
  await nextTurn()
  expect(stored).toEqual([])
})
