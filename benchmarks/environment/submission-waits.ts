import { submissions } from './checks.ts'
import type { BenchmarkEnvironment } from './environment.ts'

/**
 * Returns the milliseconds from the time of each request until the submission of its message according to the carrier's
 * record. Negative if the message was submitted earlier. `times` has the form of a load: id, time, id, time …
 */
export async function submissionWaits(environment: BenchmarkEnvironment, times: readonly number[]): Promise<number[]> {
  const dueTimes = new Map<number, number>()
  for (let at = 0; at < times.length; at += 2) dueTimes.set(times[at] ?? 0, times[at + 1] ?? 0)
  const milliseconds: number[] = []
  for await (const { id, at } of submissions(environment.folder)) {
    const dueAt = dueTimes.get(id)
    if (dueAt !== undefined) milliseconds.push(at - dueAt)
  }
  environment.check(
    'the carrier has seen every single send',
    milliseconds.length === dueTimes.size ? undefined : `${milliseconds.length} of ${dueTimes.size}`,
  )
  return milliseconds
}
