import { submissions } from './checks.ts'
import type { BenchmarkEnvironment } from './environment.ts'

/**
 * Milliseconds from the time of each request until its message was submitted, by the carrier's record; below 0: it was
 * submitted before. `times` as a load keeps them: id, time, id, time …
 */
export async function submissionWaits(environment: BenchmarkEnvironment, times: readonly number[]): Promise<number[]> {
  const wanted = new Map<number, number>()
  for (let at = 0; at < times.length; at += 2) wanted.set(times[at] ?? 0, times[at + 1] ?? 0)
  const milliseconds: number[] = []
  for await (const { id, at } of submissions(environment.folder)) {
    const asked = wanted.get(id)
    if (asked !== undefined) milliseconds.push(at - asked)
  }
  environment.check(
    'the carrier has seen every single send',
    milliseconds.length === wanted.size ? undefined : `${milliseconds.length} of ${wanted.size}`,
  )
  return milliseconds
}
