import { setTimeout as delay } from 'node:timers/promises'
import type { RequestHandler } from 'express'
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'

/** What a process measures about itself. It holds no ids, paths or texts: labels come from fixed sets (P-15). */
export interface Metrics {
  /** All that is measured. */
  readonly registry: Registry
  /** Counts one answered request; `endpoint` is a name from a fixed set, never a path as a client wrote it. */
  readonly countRequest: (service: string, request: Counted) => void
  /** Adds a measure of an app's own, read anew at each scrape; its labels come from fixed sets, too. */
  gauge(name: string, help: string, labelNames: readonly string[], read: () => readonly Reading[]): void
  /** Adds a count of an app's own since its start, read anew at each scrape; no reading is below the one before, or below 0. */
  counter(name: string, help: string, labelNames: readonly string[], read: () => readonly Reading[]): void
  /** Answers GET and HEAD /metrics in Prometheus's text form; lets every other request pass. */
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

const METHODS = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'])

/**
 * A registry of its own with `http_request_duration_seconds`, and from the first scrape on the defaults (event loop, memory, CPU).
 * The event loop is watched every 10 ms, which costs an idle process more than all else that it does.
 */
export const createMetrics = (): Metrics => {
  const registry = new Registry()
  // Its `_count` counts requests: a counter beside it would say the same. An observation costs 0.7 µs.
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
      new Gauge({
        name,
        help,
        labelNames,
        registers: [registry],
        collect() {
          this.reset()
          for (const { labels, value } of read()) this.set(labels, value)
        },
      })
    },
    counter: (name, help, labelNames, read) => {
      new Counter({
        name,
        help,
        labelNames,
        registers: [registry],
        collect() {
          this.reset()
          for (const { labels, value } of read()) this.inc(labels, value)
        },
      })
    },
    countRequest: (service, { method, endpoint, status, seconds }) =>
      durations.observe({ service, method: METHODS.has(method) ? method : 'other', endpoint, status }, seconds),
    route: metricsRoute(registry),
  }
}

/** So long the event loop is watched before the first scrape reports it. */
const firstScrapeMilliseconds = 50

function metricsRoute(registry: Registry): RequestHandler {
  let watched: Promise<void> | undefined
  const watch = (): Promise<void> => {
    collectDefaultMetrics({ register: registry })
    return delay(firstScrapeMilliseconds)
  }
  return async (request, response, next) => {
    const isAsked = request.method === 'GET' || request.method === 'HEAD'
    if (!isAsked || request.path !== '/metrics') {
      next()
      return
    }
    await (watched ??= watch())
    const text = await registry.metrics()
    response.setHeader('Cache-Control', 'no-store')
    response.type(registry.contentType).send(text)
  }
}
