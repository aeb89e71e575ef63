import { testSeed } from '@gateway/core/testing'
import { runFaults, type FaultRun } from '../faults/run.ts'
import { root } from './process.ts'

type Over = Pick<FaultRun, 'carrier'> & Partial<FaultRun>

/** Faults and counts that a short run on a busy machine may end before; another run meets them. */
const missedMost = 2

/**
 * The short form of the fault test over a carrier: all promises hold, each of these faults came, and so much of the
 * rest, but for two at most; `a | b`: of both together.
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
  // What was not tried was not shown.
  const least: Readonly<Record<string, number>> = {
    ...Object.fromEntries(faults.map((fault) => [`fault: ${fault}`, 1])),
    ...counted,
  }
  const counts = Object.keys(least).map((what) => [what, sum(what.split(' | ').map((one) => figures.of(one)))] as const)
  process.stdout.write(`faults: ${counts.map(([what, count]) => `${what} ${count}`).join(', ')}\n`)
  expect(figures.violations).toEqual([])
  const missed = counts.filter(([what, count]) => count < (least[what] ?? 1))
  expect(missed.slice(missedMost)).toEqual([])
}

const sum = (counts: readonly number[]): number => counts.reduce((total, count) => total + count, 0)
