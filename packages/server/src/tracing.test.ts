import request from 'supertest'
import { memoryLog } from '../testing/memory-log.ts'
import { recordSpans } from '../testing/recorded-spans.ts'
import { endpointHandler } from './endpoint-handler.ts'
import { createApp } from './express-app.ts'
import { createTracing } from './tracing.ts'

const server = () => {
  const { log } = memoryLog()
  const handler = endpointHandler({
    log,
    service: 'test',
    prefix: '/api',
    caseSensitive: true,
    endpoints: new Map([['/send', 202]]),
    answer: (_request, response, status) => void response.writeHead(status).end(),
    answerFailure: (response) => response.writeHead(500).end(),
  })
  return createApp({ log, service: 'test' }, (app) => app.use('/api', handler))
}

test('without an SDK nothing is traced', () => {
  expect(createTracing()).toBeUndefined()
})

test('with an SDK each request is a span, named by its endpoint, without content of the client', async () => {
  const { spans, stop } = recordSpans()
  try {
    await request(server()).get('/api/send?apikey=secret').expect(202)
    expect(spans).toEqual([
      {
        name: 'GET /api/send',
        attributes: { 'http.request.method': 'GET', 'http.route': '/api/send', 'http.response.status_code': 202 },
      },
    ])
  } finally {
    stop()
  }
})

test('buffered spans are sent at a stop, which succeeds even if that fails', async () => {
  const { flushed, stop } = recordSpans()
  try {
    await createTracing()?.flush()
    expect(flushed()).toBe(1)
  } finally {
    stop()
  }
})

test('ended work is a span with its attributes and whether it failed', () => {
  const { spans, stop } = recordSpans()
  try {
    const attributes = { 'gateway.message.id': '7' }
    createTracing()?.ended({ name: 'push', kind: 'outgoing', begun: 0, attributes, hasFailed: true })
    expect(spans).toEqual([{ name: 'push', attributes: { ...attributes, status: 2 } }])
  } finally {
    stop()
  }
})
