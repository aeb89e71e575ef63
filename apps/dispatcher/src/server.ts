import { createApp, healthRoutes, onError, type HealthSettings, type Log, type Metrics } from '@gateway/server'
import type { Express } from 'express'

export interface DispatcherServerSettings {
  readonly log: Log
  readonly metrics: Metrics
  readonly health: HealthSettings
}

/** Health and metrics of a dispatcher; nothing else. */
export function createDispatcherServer({ log, metrics, health }: DispatcherServerSettings): Express {
  const app = createApp({ log, metrics, service: 'dispatcher' })
  app.use(healthRoutes(health), metrics.route)
  app.use((_request, response) => {
    response.status(404).type('text/plain').send('There is nothing here but /health/live, /health/ready and /metrics')
  })
  app.use(onError(log, (_request, response, status) => response.status(status).type('text/plain').send('Error')))
  return app
}
