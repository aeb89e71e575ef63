import type { Carrier, ProcessingSettings } from '@gateway/core'
import { createMetrics, type HealthSettings, type ProcessContext, type Variables } from '@gateway/server'
import { carriersFrom } from './carriers.ts'
import { measureDispatching } from './dispatch-metrics.ts'
import { startDispatching, type DispatchSettings } from './dispatch.ts'
import { withProgress } from './progress.ts'
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

interface Dispatched extends Pick<DispatchSettings, 'ports' | 'carriers'> {
  readonly health: HealthSettings
  readonly processing: ProcessingSettings
}

/** Dispatches by the environment until the process stops; with metrics, and with progress as a part of readiness. */
export function dispatchFor(
  { environment, log, onStop }: Context<Parameters<typeof dispatcherSettings>[0]>,
  { ports, carriers, health, processing }: Dispatched,
) {
  const dispatching = startDispatching({ ports, carriers, log, settings: dispatcherSettings(environment), processing })
  onStop('dispatching', () => dispatching.stop(drainSeconds))
  const metrics = createMetrics()
  measureDispatching(metrics, dispatching)
  return { dispatching, metrics, health: withProgress(health, dispatching) }
}
