import type { ServerResponse } from 'node:http'
import express, { type Express, type RequestHandler } from 'express'
import helmet from 'helmet'
import type { Log } from './log.ts'
import type { Metrics } from './metrics.ts'
import { observeRequests } from './observe-requests.ts'

/**
 * An Express app as ours all are: exact paths (letter case and last slash count), no query parsing, no ETag, no
 * `X-Powered-By`, no trust in proxies, `X-Content-Type-Options: nosniff` on every answer, each request measured and
 * logged once. The caller adds its endpoints and, last, its `onError`.
 */
export const createApp = ({ log, metrics, service, pages = false, caseSensitive = true }: AppSettings): Express => {
  const app = express()
  app.set('case sensitive routing', caseSensitive)
  app.enable('strict routing')
  app.set('query parser', false)
  app.set('etag', false)
  app.disable('x-powered-by')
  // In any other environment Express's last resort answers with the stack.
  app.set('env', 'production')
  const begin = beginAnswer({ log, metrics, service })
  const first: RequestHandler = (_request, response, next) => {
    begin(response)
    next()
  }
  app.use(first)
  if (pages) app.use(pageHeaders())
  return app
}

/** What comes before every answer of ours: the header that it has, and that it is measured and logged once. */
export const beginAnswer = ({ log, metrics, service }: Pick<AppSettings, 'log' | 'metrics' | 'service'>) => {
  const observe = observeRequests({ log, metrics, name: service })
  return (response: ServerResponse): void => {
    response.setHeader('X-Content-Type-Options', 'nosniff')
    observe(response)
  }
}

export interface AppSettings {
  readonly log: Log
  readonly metrics?: Metrics | undefined
  /** The name in logs and metrics. */
  readonly service: string
  /** Whether people look at it with a browser: adds the headers that protect pages. */
  readonly pages?: boolean
  /** Whether the letter case of paths counts; true if not given. */
  readonly caseSensitive?: boolean
}

// Our servers speak HTTP, and whoever puts TLS in front decides on it: demanding HTTPS here would break plain local use.
const pageHeaders = () =>
  helmet({
    strictTransportSecurity: false,
    contentSecurityPolicy: { directives: { 'upgrade-insecure-requests': null } },
  })
