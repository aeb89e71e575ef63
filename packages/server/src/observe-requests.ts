import type { IncomingMessage, ServerResponse } from 'node:http'
import { type Log, logFailure, throttled } from './log.ts'
import type { Metrics } from './metrics.ts'
import { identify } from './request-parts.ts'

const started = Symbol('started')
const answeredBy = Symbol('service')
const endpoint = Symbol('endpoint')
const reported = Symbol('reported')

type Observed = ServerResponse & {
  [started]?: number
  [answeredBy]?: string
  [endpoint]?: string
  [reported]?: true
}

/** Sets the endpoint of a response for metrics. Default: the pattern of Express's route, else 'none'. */
export const nameEndpoint = (response: ServerResponse, name: string): void => {
  ;(response as Observed)[endpoint] = name
}

/** Marks a failure as logged already. */
export const markReported = (response: ServerResponse): void => {
  ;(response as Observed)[reported] = true
}

/**
 * Measures a request and logs it when its response is closed: each at debug, 503 as a throttled warning, other 5xx as
 * throttled errors. One shared listener: pino-http adds 35 of 100 µs to an Express request, this 10. False for a
 * response seen before.
 */
export const observeRequests = ({ log, metrics, service }: Service) => {
  const warn = throttled(1000, (unwritten, response: Observed) =>
    log.warn({ ...line(response), unwritten }, 'refused requests'),
  )
  const fail = logFailure(log)
  const closed = function (this: Observed) {
    const status = this.writableFinished ? this.statusCode : undefined
    metrics?.countRequest(this[answeredBy] ?? service, {
      method: this.req.method ?? '',
      endpoint: this[endpoint] ?? routeOf(this.req),
      status: String(status ?? 'aborted'),
      seconds: (performance.now() - (this[started] ?? 0)) / 1000,
    })
    if (log.isLevelEnabled('debug')) log.debug({ ...line(this), status: status ?? 'aborted' }, 'request')
    if (status === undefined || status < 500 || this[reported]) return
    if (status === 503) warn(this)
    else fail(line(this))
  }
  return (response: ServerResponse): boolean => {
    const observed = response as Observed
    observed[answeredBy] = service
    if (observed[started] !== undefined) return false
    observed[started] = performance.now()
    observed.on('close', closed)
    return true
  }
}

/** The service that answers, with its log and metrics. */
export interface Service {
  readonly log: Log
  readonly metrics?: Metrics | undefined
  /** The name in logs and metrics. */
  readonly service: string
}

const line = (response: Observed) => ({
  service: response[answeredBy],
  request: response.req,
  status: response.statusCode,
  milliseconds: Math.round(performance.now() - (response[started] ?? 0)),
})

const routeOf = (request: IncomingMessage & { route?: { path?: unknown } }): string => {
  const path = request.route?.path
  return typeof path === 'string' ? path : 'none'
}

/**
 * Prepares each response once: sets `X-Content-Type-Options` and `X-Request-Id`, measures and logs it.
 * If an outer app has prepared it already, only the name of the service changes.
 */
export const prepareResponse = (service: Service) => {
  const observe = observeRequests(service)
  return (response: ServerResponse): void => {
    if (!observe(response)) return
    response.setHeader('X-Content-Type-Options', 'nosniff')
    identify(response)
  }
}
