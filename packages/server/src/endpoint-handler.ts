import type { IncomingMessage, ServerResponse } from 'node:http'
import type { RequestHandler } from 'express'
import type { AdmissionGate } from './admission/admission-gate.ts'
import { type Log, logFailure, throttled } from './log.ts'
import type { Metrics } from './metrics.ts'
import { handleFailure, isReported } from './on-error.ts'
import { identify } from './request-parts.ts'
import { createTracing } from './tracing.ts'

export interface PathRules {
  /** True if the letter case of paths matters. */
  readonly caseSensitive: boolean
  /** True if one trailing slash is ignored; false by default. */
  readonly lastSlashIgnored?: boolean | undefined
}

export interface FoundPath<Endpoint> {
  readonly endpoint: Endpoint
  /** Path of the endpoint as written in the table of routes. */
  readonly path: string
  /** Digits in the place of `{id}`. */
  readonly parameter: string | undefined
}

/** Segment of a path that is a whole number below 10^16 without leading zeros. */
const numberSegment = /\/([1-9][0-9]{0,15})(?=\/|$)/
const placeholder = '/{id}'

/**
 * Returns a function that looks up a path in a table of paths without trailing slash. Paths match exactly, except for
 * one segment `{id}`, which stands for a positive whole number in digits. Express would compare the path with each
 * route.
 */
export function pathTable<Endpoint>(
  endpoints: ReadonlyMap<string, Endpoint>,
  { caseSensitive, lastSlashIgnored = false }: PathRules,
): (path: string) => FoundPath<Endpoint> | undefined {
  const keyOf = (path: string) => {
    const named = lastSlashIgnored && path.endsWith('/') ? path.slice(0, -1) : path
    return caseSensitive ? named : named.toLowerCase()
  }
  const rows = [...endpoints].map(
    ([path, endpoint]) => [keyOf(path), { endpoint, path, parameter: undefined }] as const,
  )
  const exact = new Map(rows.filter(([key]) => !key.includes(placeholder)))
  const withNumber = new Map(rows.filter(([key]) => key.includes(placeholder)))
  return (path) => {
    const key = keyOf(path)
    const found = exact.get(key)
    if (found !== undefined || withNumber.size === 0) return found
    const parameter = numberSegment.exec(key)?.[1]
    const general = parameter === undefined ? undefined : withNumber.get(key.replace(numberSegment, placeholder))
    return general && { ...general, parameter }
  }
}

export interface EndpointHandlerSettings<Endpoint> extends Service, PathRules {
  /** Gate that counts the running calls of `answer`; by default they are not counted. */
  readonly gate?: Pick<AdmissionGate, 'requests'> | undefined
  /** Prefix of an endpoint's path in metrics, wherever the router is mounted. */
  readonly prefix: string
  /** Endpoints by path below the mount point, as in `pathTable`. */
  readonly endpoints: ReadonlyMap<string, Endpoint>
  /** Called for every HTTP method. `parameter` holds the digits in the place of `{id}` of the path. */
  readonly answer: (
    request: IncomingMessage,
    response: ServerResponse,
    endpoint: Endpoint,
    parameter: string | undefined,
  ) => Promise<void> | void
  /** Answers a request whose `answer` threw an error. `status` is 400 if the request could not be read, else 500. */
  readonly answerFailure: (response: ServerResponse, endpoint: Endpoint, status: 400 | 500, error: unknown) => void
}

/**
 * Returns the endpoints of an interface as an Express handler, to be mounted at a path. Each request to an endpoint is
 * measured and logged once; an error of its handler is answered in the form of the interface. Any other request passes
 * to the next handler unchanged.
 */
export const endpointHandler = <Endpoint>(settings: EndpointHandlerSettings<Endpoint>): RequestHandler => {
  const { prefix, endpoints, answer, answerFailure, gate } = settings
  const begin = prepareResponse(settings)
  const failed = handleFailure(settings.log)
  const tracing = createTracing()
  const find = pathTable(endpoints, settings)
  const names = new Map([...endpoints.keys()].map((path) => [path, prefix + path]))
  return async (request, response, next) => {
    const { endpoint, path = '', parameter } = find(request.path) ?? {}
    if (endpoint === undefined) {
      next()
      return
    }
    begin(response)
    nameEndpoint(response, names.get(path) ?? path)
    gate?.requests.begin()
    try {
      if (tracing === undefined) await answer(request, response, endpoint, parameter)
      else {
        const work = () => answer(request, response, endpoint, parameter)
        await tracing.request(request, response, names.get(path) ?? path, work)
      }
    } catch (error) {
      failed(error, request, response, (status) => answerFailure(response, endpoint, status, error))
    } finally {
      gate?.requests.end()
    }
  }
}

/**
 * Returns a handler that answers every request that reaches it, on any path. Measures and logs the request under this
 * service.
 */
export const fallbackHandler = (service: Service, answer: (response: ServerResponse) => void): RequestHandler => {
  const begin = prepareResponse(service)
  return (_request, response) => {
    begin(response)
    answer(response)
  }
}

const started = Symbol('started')
const answeredBy = Symbol('service')
const named = Symbol('endpoint')

type Observed = ServerResponse & {
  [started]?: number
  [answeredBy]?: string
  [named]?: string
}

/**
 * Sets the endpoint name of a response for metrics. If it is not set, the pattern of Express's route is used, else
 * 'none'.
 */
export const nameEndpoint = (response: ServerResponse, name: string): void => {
  ;(response as Observed)[named] = name
}

/**
 * Returns a function that measures a request and logs it when its response is closed. Every request is logged at debug
 * level, a 503 also as a throttled warning, and any other 5xx as a throttled error. All responses share one listener,
 * because an Express request takes 100 µs and pino-http adds 35 µs to that; this adds 10 µs. The function returns false
 * for a response that it has already seen.
 */
const observeRequests = ({ log, metrics, service }: Service) => {
  const warn = throttled(1000, (unwritten, response: Observed) =>
    log.warn({ ...line(response), unwritten }, 'refused requests'),
  )
  const fail = logFailure(log)
  const closed = function (this: Observed) {
    const status = this.writableFinished ? this.statusCode : undefined
    metrics?.countRequest(this[answeredBy] ?? service, {
      method: this.req.method ?? '',
      endpoint: this[named] ?? routeOf(this.req),
      status: String(status ?? 'aborted'),
      seconds: (performance.now() - (this[started] ?? 0)) / 1000,
    })
    if (log.isLevelEnabled('debug')) log.debug({ ...line(this), status: status ?? 'aborted' }, 'request')
    if (status === undefined || status < 500 || isReported(this)) return
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

/** Service that answers, with its log and metrics. */
export interface Service {
  readonly log: Log
  readonly metrics?: Metrics | undefined
  /** Name of the service in logs and metrics. */
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
