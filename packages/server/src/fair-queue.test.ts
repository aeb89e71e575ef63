import { fairQueue } from './fair-queue.ts'

const queueOf = (...items: readonly string[]) => {
  const queue = fairQueue<string>()
  for (const item of items) queue.push(item.slice(0, 1), item)
  return queue
}
const drained = (queue: ReturnType<typeof queueOf>) => Array.from({ length: queue.length }, () => queue.shift())

test('owners take turns, and of one owner the first comes first', () => {
  const queue = queueOf('a1', 'a2', 'a3', 'b1', 'c1', 'c2')
  expect(drained(queue)).toEqual(['a1', 'b1', 'c1', 'a2', 'c2', 'a3'])
  expect([queue.length, queue.shift()]).toEqual([0, undefined])
})

test('an owner that comes later waits for one of each other owner at the most', () => {
  const queue = queueOf('a1', 'a2', 'a3')
  expect(queue.shift()).toBe('a1')
  queue.push('b', 'b1')
  expect(drained(queue)).toEqual(['a2', 'b1', 'a3'])
})

test('what is removed is not handed out, and is removed once', () => {
  const queue = queueOf('a1', 'a2', 'b1')
  expect([queue.remove('a', 'a1'), queue.remove('a', 'a1'), queue.remove('b', 'b1')]).toEqual([true, false, true])
  expect(drained(queue)).toEqual(['a2'])
})

test('the newest of the owner with most waiting makes room, of several that of the last in turn', () => {
  const queue = queueOf('a1', 'a2', 'a3', 'b1', 'c1', 'c2', 'c3')
  expect([queue.displace('d'), queue.displace('d'), queue.displace('d')]).toEqual(['c3', 'a3', 'c2'])
  expect(drained(queue)).toEqual(['a1', 'b1', 'c1', 'a2'])
})

test('nobody makes room for an owner who would have as much waiting as any', () => {
  const queue = queueOf('a1', 'a2', 'b1')
  expect([queue.displace('a'), queue.displace('b')]).toEqual([undefined, undefined])
  expect(queue.displace('c')).toBe('a2')
})

test('owners take turns by work: who has had least is next', () => {
  const queue = fairQueue<string>()
  for (const item of ['a1', 'a2', 'a3']) queue.push('a', item, 100)
  for (const item of ['b1', 'b2', 'b3', 'b4', 'b5']) queue.push('b', item, 50)
  expect(drained(queue)).toEqual(['a1', 'b1', 'b2', 'a2', 'b3', 'b4', 'a3', 'b5'])
})

test('who comes after much work of another waits for one of it at the most', () => {
  const queue = fairQueue<string>()
  for (const item of ['a1', 'a2', 'a3']) queue.push('a', item, 1000)
  expect([queue.shift(), queue.peek()]).toEqual(['a1', 'a2'])
  for (const item of ['b1', 'b2']) queue.push('b', item)
  queue.push('c', 'c1')
  expect(drained(queue)).toEqual(['a2', 'b1', 'c1', 'b2', 'a3'])
})
