import { setTimeout as delay } from 'node:timers/promises'
import type { RequestHandler } from 'express'
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'
import { isHidden } from './health.ts'

/** Metrics of a process. Labels come from fixed or bounded sets, and are neither paths nor texts (P-15). */
export interface Metrics {
  /** Registry with all metrics of the process. */
  readonly registry: Registry
  /** Counts one answered request. `endpoint` comes from a fixed set, never from the client's path. */
  readonly countRequest: (service: string, request: Counted) => void
  /** Adds a gauge that is read at each scrape. `read` never rejects. */
  gauge(
    name: string,
    help: string,
    labelNames: readonly string[],
    read: () => readonly Reading[] | Promise<readonly Reading[]>,
  ): void
  /** Adds a counter that is read at each scrape. Readings start at 0 or above and never decrease. */
  counter(name: string, help: string, labelNames: readonly string[], read: () => readonly Reading[]): void
  /** Adds a histogram that is read at each scrape. Its values count from the start of the process. */
  histogram(name: string, help: string, labelNames: readonly string[], read: () => readonly HistogramReading[]): void
  /** Answers GET and HEAD /metrics in Prometheus's text format; passes any other request on. */
  readonly route: RequestHandler
}

export interface Counted {
  readonly method: string
  readonly endpoint: string
  readonly status: string
  readonly seconds: number
}

export interface Reading {
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

export interface HistogramReading {
  readonly labels: Readonly<Record<string, string>>
  readonly bounds: readonly number[]
  /** Number of values in each bucket, in the order of `bounds`. The last number counts the values above all bounds. */
  readonly counts: readonly number[]
  readonly sum: number
}

const METHODS = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'])

/**
 * Returns metrics with `http_request_duration_seconds`. From the first scrape on, they also include the defaults of
 * prom-client (event loop, memory, CPU). The defaults start late because their event loop monitor samples every 10 ms,
 * which costs an idle process more than everything else.
 */
export const createMetrics = (): Metrics => {
  const registry = new Registry()
  // `_count` of the histogram counts requests, so there is no separate counter. An observation costs 0.7 µs.
  const durations = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'From the headers of a request to the end of its answer',
    labelNames: ['service', 'method', 'endpoint', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [registry],
  })
  return {
    registry,
    gauge: (name, help, labelNames, read) => {
      const collect = async function (this: Gauge) {
        const readings = await read()
        this.reset()
        for (const { labels, value } of readings) this.set(labels, value)
      }
      new Gauge({ name, help, labelNames, registers: [registry], collect })
    },
    counter: (name, help, labelNames, read) => {
      const collect = function (this: Counter) {
        this.reset()
        for (const { labels, value } of read()) this.inc(labels, value)
      }
      new Counter({ name, help, labelNames, registers: [registry], collect })
    },
    histogram: (name, help, labelNames, read) => {
      const get = () =>
        Promise.resolve({ name, help, type: 'histogram', aggregator: 'sum', values: read().flatMap(valuesOf) })
      const values = (metricName: string) => `${name}_${metricName}`
      const valuesOf = ({ labels, bounds, counts, sum }: HistogramReading) => {
        let count = 0
        const buckets = counts.map((each, at) => {
          count += each
          return { metricName: values('bucket'), labels: { le: bounds[at] ?? '+Inf', ...labels }, value: count }
        })
        return [
          ...buckets,
          { metricName: values('sum'), labels, value: sum },
          { metricName: values('count'), labels, value: count },
        ]
      }
      // This object has the methods that prom-client calls. Its own Histogram is not used, because it only accepts
      // single values, at 0.7 µs each.
      const metric = { name, help, labelNames, get, reset: () => undefined }
      registry.registerMetric(metric as unknown as Histogram)
    },
    countRequest: (service, { method, endpoint, status, seconds }) =>
      durations.observe({ service, method: METHODS.has(method) ? method : 'other', endpoint, status }, seconds),
    route: metricsRoute(registry),
  }
}

/** Milliseconds for which the event loop is sampled before the first scrape is answered. */
const firstScrapeMilliseconds = 50

function metricsRoute(registry: Registry): RequestHandler {
  let watched: Promise<void> | undefined
  const watch = (): Promise<void> => {
    collectDefaultMetrics({ register: registry })
    return delay(firstScrapeMilliseconds)
  }
  return async (request, response, next) => {
    const isRead = request.method === 'GET' || request.method === 'HEAD'
    if (!isRead || isHidden(request) || request.path !== '/metrics') {
      next()
      return
    }
    await (watched ??= watch())
    const text = await registry.metrics()
    response.setHeader('Cache-Control', 'no-store')
    response.type(registry.contentType).send(text)
  }
}
