import type { Carrier, ProcessingSettings } from '@gateway/core'
import { createMetrics, type HealthSettings, type ProcessContext, type Variables } from '@gateway/server'
import { carriersFrom } from './carriers.ts'
import { measureDispatching, measurePushing } from './dispatch-metrics.ts'
import { startDispatching, type DispatchSettings } from './dispatch.ts'
import { withProgress } from './progress.ts'
import { startPushing, type PushingSettings } from './push.ts'
import { dispatcherSettings } from './variables.ts'

type Context<Environment> = Pick<ProcessContext<Variables>, 'log' | 'onStop'> & { readonly environment: Environment }

/** The carriers of the environment. */
export const carriersFor = ({
  environment: { CARRIERS, DATA_DIR },
  log,
}: Context<{ readonly CARRIERS: string; readonly DATA_DIR: string }>): readonly Carrier[] =>
  carriersFrom(CARRIERS, { dataDir: DATA_DIR, report: (err) => log.error({ err }, 'carrier') })

/** So long a stop waits for the answers of carriers. */
const drainSeconds = 12

/** So long a stop waits for the answers of endpoints, beside the carriers. */
const pushSeconds = 4

interface Dispatched extends Pick<DispatchSettings, 'carriers'> {
  readonly ports: DispatchSettings['ports'] & PushingSettings['ports']
  readonly health: HealthSettings
  readonly processing: ProcessingSettings
}

/** Dispatches by the environment until the process stops; with metrics, and with progress as a part of readiness. */
export function dispatchFor(
  { environment, log, onStop }: Context<Parameters<typeof dispatcherSettings>[0]>,
  { ports, carriers, health, processing }: Dispatched,
) {
  const pushing = startPushing({ ports, log })
  onStop('pushing', () => pushing.stop(pushSeconds))
  const settings = dispatcherSettings(environment)
  const dispatching = startDispatching({ ports: pushing.waking(ports), carriers, log, settings, processing })
  onStop('dispatching', () => dispatching.stop(drainSeconds))
  const metrics = createMetrics()
  measurePushing(metrics, pushing)
  measureDispatching(metrics, dispatching)
  return { dispatching, metrics, health: withProgress(health, dispatching) }
}
