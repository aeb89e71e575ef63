import { testSeed } from '@gateway/core/testing'
import { runFaults, type FaultRun } from '../faults/run.ts'
import { root } from './process.ts'

type Over = Pick<FaultRun, 'carrier'> & Partial<FaultRun>

/** So many kinds of faults come also on a busy machine, and so few counts are missed; another run meets the others. */
const faultsLeast = 3
const missedMost = 2

/**
 * The short form of the fault test over a carrier: all promises hold, faults of three of these kinds came at least, and
 * so much of the rest, but for two at most; `a | b`: of both together.
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
    (what) => [what, sum(what.split(' | ').map((one) => figures.of(one)))] as const,
  )
  process.stdout.write(`faults: ${came.join(', ')}; ${counts.map(([what, count]) => `${what} ${count}`).join(', ')}\n`)
  expect(figures.violations).toEqual([])
  // What was not tried was not shown.
  expect(came.length).toBeGreaterThanOrEqual(Math.min(faultsLeast, faults.length))
  const missed = counts.filter(([what, count]) => count < (counted[what] ?? 1))
  expect(missed.slice(missedMost)).toEqual([])
}

const sum = (counts: readonly number[]): number => counts.reduce((total, count) => total + count, 0)
