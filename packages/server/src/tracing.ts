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

/** What has just ended, as a span. */
export interface Ended {
  readonly name: string
  /** `outgoing`: it waited for another server. */
  readonly kind: 'inside' | 'outgoing'
  /** By `performance.now()`. */
  readonly begun: number
  /** No credential, no number and no text of a message. */
  readonly attributes: Attributes
  readonly hasFailed?: boolean
}

/** Tells spans to the SDK of OpenTelemetry that the process was started with. */
export interface Tracing {
  /** Runs `work` within the span of a request, which goes on the trace of its client. */
  readonly request: (
    request: IncomingMessage,
    response: ServerResponse,
    endpoint: string,
    work: () => Promise<void> | void,
  ) => Promise<void>
  /** A span that is part of the one that this is called within, if there is one. */
  readonly ended: (span: Ended) => void
  /** Has the SDK send what it holds back, which it else does every few seconds; at most so long. */
  readonly flush: () => Promise<void>
}

/** A stop waits so long for a collector. */
const flushMilliseconds = 2000

const kinds = { inside: SpanKind.INTERNAL, outgoing: SpanKind.CLIENT }

/** Undefined: no SDK is there (`node --import`), and nothing is traced. */
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

/** The interface has no word for it. The SDK has classes of its own copy of the interface. */
function providerOfSdk(): { readonly forceFlush?: () => Promise<void> } {
  const provider = trace.getTracerProvider() as { getDelegate?(): TracerProvider }
  return (provider.getDelegate?.() ?? provider) as { readonly forceFlush?: () => Promise<void> }
}
