import supertest from 'supertest'
import { memoryLog } from '../testing/memory-log.ts'
import { until } from '../testing/until.ts'
import { createApp, pageHeaders } from './express-app.ts'
import { createMetrics } from './metrics.ts'
import { nameEndpoint } from './endpoint-handler.ts'
import { onError } from './on-error.ts'

const appWith = (level = 'info') => {
  const memory = memoryLog(level)
  const metrics = createMetrics()
  const app = createApp({ log: memory.log, metrics, service: 'demo' })
  app.use(metrics.route)
  return { ...memory, metrics, app }
}

test('paths are exact: letter case and a last slash count', async () => {
  const { app } = appWith()
  app.get('/one', (_request, response) => void response.send('1'))
  await supertest(app).get('/one').expect(200)
  await supertest(app).get('/ONE').expect(404)
  await supertest(app).get('/one/').expect(404)
})

test('an answer has nosniff, and neither ETag nor X-Powered-By; the query is not parsed', async () => {
  const { app } = appWith()
  app.get('/one', (request, response) => void response.json(request.query))
  const { headers, text } = await supertest(app).get('/one?a[b]=c').expect(200)
  expect(headers['x-content-type-options']).toBe('nosniff')
  expect(headers).not.toHaveProperty('etag')
  expect(headers).not.toHaveProperty('x-powered-by')
  expect(text).toBe('{}')
})

test('no client header changes the address that Express sees', async () => {
  const { app } = appWith()
  app.get('/ip', (request, response) => void response.send(request.ip))
  const { text } = await supertest(app).get('/ip').set('X-Forwarded-For', '198.51.100.9').expect(200)
  expect(text).toContain('127.0.0.1')
})

test('pages have the headers that protect them, and still work without TLS', async () => {
  const app = createApp({ log: memoryLog().log, service: 'demo' })
  app.use(pageHeaders())
  app.get('/', (_request, response) => void response.send('<h1>'))
  const { headers } = await supertest(app).get('/').expect(200)
  expect(headers['content-security-policy']).toContain("default-src 'self'")
  expect(headers['content-security-policy']).not.toContain('upgrade-insecure-requests')
  expect(headers).not.toHaveProperty('strict-transport-security')
})

test('a success logs nothing at info, and one line without the query at debug', async () => {
  for (const [level, count] of [
    ['info', 0],
    ['debug', 1],
  ] as const) {
    const { app, lines, text } = appWith(level)
    app.get('/one', (_request, response) => void response.send('1'))
    await supertest(app).get('/one?password=hunter2').set('Authorization', 'Bearer hunter2hunter2').expect(200)
    await until(() => lines().length >= count)
    expect(lines()).toHaveLength(count)
    expect(text()).not.toContain('hunter2')
    if (count === 1) {
      const request = { method: 'GET', path: '/one' }
      expect(lines()[0]).toMatchObject({ level: 'debug', service: 'demo', request, status: 200 })
    }
  }
})

test('a 5xx of a handler logs one error line', async () => {
  const { app, lines } = appWith()
  app.get('/bad', (_request, response) => void response.status(500).send('no'))
  await supertest(app).get('/bad').expect(500)
  await until(() => lines().length > 0)
  expect(lines()).toMatchObject([{ level: 'error', request: { path: '/bad' }, status: 500 }])
})

test('many 503 log one warning a second', async () => {
  const { app, lines } = appWith()
  app.get('/full', (_request, response) => void response.status(503).send('full'))
  const start = performance.now()
  for (let i = 0; i < 20; i++) await supertest(app).get('/full').expect(503)
  const seconds = (performance.now() - start) / 1000
  await until(() => lines().length > 0)
  expect(lines().length).toBeLessThanOrEqual(1 + Math.ceil(seconds))
  expect(lines()[0]).toMatchObject({ level: 'warn', status: 503, unwritten: 0 })
})

test('metrics count by the endpoint as registered, never by the path as written', async () => {
  const { app, metrics } = appWith()
  app.get('/message/:id', (_request, response) => void response.send('1'))
  app.get('/named', (_request, response) => {
    nameEndpoint(response, 'batchmessage')
    response.send('1')
  })
  for (const path of ['/message/111', '/message/222', '/named', '/unknown-333', '/metrics']) {
    await supertest(app).get(path)
  }
  await supertest(app).propfind('/x')
  const text = await metrics.registry.metrics()
  const counts = text.split('\n').filter((line) => line.startsWith('http_request_duration_seconds_count'))
  expect(counts.map((line) => line.replace('http_request_duration_seconds_count', ''))).toEqual(
    expect.arrayContaining([
      '{service="demo",method="GET",endpoint="/message/:id",status="200"} 2',
      '{service="demo",method="GET",endpoint="batchmessage",status="200"} 1',
      '{service="demo",method="GET",endpoint="none",status="404"} 1',
      '{service="demo",method="other",endpoint="none",status="404"} 1',
    ]),
  )
  expect(counts.join()).not.toMatch(/111|222|333/)
})

test('GET /metrics answers in the text form of Prometheus, with the event loop and memory', async () => {
  const { app } = appWith()
  const { text, headers } = await supertest(app).get('/metrics').expect(200)
  expect(headers['content-type']).toContain('text/plain; version=0.0.4')
  expect(text).toContain('nodejs_eventloop_lag_seconds')
  expect(text).toContain('process_resident_memory_bytes')
  await supertest(app).post('/metrics').expect(404)
})

test('the event loop is sampled from the first scrape on, which already has plausible values', async () => {
  const { app, metrics } = appWith()
  expect(await metrics.registry.metrics()).not.toContain('nodejs_')
  const { text } = await supertest(app).get('/metrics').expect(200)
  expect(Number(/^nodejs_eventloop_lag_min_seconds (.+)$/m.exec(text)?.[1])).toBeLessThan(60)
  expect(Number(/^nodejs_eventloop_lag_mean_seconds (.+)$/m.exec(text)?.[1])).toBeLessThan(60)
})

test('a request through an app in an app is counted once, under the inner name, and logged once', async () => {
  const { app, metrics, lines, log } = appWith('debug')
  const inner = createApp({ log, metrics, service: 'inner' })
  inner.get('/in', (_request, response) => void response.send('1'))
  app.use(inner)
  await supertest(app).get('/in').expect(200)
  await until(() => lines().length > 0)
  expect(lines()).toMatchObject([{ service: 'inner' }])
  const text = await metrics.registry.metrics()
  expect(text).toContain('_count{service="inner",method="GET",endpoint="/in",status="200"} 1')
  expect(text).not.toContain('service="demo"')
})

describe('onError', () => {
  const failing = (level = 'info') => {
    const made = appWith(level)
    const errors: unknown[] = []
    made.app.get('/throws', () => {
      throw new Error('hard luck with postgres://me:hunter2@db')
    })
    made.app.get('/rejects', () => Promise.reject(new Error('hard luck')))
    made.app.get('/half', (_request, response) => {
      response.write('half')
      throw new Error('hard luck')
    })
    made.app.get('/id/:id', (_request, response) => void response.send('1'))
    made.app.get('/answer-fails', () => {
      throw new Error('answer this')
    })
    made.app.use(
      onError(made.log, (request, response, status, error) => {
        errors.push(error)
        if (request.path === '/answer-fails') throw new Error('cannot')
        response.status(status).send(`own form ${status}`)
      }),
    )
    return { ...made, errors }
  }

  test.each(['/throws', '/rejects'])(
    'an error of %s is answered by the app and logged once, with its stack',
    async (path) => {
      const { app, lines, text, errors } = failing('debug')
      await supertest(app).get(`${path}?password=hunter2`).expect(500, 'own form 500')
      await until(() => lines().length === 2)
      expect(lines().filter(({ level }) => level === 'error')).toMatchObject([{ request: { path } }])
      expect(lines()[0]).toHaveProperty('err.stack')
      expect(text()).not.toContain('hunter2')
      expect(errors).toHaveLength(1)
    },
  )

  test('a partial response is cut off', async () => {
    const { app, lines } = failing()
    await expect(supertest(app).get('/half')).rejects.toThrow()
    expect(lines()).toHaveLength(1)
  })

  test('an error handler that throws closes its connection only', async () => {
    const { app, lines } = failing()
    await expect(supertest(app).get('/answer-fails')).rejects.toThrow()
    expect(lines()).toHaveLength(2)
  })

  test('a malformed % in a path is 400, and is not logged', async () => {
    const { app, lines } = failing()
    await supertest(app).get('/id/%E0%A4%A').expect(400, 'own form 400')
    expect(lines()).toEqual([])
  })
})
