import type { Cost } from '../figures/costs.ts'
import type { Started } from '../environment/processes.ts'
import type { BenchmarkEnvironment } from '../environment/environment.ts'
import { measured } from '../environment/usage.ts'
import type { Latencies } from '../loads/latencies.ts'
import type { SendLoad } from '../loads/send-load.ts'
import type { Worker } from '../loads/workers.ts'

/** Result of a round in which messages are accepted and not dispatched. */
export interface Accepting extends Cost {
  /** Recipients a second. */
  readonly perSecond: number
  readonly latencies: Latencies
}

/** Sends to one process of the gateway. */
export async function accepting(
  environment: BenchmarkEnvironment,
  app: Started,
  worker: Worker,
  load: Omit<SendLoad, 'firstNumber' | 'url'>,
): Promise<Accepting> {
  const { result, usage } = await measured(environment.server, [app], () =>
    environment.sends(worker, { url: app.url, ...load }),
  )
  return {
    usage,
    count: result.recipients,
    generator: result.cpu,
    perSecond: result.recipients / result.seconds,
    latencies: result.latencies,
  }
}

export const perSecondOf = (rounds: readonly { readonly perSecond: number }[]): number[] =>
  rounds.map(({ perSecond }) => perSecond)

export const keysOf = (accounts: readonly { readonly key: string }[]): string[] => accounts.map(({ key }) => key)
