import type { Carrier, Dispatcher } from '@gateway/core/dispatch'
import type { CarrierReport } from '@gateway/core/fleet'
import type { Clock } from '@gateway/core/time'
import {
  createServiceApp,
  fallbackHandler,
  requestTarget,
  writeWhole,
  type HealthSettings,
  type Log,
  type ServiceAppSettings,
} from '@gateway/server'
import { carrierJson, interfaceOf, notFoundElsewhere } from '@gateway/wire'
import type { Express } from 'express'

interface Reporting {
  reports(): readonly CarrierReport[]
}

/** Health routes including `/health/carriers`, which reports the carriers of this process. */
export const withCarriers = (health: HealthSettings, reporting: Reporting): HealthSettings => ({
  ...health,
  details: { ...health.details, carriers: () => ({ carriers: reporting.reports().map(carrierJson) }) },
})

interface Stalling {
  state(): Readonly<Record<string, Pick<ReturnType<Dispatcher['state']>, 'stalled' | 'mode'>>>
}

/** Adds a readiness check that fails while a dispatcher is stalled (P-17), or if a dispatcher has broken. */
export const withProgress = ({ checks, ...health }: HealthSettings, dispatching: Stalling): HealthSettings => ({
  ...health,
  checks: { ...checks, progress: () => Promise.resolve(makesProgress(dispatching)) },
})

/** Adds a readiness check that fails while this process cannot read the carriers that the others use. */
export const withAgreement = (
  { checks, ...health }: HealthSettings,
  following: { isUsable(): boolean },
): HealthSettings => ({
  ...health,
  checks: { ...checks, carriers: () => Promise.resolve(following.isUsable()) },
})

export const makesProgress = (dispatching: Stalling): boolean =>
  Object.values(dispatching.state()).every(({ stalled, mode }) => stalled.length === 0 && mode !== 'broken')

/** Returns a function to call periodically, which logs once when a dispatcher stalls, and once when it moves again. */
export function reportStall(dispatcher: Pick<Dispatcher, 'state'>, carrier: Pick<Carrier, 'id'>, log: Log): () => void {
  let wasStalled = false
  return () => {
    const { stalled, ...counts } = dispatcher.state()
    const isStalled = stalled.length > 0 || counts.mode === 'broken'
    if (isStalled && !wasStalled)
      log.error({ carrier: carrier.id, stalled, ...counts }, 'the dispatcher makes no progress')
    if (!isStalled && wasStalled) log.warn({ carrier: carrier.id }, 'the dispatcher makes progress again')
    wasStalled = isStalled
  }
}

interface DispatcherServerSettings extends Pick<ServiceAppSettings, 'log' | 'metrics' | 'health'> {
  readonly clock: Clock
}

const nothingElse = {
  status: 404,
  contentType: 'text/plain; charset=utf-8',
  body: 'There is nothing here but /health/live, /health/ready, /health/carriers and /metrics',
}

/**
 * Creates an app with only the health and metrics of a dispatcher. A path of an interface is answered 404 in the form
 * of that interface (ruling 3.8).
 */
export const createDispatcherServer = ({ clock, ...settings }: DispatcherServerSettings): Express =>
  createServiceApp({
    ...settings,
    service: 'dispatcher',
    notFound: fallbackHandler({ ...settings, service: 'dispatcher' }, (response) => {
      const path = requestTarget(response.req)
      writeWhole(response, interfaceOf(path) === undefined ? nothingElse : notFoundElsewhere(path, clock.now()))
    }),
    answerError: (_request, response, status) => response.status(status).type('text/plain').send('Error'),
  })
