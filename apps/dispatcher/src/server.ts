import { createServiceApp, type ServiceAppSettings } from '@gateway/server'
import type { Express } from 'express'

/** Health and metrics of a dispatcher; nothing else. */
export const createDispatcherServer = (settings: Pick<ServiceAppSettings, 'log' | 'metrics' | 'health'>): Express =>
  createServiceApp({
    ...settings,
    service: 'dispatcher',
    notFound: (_request, response) =>
      response
        .status(404)
        .type('text/plain')
        .send('There is nothing here but /health/live, /health/ready, /health/carriers and /metrics'),
    answerError: (_request, response, status) => response.status(status).type('text/plain').send('Error'),
  })
