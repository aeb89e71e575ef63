import { root } from './support/process.ts'
import { runFaults } from './faults/run.ts'

test('under kills, pauses, cut connections and restarts of PostgreSQL every promise holds', async () => {
  const seed = Number(process.env['FAULTS_SEED'] ?? Math.floor(Math.random() * 1e9))
  console.log(`to choose the same faults again: FAULTS_SEED=${seed}`)
  const figures = await runFaults({
    seed,
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
