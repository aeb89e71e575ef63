import type { RequestListener } from 'node:http'
import { createAspServer, isAspPath } from '@gateway/asp'
import type { Clock, Gateway } from '@gateway/core'
import { createRestServer, isRestPath } from '@gateway/rest'
import {
  createApp,
  healthRoutes,
  onError,
  requestPath,
  type AdmissionGate,
  type HandOvers,
  type HealthSettings,
  type Log,
  type Metrics,
} from '@gateway/server'
import { createXmlServer, isXmlPath } from '@gateway/xml'
import type { Express } from 'express'
import { frontPage } from './front-page.ts'

export interface AllInOneSettings {
  readonly clock: Clock
  /** One for all interfaces: they share a process. */
  readonly gate: AdmissionGate
  /** One for all interfaces, too. */
  readonly handOvers: HandOvers
  readonly log: Log
  readonly metrics: Metrics
  readonly health: HealthSettings
}

/** All interfaces on one port, told apart by path; beside them the front page, health and metrics. */
export function createAllInOneServer(gateway: Gateway, settings: AllInOneSettings): RequestListener {
  const rest = createRestServer(gateway, settings)
  const asp = createAspServer(gateway, settings)
  const xml = createXmlServer(gateway, settings)
  const beside = besideServer(settings)

  return (request, response) => {
    const path = requestPath(request)
    if (isRestPath(path)) rest(request, response)
    else if (isXmlPath(path)) xml(request, response)
    else if (isAspPath(path)) asp(request, response)
    else beside(request, response)
  }
}

function besideServer({ log, metrics, health }: AllInOneSettings): Express {
  const app = createApp({ log, metrics, service: 'all-in-one', pages: true })
  app.use(healthRoutes(health), metrics.route, frontPage())
  app.use((_request, response) => {
    response.status(404).type('text/plain').send('There is nothing here. Look at /')
  })
  app.use(onError(log, (_request, response, status) => response.status(status).type('text/plain').send('Error')))
  return app
}
