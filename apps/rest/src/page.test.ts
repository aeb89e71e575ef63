import { setImmediate } from 'node:timers/promises'
import { admissionGate } from '@gateway/server'
import { pageFields } from './page.ts'

test('a page is rendered in pieces that yield to other requests, and is complete and in order', async () => {
  const { slices } = admissionGate(10)
  const items = Array.from({ length: 1000 }, (_, i) => i)
  // Takes 0.1 ms, about as long as rendering a delivery attempt with a hundred events.
  const json = (item: number): string => {
    const until = performance.now() + 0.1
    while (performance.now() < until);
    return String(item)
  }
  const others = { turns: 0, areDone: false }
  const turning = (async () => {
    for (; !others.areDone; others.turns++) await setImmediate()
  })()
  const inTurn = <Made>(piece: () => Made) => slices.run('1', piece)
  const fields = await pageFields({ inTurn }, { offset: 3, limit: 1000 }, 'items', { total: 9, items }, json)
  others.areDone = true
  await turning
  expect(others.turns).toBeGreaterThan(10)
  expect(fields.take()).toBe(
    `"resultsOffset":3,"resultsLimit":1000,"resultsTotalAvailable":9,"items":[${items.join()}]`,
  )
})
