import { inSlices } from './event-loop.ts'

test('other work runs while many items are made, and the items keep their order', async () => {
  let turns = 0
  const turning = setInterval(() => turns++, 0)
  const items = Array.from({ length: 50 }, (_, i) => i)
  const busy = (item: number): number => {
    for (const begun = performance.now(); performance.now() - begun < 1;);
    return item * 2
  }
  const made = await inSlices(items, busy)
  clearInterval(turning)
  expect(made).toEqual(items.map((item) => item * 2))
  expect(turns).toBeGreaterThan(10)
})
