import type { Gateway } from '@gateway/core'
import { createApp, healthRoutes, onError, type HealthSettings } from '@gateway/server'
import type { Express } from 'express'
import { writePlain, xmlNotFound, xmlRouter, type XmlSettings } from './router.ts'
import { mount } from './routes.ts'

export interface XmlServerSettings extends XmlSettings {
  readonly health?: HealthSettings
}

/** An app with the XML interface, health and metrics, and 404 in plain text on any other path. */
export function createXmlServer(gateway: Gateway, settings: XmlServerSettings): Express {
  const { log, metrics, health } = settings
  const app = createApp({ log, metrics, service: 'xml' })
  app.use(mount, xmlRouter(gateway, settings))
  if (health !== undefined) app.use(healthRoutes(health))
  if (metrics !== undefined) app.use(metrics.route)
  app.use(xmlNotFound(settings))
  app.use(onError(log, (_request, response) => writePlain(response, 503, 'Service unavailable')))
  return app
}
