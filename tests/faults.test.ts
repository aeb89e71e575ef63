import { testSeed } from '@gateway/core/testing'
import { root } from './support/process.ts'
import { runFaults } from './faults/run.ts'

test('under kills, pauses, cut connections and restarts of PostgreSQL every promise holds', async () => {
  const figures = await runFaults({
    seed: testSeed(),
    seconds: 30,
    root,
    recipientsPerSecond: 100,
    secondsBetweenFaults: 1,
    keepsLogs: false,
  })
  // What was not tried was not shown.
  for (const fault of ['kill a dispatcher', 'pause a dispatcher beyond its lease', 'cut at a statement']) {
    expect(figures.of(`fault: ${fault}`)).toBeGreaterThan(0)
  }
  expect(figures.of('recipients accepted')).toBeGreaterThan(500)
  expect(figures.violations).toEqual([])
}, 400_000)
