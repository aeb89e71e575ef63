import { testSeed } from '@gateway/core/testing'
import { runFaults, type FaultRun } from '../faults/run.ts'
import { root } from './process.ts'

type Over = Pick<FaultRun, 'carrier'> & Partial<FaultRun>

/**
 * Minimum number of kinds of faults that a run must have. `missedMost` is the maximum number of counts that may be too
 * low. The bounds are loose because of busy machines: another run reaches the counts that this one misses.
 */
const faultsLeast = 3
const missedMost = 2

/**
 * Runs the short form of the fault test over a carrier. Asserts that all promises hold, that at least three of these
 * kinds of faults happened, and that all but two of the counts reached their minimum. A count named `a | b` is the sum
 * of both.
 */
export async function expectPromisesHold(
  over: Over,
  faults: readonly string[],
  counted: Readonly<Record<string, number>>,
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
  const came = faults.filter((fault) => figures.of(`fault: ${fault}`) > 0)
  const counts = Object.keys(counted).map(
    (name) => [name, sum(name.split(' | ').map((one) => figures.of(one)))] as const,
  )
  process.stdout.write(`faults: ${came.join(', ')}; ${counts.map(([name, count]) => `${name} ${count}`).join(', ')}\n`)
  expect(figures.violations).toEqual([])
  // If fewer of these faults happened, the run proves too little.
  expect(came.length).toBeGreaterThanOrEqual(Math.min(faultsLeast, faults.length))
  const missed = counts.filter(([name, count]) => count < (counted[name] ?? 1))
  expect(missed.slice(missedMost)).toEqual([])
}

const sum = (counts: readonly number[]): number => counts.reduce((total, count) => total + count, 0)
