import { type Attributes, type Span, type SpanOptions, trace, type Tracer } from '@opentelemetry/api'

interface RecordedSpan {
  readonly name: string
  readonly attributes: Attributes
}

/** An SDK that records the spans that have ended; `stop` takes it away again. */
export function recordSpans(): { readonly spans: readonly RecordedSpan[]; readonly stop: () => void } {
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
  trace.setGlobalTracerProvider({ getTracer: () => tracer })
  return { spans, stop: () => trace.disable() }
}
