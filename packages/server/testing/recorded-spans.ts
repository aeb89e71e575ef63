import { type Attributes, type Span, type SpanOptions, trace, type Tracer } from '@opentelemetry/api'

interface RecordedSpan {
  readonly name: string
  readonly attributes: Attributes
}

/** Installs an SDK that records ended spans. `stop` removes it. */
export function recordSpans() {
  let flushes = 0
  const spans: RecordedSpan[] = []
  const startSpan = (name: string, { attributes = {} }: SpanOptions = {}): Span => {
    const all: Attributes = { ...attributes }
    const span = {
      spanContext: () => ({ traceId: '1'.repeat(32), spanId: '1'.repeat(16), traceFlags: 1 }),
      setAttribute: (key: string, value: string) => void (all[key] = value),
      setStatus: ({ code }: { readonly code: number }) => void (all['status'] = code),
      end: () => void spans.push({ name, attributes: all }),
    }
    return span as unknown as Span
  }
  const startActiveSpan = (name: string, options: SpanOptions, _parent: unknown, work: (span: Span) => unknown) =>
    work(startSpan(name, options))
  const tracer = { startSpan, startActiveSpan } as unknown as Tracer
  const forceFlush = () => {
    flushes++
    return Promise.reject(new Error('the collector is not reachable'))
  }
  trace.setGlobalTracerProvider(Object.assign({ getTracer: () => tracer }, { forceFlush }))
  return { spans: spans as readonly RecordedSpan[], flushed: () => flushes, stop: () => trace.disable() }
}
