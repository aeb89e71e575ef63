import { testSeed } from '@gateway/core/testing'
import { runFaults, type FaultRun } from '../faults/run.ts'
import { root } from './process.ts'

/** The short form of the fault test over a carrier: all promises hold, and each of these faults came. */
export async function expectPromisesHold(
  over: Pick<FaultRun, 'carrier' | 'carrierPerSecond'>,
  faults: readonly string[],
): Promise<void> {
  const figures = await runFaults({
    seed: testSeed(),
    seconds: 30,
    root,
    recipientsPerSecond: 100,
    secondsBetweenFaults: 1,
    keepsLogs: false,
    ...over,
  })
  // What was not tried was not shown.
  const least: Readonly<Record<string, number>> = {
    ...Object.fromEntries(faults.map((fault) => [`fault: ${fault}`, 1])),
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
}
