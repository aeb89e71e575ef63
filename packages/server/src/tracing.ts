import type { IncomingMessage, ServerResponse } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import {
  type Attributes,
  context,
  isSpanContextValid,
  propagation,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type TracerProvider,
} from '@opentelemetry/api'
import { version } from './version.ts'

/** Span of work that has just ended. */
export interface Ended {
  readonly name: string
  /** 'outgoing' if the work waited for another server. */
  readonly kind: 'inside' | 'outgoing'
  /** Begin of the work, by `performance.now()`. */
  readonly begun: number
  /** Attributes without credentials, numbers and texts of messages. */
  readonly attributes: Attributes
  readonly hasFailed?: boolean
}

/** Reports spans to the SDK of OpenTelemetry that the process was started with. */
export interface Tracing {
  /** Runs `work` within the span of a request, which continues the trace of its client. */
  readonly request: (
    request: IncomingMessage,
    response: ServerResponse,
    endpoint: string,
    work: () => Promise<void> | void,
  ) => Promise<void>
  /** Reports a span as a child of the current span, if there is one. */
  readonly ended: (span: Ended) => void
  /** Makes the SDK send its buffered spans, which it otherwise does every few seconds. */
  readonly flush: () => Promise<void>
}

/** Maximum time that a stop waits for a collector, in milliseconds. */
const flushMilliseconds = 2000

const kinds = { inside: SpanKind.INTERNAL, outgoing: SpanKind.CLIENT }

/** Returns undefined if no SDK is loaded (`node --import`); nothing is traced then. */
export function createTracing(): Tracing | undefined {
  const tracer = trace.getTracer('gateway', version)
  if (!isSpanContextValid(tracer.startSpan('start').spanContext())) return undefined
  return {
    request: (request, response, endpoint, work) => {
      const parent = propagation.extract(ROOT_CONTEXT, request.headers)
      const attributes = { 'http.request.method': request.method ?? '', 'http.route': endpoint }
      const name = `${request.method ?? ''} ${endpoint}`
      return tracer.startActiveSpan(name, { kind: SpanKind.SERVER, attributes }, parent, async (span) => {
        try {
          await work()
        } finally {
          span.setAttribute('http.response.status_code', response.statusCode)
          if (response.statusCode >= 500) span.setStatus({ code: SpanStatusCode.ERROR })
          span.end()
        }
      })
    },
    ended: ({ name, kind, begun, attributes, hasFailed = false }) => {
      const startTime = performance.timeOrigin + begun
      const span = tracer.startSpan(name, { kind: kinds[kind], startTime, attributes }, context.active())
      if (hasFailed) span.setStatus({ code: SpanStatusCode.ERROR })
      span.end()
    },
    flush: async () => {
      const sent = providerOfSdk()
        .forceFlush?.()
        .catch(() => undefined)
      await Promise.race([sent, delay(flushMilliseconds, undefined, { ref: false })])
    },
  }
}

/**
 * Returns the provider of the SDK, which the interface of OpenTelemetry does not expose. The SDK has its own copy of
 * the interface.
 */
function providerOfSdk(): { readonly forceFlush?: () => Promise<void> } {
  const provider = trace.getTracerProvider() as { getDelegate?(): TracerProvider }
  return (provider.getDelegate?.() ?? provider) as { readonly forceFlush?: () => Promise<void> }
}
