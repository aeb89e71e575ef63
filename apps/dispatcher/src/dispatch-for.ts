import { hostname } from 'node:os'
import type { CarrierPorts, CarrierSharePorts, CarrierSpecification } from '@gateway/carriers'
import type { FleetPorts, Ports, ProcessingSettings } from '@gateway/core'
import { dispatcherDefaults, type Carrier, type DispatcherSettings, type ProcessPlace } from '@gateway/core/dispatch'
import {
  createMetrics,
  createTracing,
  optionalUrl,
  text,
  unreadyReason,
  version,
  wholeNumber,
  type HealthSettings,
  type ProcessContext,
  type Variables,
} from '@gateway/server'
import { callHeartbeat } from './call-heartbeat.ts'
import { agreeWithOthers, type ConfiguredCarriers } from './configured-carriers.ts'
import {
  measureDispatching,
  measureDoubt,
  measurePushing,
  measureRoutes,
  measureUnknown,
  measureVersion,
  measureWaiting,
} from './dispatch-metrics.ts'
import { sendDailySummary } from './daily-summary.ts'
import { startDispatching, type DispatchSettings } from './dispatch.ts'
import { followCarriers } from './follow-carriers.ts'
import { followModes, modesOf } from './follow-modes.ts'
import { followPromotions } from './follow-promotions.ts'
import { followWatches } from './follow-watches.ts'
import { withAgreement, withCarriers, withProgress } from './health.ts'
import { Heartbeat } from './heartbeat.ts'
import { startPushing, type PushingSettings } from './push.ts'
import { traceCarrier } from './trace-carrier.ts'

type Context<Environment> = Pick<ProcessContext<Variables>, 'log' | 'onStop' | 'onHangUp'> & {
  readonly environment: Environment
}

/** Maximum seconds for which a stopping process waits for the carriers to answer. */
const drainSeconds = 12

/**
 * Maximum seconds for which a stopping process waits for webhook endpoints to answer. It waits for the carriers at the
 * same time.
 */
const pushSeconds = 4

interface Dispatched {
  readonly ports: DispatchSettings['ports'] &
    PushingSettings['ports'] &
    CarrierPorts &
    CarrierSharePorts &
    FleetPorts &
    Pick<Ports, 'dailySums'>
  readonly configured: ConfiguredCarriers
  readonly health: HealthSettings
  readonly processing: ProcessingSettings
}

/**
 * Dispatches over the carriers that all processes use, until the process stops. Registers metrics, and makes progress a
 * condition of readiness. Throws an Error for the operator if other processes use different carriers.
 */
export async function dispatchFor(
  { environment, log, onStop, onHangUp }: Context<Parameters<typeof dispatcherSettings>[0] & ReportEnvironment>,
  { ports, configured, health, processing }: Dispatched,
) {
  const agreed = await agreeWithOthers(ports, configured, environment)
  const { configuration } = agreed
  const heartbeat = new Heartbeat({ ...ports, user: agreed.user, leaseSeconds: environment.LEASE_SECONDS, log })
  onStop('exchange with other processes', () => heartbeat.stop())
  await heartbeat.start()
  const pushing = startPushing({
    ...{ ports, log },
    quietMilliseconds: () => dispatching.pause(),
    isSoundAsleep: () => dispatching.isSoundAsleep(),
  })
  onStop('pushing', () => pushing.stop(pushSeconds))
  const settings = dispatcherSettings(environment)
  const leaseSeconds = environment.LEASE_SECONDS
  const sharing = { binds: ports.carrierBinds, rates: ports.carrierRates, leaseSeconds }
  const tracing = createTracing()
  const make = (specification: CarrierSpecification): Carrier => {
    const carrier = configured.make(specification, { sharing, clock: ports.clock })
    return tracing === undefined ? carrier : traceCarrier(carrier, tracing)
  }
  const carriers = configuration.carriers.map(make)
  const dispatching = startDispatching({
    ports: pushing.waking(ports),
    carriers,
    modes: modesOf(heartbeat.state.paused),
    log,
    settings,
    processing,
    woken: () => pushing.wake(),
  })
  heartbeat.reportOn(dispatching)
  onStop('dispatching', () => dispatching.stop(drainSeconds))
  const following = followCarriers({ ports, heartbeat, configuration, configured, make, dispatching, log })
  onStop('changes of carriers', () => following.stop())
  if (configured.readAgain !== undefined) onHangUp(() => following.reload())
  const modes = followModes({ heartbeat, dispatching, log })
  const { process } = agreed.user
  const { fleet, clock } = ports
  const watches = followWatches({ heartbeat, fleet, clock, process, dispatching, log })
  onStop('watches of carriers', () => watches.stop())
  const promotions = followPromotions({ promotions: ports.promotions, log })
  onStop('messages in doubt', () => promotions.stop())
  const metrics = createMetrics()
  measurePushing(metrics, pushing)
  measureWaiting(metrics, ports.webhooks, ports.clock)
  measureRoutes(metrics, ports.overview, ports.clock)
  measureUnknown(metrics, ports.overview)
  measureDispatching(metrics, dispatching)
  measureDoubt(metrics, promotions)
  measureVersion(metrics, following)
  const whole = withAgreement(withProgress(health, dispatching), following)
  const { HEARTBEAT_URL: heartbeatUrl, SUMMARY_URL: summaryUrl } = environment
  if (heartbeatUrl !== undefined) {
    const client = ports.webhookClient
    const beating = callHeartbeat({ url: heartbeatUrl, unreadyReason: unreadyReason(whole), client, clock, log })
    // A call in progress ends when the client of webhooks is closed.
    onStop('heartbeat', () => void beating.stop())
  }
  if (summaryUrl !== undefined) {
    const reporting = sendDailySummary({ url: summaryUrl, ports, place: thisPlace(), log })
    onStop('daily summary', () => void reporting.stop())
  }
  return {
    dispatching,
    metrics,
    health: { ...withCarriers(whole, dispatching), notes: () => [...promotions.notes(), ...modes.notes()] },
    configuration,
    certificates: following.certificates,
  }
}

interface ReportEnvironment {
  readonly HEARTBEAT_URL: string | undefined
  readonly SUMMARY_URL: string | undefined
}

type Numbers = 'IN_DOUBT_MAX' | 'LEASE_SECONDS' | 'VALIDITY_HOURS' | 'RETRY_SECONDS'

type DispatchVariables = Readonly<Record<Numbers, ReturnType<typeof wholeNumber>>> & {
  readonly CARRIERS: ReturnType<typeof text>
  readonly HEARTBEAT_URL: ReturnType<typeof optionalUrl>
  readonly SUMMARY_URL: ReturnType<typeof optionalUrl>
}

/** Environment variables of a dispatching process, in addition to the common ones. */
export const dispatchVariables: DispatchVariables = {
  /** Carriers to use. If empty, the stored carriers are used, or `simulator:` if none are stored. */
  CARRIERS: text({ description: 'carriers, separated by commas', byDefault: '' }),
  HEARTBEAT_URL: optionalUrl('a URL that is called every minute while the process is ready'),
  SUMMARY_URL: optionalUrl('a URL that gets a summary of each day'),
  IN_DOUBT_MAX: wholeNumber('messages that may be with a carrier without a record', {
    min: 1,
    max: 100_000,
    byDefault: dispatcherDefaults.inDoubtMax,
  }),
  LEASE_SECONDS: wholeNumber('seconds of silence after which a dispatcher is dead', {
    min: 2,
    max: 40,
    byDefault: dispatcherDefaults.leaseSeconds,
  }),
  VALIDITY_HOURS: wholeNumber('hours after its due time that a message may wait', {
    min: 1,
    max: 720,
    byDefault: dispatcherDefaults.validitySeconds / 3600,
  }),
  RETRY_SECONDS: wholeNumber('seconds to wait after a first refusal for now', {
    min: 1,
    max: dispatcherDefaults.retrySecondsMax,
    byDefault: dispatcherDefaults.retrySeconds,
  }),
}

const thisPlace = (): ProcessPlace => ({ host: hostname(), pid: process.pid })

export const dispatcherSettings = (environment: Readonly<Record<Numbers, number>>): Partial<DispatcherSettings> => ({
  inDoubtMax: environment.IN_DOUBT_MAX,
  leaseSeconds: environment.LEASE_SECONDS,
  validitySeconds: environment.VALIDITY_HOURS * 3600,
  retrySeconds: environment.RETRY_SECONDS,
  version,
  place: thisPlace(),
})
