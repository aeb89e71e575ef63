import type { Gateway } from '@gateway/core'
import { createApp, healthRoutes, onError, type HealthSettings } from '@gateway/server'
import type { Express } from 'express'
import { writeAnswer } from './answer.ts'
import { aspNotFound, aspRouter, failureOf, type AspSettings } from './router.ts'
import { mount } from './routes.ts'

export interface AspServerSettings extends AspSettings {
  readonly health?: HealthSettings
}

/** The query-string interface as an app of its own, with health and metrics, and 404 in plain text on any other path. */
export function createAspServer(gateway: Gateway, settings: AspServerSettings): Express {
  const { log, metrics, health } = settings
  const app = createApp({ log, metrics, service: 'asp' })
  app.use(mount, aspRouter(gateway, settings))
  if (health !== undefined) app.use(healthRoutes(health))
  if (metrics !== undefined) app.use(metrics.route)
  app.use(aspNotFound(settings))
  app.use(onError(log, (_request, response, status, error) => writeAnswer(response, failureOf(status, error))))
  return app
}
