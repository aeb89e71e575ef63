import type { Cost } from '../figures/costs.ts'
import { drained } from '../environment/drained.ts'
import type { Started } from '../environment/processes.ts'
import type { BenchmarkEnvironment } from '../environment/environment.ts'
import type { PlainLife } from '../limits/plain-life.ts'
import { measured } from '../environment/usage.ts'
import type { Worker } from '../loads/workers.ts'

/** Number of phone numbers to reserve for a load that runs for a fixed time. */
const numbersByTime = 1_000_000

/** Result of a round in which messages pass through their whole life: accept, claim, submission, receipt. */
export interface Living extends Cost {
  readonly perSecond: number
}

export interface Lives {
  readonly keys: readonly string[]
  readonly connections: number
  readonly recipients: number
  /** Number of messages to send. Otherwise the load runs for a number of seconds. */
  readonly messages?: number
  readonly seconds?: number
}

/**
 * Measures from the first request to the last DELIVERED. In the result, `usage.apps` has the costs of the rest process
 * and of the dispatcher, in this order.
 */
export async function living(
  environment: BenchmarkEnvironment,
  [rest, dispatcher]: readonly [Started, Started],
  worker: Worker,
  { messages, ...load }: Lives,
): Promise<Living> {
  const { result, usage } = await measured(environment.server, [rest, dispatcher], async () => {
    const requests = messages === undefined ? {} : { requests: Math.ceil(messages / load.recipients) }
    const sent = await environment.sends(worker, { url: rest.url, face: 'rest', ...load, ...requests })
    await drained(environment.database, sent.accepted)
    return sent
  })
  return { usage, count: result.recipients, generator: result.cpu, perSecond: result.recipients / usage.seconds }
}

/** Runs the same messages through one plain table, driven by this benchmark without HTTP and carrier. */
export async function livingPlainly(
  environment: BenchmarkEnvironment,
  worker: Worker,
  plain: Omit<PlainLife, 'connectionString' | 'firstNumber'>,
): Promise<Living> {
  const { connectionString } = environment.database
  const firstNumber = environment.numbers(plain.messages ?? numbersByTime)
  const { result, usage } = await measured(environment.server, [], () =>
    worker.run('plainLife', { connectionString, firstNumber, ...plain }),
  )
  environment.check(
    'the plain table delivered all it accepted',
    result.delivered === result.messages ? undefined : `${result.delivered} of ${result.messages}`,
  )
  return { usage, count: result.messages, generator: result.cpu, perSecond: result.messages / result.seconds }
}

export const postgresOf = (rounds: readonly Cost[]): number[] =>
  rounds.map(({ usage, count }) => usage.postgres / count)
