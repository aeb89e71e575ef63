import { until } from '@gateway/core/testing'
import { DelayQueue } from './receipt-sender.ts'

function collecting(batchMax: number) {
  const batches: (readonly number[])[] = []
  const line = new DelayQueue<number>(batchMax, () => {
    for (let due = line.takeDue(); due.length > 0; due = line.takeDue()) batches.push(due)
  })
  return { line, batches }
}

test('items without delay are delivered in a later turn, in order, at most one batch at a time', async () => {
  const { line, batches } = collecting(4)
  line.add([1, 2, 3], 0)
  line.add([4], 0)
  line.add([5, 6, 7, 8, 9], 0)
  expect(batches).toEqual([])
  await until(() => batches.flat().length === 9)
  expect(batches).toEqual([[1, 2, 3, 4], [5, 6, 7, 8], [9]])
})

test('an item that is due earlier does not wait for items added before it', async () => {
  const { line, batches } = collecting(10)
  line.add([2], 3_600_000)
  line.add([1], 20)
  await until(() => batches.length === 1)
  expect(batches).toEqual([[1]])
  line.stop()
})

test('items that are not acknowledged stay in the queue and are announced only once', async () => {
  let calls = 0
  const line = new DelayQueue<number>(10, () => calls++)
  line.add([1], 0)
  await until(() => calls === 1)
  for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate)
  expect(calls).toBe(1)
  expect(line.takeDue()).toEqual([1])
})
