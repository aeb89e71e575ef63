import { listsOfBatch } from './lists-of-batch.ts'
import type { StoredEvents } from './stored-event.ts'

/** Of messages of one send, or of an arrival, which has no numbers. */
const stored = (subjects: readonly number[], hasNumbers = true): StoredEvents => [
  0,
  4,
  1_700_000_000_000,
  0,
  1,
  20,
  true,
  null,
  null,
  null,
  'hi',
  subjects,
  hasNumbers ? subjects.map((subject) => `27${subject}`) : null,
]

const [a, b, c] = [stored([1, 2, 3, 4, 5]), stored([6], false), stored([7, 8])]

test.each<[name: string, batch: readonly StoredEvents[], size: number, lists: readonly (readonly StoredEvents[])[]]>([
  ['one by one', [a, b], 1, [...[1, 2, 3, 4, 5].map((subject) => [stored([subject])]), [b]]],
  ['across sends', [a, b, c], 4, [[stored([1, 2, 3, 4])], [stored([5]), b, c]]],
  ['the last one shorter', [a, b, c], 3, [[stored([1, 2, 3])], [stored([4, 5]), b], [c]]],
  ['all at once', [a, b, c], 100, [[a, b, c]]],
  ['nothing', [], 5, []],
])('lists are cut from a batch: %s', (_, batch, size, lists) => {
  expect(listsOfBatch(batch, size)).toEqual(lists)
})
