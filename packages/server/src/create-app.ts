import express, { type Express, type RequestHandler } from 'express'
import helmet from 'helmet'
import { prepareResponse } from './prepare-response.ts'
import type { Service } from './observe-requests.ts'

/**
 * An Express app as ours all are: exact paths (letter case and last slash count), no query parsing, no ETag, no
 * `X-Powered-By`, no trust in proxies, `X-Content-Type-Options: nosniff` on every answer, each request measured and
 * logged once. The caller adds its endpoints and, last, its `onError`.
 */
export const createApp = (service: Service): Express => {
  const app = express()
  app.enable('case sensitive routing')
  app.enable('strict routing')
  app.set('query parser', false)
  app.set('etag', false)
  app.disable('x-powered-by')
  // In any other environment Express's last resort answers with the stack.
  app.set('env', 'production')
  const begin = prepareResponse(service)
  const first: RequestHandler = (_request, response, next) => {
    begin(response)
    next()
  }
  app.use(first)
  return app
}

/**
 * The headers that protect pages for browsers. They do not demand HTTPS, which would break plain local use: whoever puts TLS in
 * front decides on it.
 */
export const pageHeaders = (): RequestHandler =>
  helmet({
    strictTransportSecurity: false,
    contentSecurityPolicy: { directives: { 'upgrade-insecure-requests': null } },
  })
