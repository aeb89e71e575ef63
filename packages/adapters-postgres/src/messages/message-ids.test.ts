import type { Statement } from '../sql/statement.ts'
import { messageIds } from './message-ids.ts'

/** Leases blocks of 10,000 in order, as the database does. */
function blocks() {
  const leased: { statement: string; values: unknown }[] = []
  const run = <Values, Row>(statement: Statement<Values, Row>, values: Values): Promise<Row[]> => {
    const lo = leased.length * 10_000
    leased.push({ statement: statement.name, values })
    return Promise.resolve([{ lo: Math.max(lo, 1), hi: lo + 10_000 } as Row])
  }
  return { leased, run }
}

const spans = (ranges: readonly { lo: number; hi: number }[]) => ranges.map(({ lo, hi }) => [lo, hi])

test('ids come from one block in order', async () => {
  const database = blocks()
  const ids = messageIds(database, 'own-block')
  const ranges = await Promise.all([ids.take(1), ids.take(1000), ids.take(2)])
  expect(ranges.map(spans)).toEqual([[[1, 2]], [[2, 1002]], [[1002, 1004]]])
  expect(database.leased).toHaveLength(1)
})

test('ids that do not fit into the rest of a block come from the next, and the rest is used later', async () => {
  const ids = messageIds(blocks(), 'own-block')
  await ids.take(4999)
  await ids.take(4900)
  expect(spans(await ids.take(200))).toEqual([[10_000, 10_200]])
  expect(spans(await ids.take(100))).toEqual([[9900, 10_000]])
})

test('more ids than a block has come as several ascending ranges with the right total', async () => {
  const ids = messageIds(blocks(), 'own-block')
  const ranges = await ids.take(23_456)
  expect(ranges.reduce((sum, { lo, hi }) => sum + hi - lo, 0)).toBe(23_456)
  for (const [i, { lo }] of ranges.entries()) expect(lo).toBeGreaterThanOrEqual(ranges[i - 1]?.hi ?? 1)
})

test('refused orders do not use up ids', async () => {
  const database = blocks()
  const ids = messageIds(database, 'own-block')
  for (let order = 0; order < 1000; order++) {
    const [first, second] = await Promise.all([ids.take(1000), ids.take(700)])
    ids.giveBack(first)
    ids.giveBack(second)
  }
  expect(database.leased).toHaveLength(1)
  expect(spans(await ids.take(5000))).toEqual([[1, 5001]])
})

test('a block is not used after an hour, including returned ids', async () => {
  let now = 0
  const ids = messageIds(blocks(), 'own-block', () => now)
  const early = await ids.take(10)
  now = 3_600_000
  ids.giveBack(early)
  expect(spans(await ids.take(10))).toEqual([[10_000, 10_010]])
})

test('a process that shares a block leases what it needs', async () => {
  const database = blocks()
  const ids = messageIds(database, 'shared-block')
  await ids.take(1)
  expect(database.leased).toEqual([{ statement: 'lease-shared', values: { count: 100 } }])
})

test('a failed lease fails its caller only', async () => {
  const database = blocks()
  let broken = true
  const run = <Values, Row>(statement: Statement<Values, Row>, values: Values): Promise<Row[]> =>
    broken ? Promise.reject(new Error('gone')) : database.run(statement, values)
  const ids = messageIds({ run }, 'own-block')
  await expect(ids.take(1)).rejects.toThrow('gone')
  broken = false
  expect(spans(await ids.take(1))).toEqual([[1, 2]])
})
