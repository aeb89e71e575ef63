import type { Cost } from '../figures/costs.ts'
import type { Started } from '../ground/processes.ts'
import type { Scene } from '../ground/scene.ts'
import { measured } from '../ground/usage.ts'
import type { Latencies } from '../loads/latencies.ts'
import type { SendLoad } from '../loads/send-load.ts'
import type { Worker } from '../loads/workers.ts'

/** A round of accepting, nothing of which is dispatched. */
export interface Accepting extends Cost {
  /** Recipients. */
  readonly perSecond: number
  readonly latencies: Latencies
}

/** Sends to one process of the product. */
export async function accepting(
  scene: Scene,
  app: Started,
  worker: Worker,
  load: Omit<SendLoad, 'firstNumber' | 'url'>,
): Promise<Accepting> {
  const { result, usage } = await measured(scene.server, [app], () => scene.sends(worker, { url: app.url, ...load }))
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
