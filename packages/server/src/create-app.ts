import express, { type ErrorRequestHandler, type Express, type RequestHandler } from 'express'
import helmet from 'helmet'
import { prepareResponse } from './prepare-response.ts'
import type { Service } from './observe-requests.ts'

/**
 * An Express app with exact paths, no query parsing, no ETag, no trusted proxy and `X-Content-Type-Options: nosniff`, which logs each
 * request once. What `mountFirst` adds comes first and prepares its responses itself, as `endpointHandler` does.
 */
export const createApp = (service: Service, mountFirst: (app: Express) => void = () => undefined): Express => {
  const app = express()
  app.enable('case sensitive routing')
  app.enable('strict routing')
  app.set('query parser', false)
  app.set('etag', false)
  app.disable('x-powered-by')
  // In other environments Express's default error handler answers with the stack.
  app.set('env', 'production')
  mountFirst(app)
  const begin = prepareResponse(service)
  const prepare: RequestHandler = (_request, response, next) => {
    begin(response)
    next()
  }
  const prepareFailed: ErrorRequestHandler = (error, _request, response, next) => {
    begin(response)
    next(error)
  }
  app.use(prepare, prepareFailed)
  return app
}

/**
 * Security headers for pages, which load nothing from another host. They do not require HTTPS, which would break plain local use: the
 * TLS proxy in front decides.
 */
export const pageHeaders = (): RequestHandler =>
  helmet({
    strictTransportSecurity: false,
    contentSecurityPolicy: {
      directives: {
        'upgrade-insecure-requests': null,
        'font-src': ["'self'", 'data:'],
        'style-src': ["'self'", "'unsafe-inline'"],
      },
    },
  })
