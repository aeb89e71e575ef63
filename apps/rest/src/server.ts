import type { Gateway } from '@gateway/core'
import { createApp, healthRoutes, onError, type HealthSettings } from '@gateway/server'
import type { Express } from 'express'
import { restNotFound, restRouter, writeFailure, type RestSettings } from './router.ts'
import { prefix } from './routes.ts'

export interface RestServerSettings extends RestSettings {
  readonly health?: HealthSettings
}

/** The REST interface as an app of its own, with health and metrics. Every answer on another path is 404 with the envelope. */
export function createRestServer(gateway: Gateway, settings: RestServerSettings): Express {
  const { log, metrics, health } = settings
  const app = createApp({ log, metrics, service: 'rest' })
  app.use(prefix, restRouter(gateway, settings))
  if (health !== undefined) app.use(healthRoutes(health))
  if (metrics !== undefined) app.use(metrics.route)
  app.use(restNotFound(settings))
  app.use(onError(log, (_request, response, ...why) => writeFailure(response, settings, ...why)))
  return app
}
