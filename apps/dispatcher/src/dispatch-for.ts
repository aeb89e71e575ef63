import type { CarrierSpecification } from '@gateway/carriers'
import type { Carrier, Ports, ProcessingSettings } from '@gateway/core'
import { createMetrics, type HealthSettings, type ProcessContext, type Variables } from '@gateway/server'
import type { ConfiguredCarriers } from './configured-carriers.ts'
import { measureDispatching, measurePushing, measureWaiting } from './dispatch-metrics.ts'
import { startDispatching, type DispatchSettings } from './dispatch.ts'
import { withCarriers, withProgress } from './progress.ts'
import { startPushing, type PushingSettings } from './push.ts'
import { createReload } from './reload-carriers.ts'
import { tellCarriers } from './tell-carriers.ts'
import { dispatcherSettings } from './variables.ts'

type Context<Environment> = Pick<ProcessContext<Variables>, 'log' | 'onStop' | 'onHangUp'> & {
  readonly environment: Environment
}

/** So long a stop waits for the answers of carriers. */
const drainSeconds = 12

/** So long a stop waits for the answers of endpoints, beside the carriers. */
const pushSeconds = 4

interface Dispatched {
  readonly ports: DispatchSettings['ports'] &
    PushingSettings['ports'] &
    Pick<Ports, 'routes' | 'carrierStatuses' | 'carrierBinds'>
  readonly configured: ConfiguredCarriers
  readonly health: HealthSettings
  readonly processing: ProcessingSettings
}

/** Publishes the routes, and dispatches until the process stops; with metrics, and with progress as a part of readiness. */
export async function dispatchFor(
  { environment, log, onStop, onHangUp }: Context<Parameters<typeof dispatcherSettings>[0]>,
  { ports, configured, health, processing }: Dispatched,
) {
  const { configuration } = configured
  await ports.routes.publish(configuration.routes)
  const pushing = startPushing({ ports, log, quietMilliseconds: () => dispatching.pause() })
  onStop('pushing', () => pushing.stop(pushSeconds))
  const settings = dispatcherSettings(environment)
  const sharing = { binds: ports.carrierBinds, leaseSeconds: environment.LEASE_SECONDS }
  const make = (specification: CarrierSpecification): Carrier => configured.make(specification, sharing)
  const carriers = configuration.carriers.map(make)
  const dispatching = startDispatching({
    ports: pushing.waking(ports),
    carriers,
    log,
    settings,
    processing,
    woken: () => pushing.wake(),
  })
  onStop('dispatching', () => dispatching.stop(drainSeconds))
  if (configuration.file !== undefined) {
    const reloading = createReload({
      configured,
      make,
      dispatching,
      publish: (routes) => ports.routes.publish(routes),
      log,
    })
    onStop('reload of carriers', () => reloading.stop())
    onHangUp(() => reloading.reload())
  }
  const telling = tellCarriers({ ...ports, reports: () => dispatching.reports(), log })
  onStop('status of carriers', () => telling.stop())
  const metrics = createMetrics()
  measurePushing(metrics, pushing)
  measureWaiting(metrics, ports.webhooks)
  measureDispatching(metrics, dispatching)
  return { dispatching, metrics, health: withCarriers(withProgress(health, dispatching), dispatching) }
}
