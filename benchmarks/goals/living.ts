import type { Cost } from '../figures/costs.ts'
import { drained } from '../ground/drained.ts'
import type { Started } from '../ground/processes.ts'
import type { Scene } from '../ground/scene.ts'
import type { PlainLife } from '../limits/plain-life.ts'
import { measured } from '../ground/usage.ts'
import type { Worker } from '../loads/workers.ts'

/** A load that runs by time gets so many numbers. */
const numbersByTime = 1_000_000

/** A round of whole lives: accept, claim, hand-over, receipt. */
export interface Living extends Cost {
  readonly perSecond: number
}

export interface Lives {
  readonly keys: readonly string[]
  readonly connections: number
  readonly recipients: number
  /** Sends so many messages, or for so many seconds. */
  readonly messages?: number
  readonly seconds?: number
}

/** From the first request to the last DELIVERED. Of the costs, `apps` are those of rest and the dispatcher. */
export async function living(
  scene: Scene,
  [rest, dispatcher]: readonly [Started, Started],
  worker: Worker,
  { messages, ...load }: Lives,
): Promise<Living> {
  const { result, usage } = await measured(scene.server, [rest, dispatcher], async () => {
    const requests = messages === undefined ? {} : { requests: Math.ceil(messages / load.recipients) }
    const sent = await scene.sends(worker, { url: rest.url, face: 'rest', ...load, ...requests })
    await drained(scene.database, sent.accepted)
    return sent
  })
  return { usage, count: result.recipients, generator: result.cpu, perSecond: result.recipients / usage.seconds }
}

/** The same messages through one plain table, driven by this benchmark: no HTTP, no carrier. */
export async function livingPlainly(
  scene: Scene,
  worker: Worker,
  plain: Omit<PlainLife, 'connectionString' | 'firstNumber'>,
): Promise<Living> {
  const { connectionString } = scene.database
  const firstNumber = scene.numbers(plain.messages ?? numbersByTime)
  const { result, usage } = await measured(scene.server, [], () =>
    worker.run('plainLife', { connectionString, firstNumber, ...plain }),
  )
  scene.check(
    'the plain table delivered all it accepted',
    result.delivered === result.messages ? undefined : `${result.delivered} of ${result.messages}`,
  )
  return { usage, count: result.messages, generator: result.cpu, perSecond: result.messages / result.seconds }
}

export const postgresOf = (rounds: readonly Cost[]): number[] =>
  rounds.map(({ usage, count }) => usage.postgres / count)
