import { testSeed } from '@gateway/core/testing'
import { root } from './support/process.ts'
import { needed } from './faults/faults.ts'
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
  const least: Readonly<Record<string, number>> = {
    ...Object.fromEntries(needed.map((fault) => [`fault: ${fault}`, 1])),
    'recipients accepted': 500,
    'polls: answered': 100,
    'requests with a key: repeated until answered': 5,
    'requests with a key: repeated after an answer': 10,
    'polls that returned something': 10,
    'events received': 500,
    'pushes: repeated': 10,
    'looks at all dispatchers, undisturbed, with work due or claimed': 20,
  }
  const counts = Object.keys(least).map((what) => [what, figures.of(what)] as const)
  process.stdout.write(`faults: ${counts.map(([what, count]) => `${what} ${count}`).join(', ')}\n`)
  expect(counts.filter(([what, count]) => count < (least[what] ?? 1))).toEqual([])
  expect(figures.violations).toEqual([])
}, 400_000)
