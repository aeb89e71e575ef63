import { setImmediate } from 'node:timers/promises'
import express, { type Express } from 'express'
import supertest from 'supertest'
import { memoryLog } from '../testing/memory-log.ts'
import { rawClient } from '../testing/raw-client.ts'
import { until } from '../testing/until.ts'
import { endpointHandler, type EndpointHandlerSettings, fallbackHandler, pathTable } from './endpoint-handler.ts'
import { createApp } from './express-app.ts'
import { listen, type Running } from './listen.ts'
import { createMetrics } from './metrics.ts'
import { onceClosed } from './write-response.ts'

describe('path table', () => {
  const paths = ['/things', '/things/{id}', '/things/{id}/parts', '/Other']
  const table = new Map(paths.map((path) => [path, path]))
  const find = pathTable(table, { caseSensitive: true, lastSlashIgnored: true })

  test.each<[string, string, string | undefined]>([
    ['/things', '/things', undefined],
    ['/things/', '/things', undefined],
    ['/things/7', '/things/{id}', '7'],
    ['/things/7/', '/things/{id}', '7'],
    ['/things/9007199254740993', '/things/{id}', '9007199254740993'],
    ['/things/10/parts', '/things/{id}/parts', '10'],
    ['/Other', '/Other', undefined],
  ])('%s is %s', (path, endpoint, parameter) => {
    expect(find(path)).toEqual({ endpoint, path: endpoint, parameter })
  })

  test.each([
    '/things/{id}',
    '/things/%7Bid%7D',
    '/things/0',
    '/things/07',
    '/things/+7',
    '/things/-7',
    '/things/7.0',
    '/things/7e1',
    '/things/%37',
    '/things/seven',
    '/things/٧',
    '/things/12345678901234567',
    '/things/7//',
    '/things//7',
    '/things/7/8',
    '/things/7/parts/8',
    '/7/things',
    '/Things/7',
    '/things/7/Parts',
    '/other',
    '/__proto__',
    '',
    '/',
  ])('%s matches no path', (path) => {
    expect(find(path)).toBeUndefined()
  })

  test('letter case and the last slash matter as configured', () => {
    const other = pathTable(table, { caseSensitive: false })
    expect(other('/THINGS/7/parts')).toEqual({
      endpoint: '/things/{id}/parts',
      path: '/things/{id}/parts',
      parameter: '7',
    })
    expect(other('/other')?.endpoint).toBe('/Other')
    expect(other('/things/')).toBeUndefined()
    expect(other('/things/7/')).toBeUndefined()
  })
})

describe('endpoint handler', () => {
  type Settings = EndpointHandlerSettings<string>

  const answer: Settings['answer'] = async (request, response, endpoint) => {
    await setImmediate()
    if (endpoint === 'fails') throw new Error('hard luck with postgres://me:hunter2@db')
    if (endpoint === 'half') response.write('half')
    if (endpoint === 'half' || endpoint === 'cannot') throw new Error('hard luck')
    if (endpoint === 'bad') response.statusCode = 500
    response.end(`${request.method} ${endpoint} ${request.url}`)
  }
  const answerFailure: Settings['answerFailure'] = (response, endpoint, status) => {
    if (endpoint === 'cannot') throw new Error('cannot')
    response.statusCode = status
    response.end(`own form ${status}`)
  }
  const endpoints = new Map(['one', 'bad', 'fails', 'half', 'cannot'].map((name) => [`/x/${name}`, name]))

  /** Mounts a router in an app of createApp, and in a foreign Express app at another prefix. */
  const both = (caseSensitive = true, answerer = answer, lastSlashIgnored?: boolean) => {
    const made = (at: string, app: (service: Pick<Settings, 'log' | 'metrics'>) => Express) => {
      const memory = memoryLog('debug')
      const metrics = createMetrics()
      const settings = {
        ...memory,
        metrics,
        service: 'demo',
        prefix: '/api',
        caseSensitive,
        lastSlashIgnored,
        endpoints,
      }
      const mounted = app({ log: memory.log, metrics })
      mounted.use(at, endpointHandler({ ...settings, answer: answerer, answerFailure }))
      mounted.use((_request, response) => void response.status(404).end('the next handler'))
      return { ...memory, at, metrics, app: mounted }
    }
    return [
      made('/api', (service) => createApp({ ...service, service: 'app' })),
      made('/some/where/else', () => express()),
    ] as const
  }
  const counts = async ({ metrics }: ReturnType<typeof both>[number]) =>
    (await metrics.registry.metrics())
      .split('\n')
      .filter((line) => line.startsWith('http_request_duration_seconds_count'))
      .map((line) => line.slice('http_request_duration_seconds_count'.length))

  const running: Running[] = []
  afterEach(async () => {
    await Promise.all(running.splice(0).map((server) => server.close()))
  })

  test.each([
    ['GET', 'one', 200, 'GET one /x/one', 'debug'],
    ['POST', 'one?password=hunter2', 200, 'POST one /x/one?password=hunter2', 'debug'],
    ['HEAD', 'one', 200, undefined, 'debug'],
    ['OPTIONS', 'one', 200, 'OPTIONS one /x/one', 'debug'],
    ['GET', 'bad', 500, 'GET bad /x/bad', 'error'],
    ['GET', 'fails?password=hunter2', 500, 'own form 500', 'error'],
  ])('%s %s is answered %i, and logged and counted once, at any prefix', async (method, path, status, body, level) => {
    for (const server of both()) {
      const answered = await supertest(server.app)[method.toLowerCase() as 'get'](`${server.at}/x/${path}`)
      expect([answered.status, answered.text]).toEqual([status, body])
      expect(answered.headers).toMatchObject({ 'x-content-type-options': 'nosniff' })
      const name = path.replace(/\?.*/, '')
      await until(() => server.lines().some((line) => line.service === 'demo' || line.level === 'error'))
      const own = server.lines().filter((line) => line.level === level)
      expect(own).toMatchObject([{ request: { method, path: `${server.at}/x/${name}` } }])
      expect(server.text()).not.toContain('hunter2')
      expect(await counts(server)).toEqual([
        `{service="demo",method="${method}",endpoint="/api/x/${name}",status="${status}"} 1`,
      ])
    }
  })

  test.each([
    ['/x/one/', true],
    ['/x', true],
    ['/x/o%6Ee', true],
    ['//x/one', true],
    ['/X/one', true],
    ['/X/ONE', false],
  ])('with significant letter case %s is exact: %s', async (path, caseSensitive) => {
    for (const server of both(caseSensitive)) {
      const { text, headers } = await supertest(server.app).get(`${server.at}${path}`)
      if (caseSensitive) {
        expect(text).toBe('the next handler')
        if (server.at !== '/api') expect(headers).not.toHaveProperty('x-content-type-options')
      } else expect(text).toBe(`GET one ${path}`)
    }
  })

  test.each([
    ['/x/one/', 'GET one /x/one/'],
    ['/x/one/?a=b/', 'GET one /x/one/?a=b/'],
    ['/x/one', 'GET one /x/one'],
    ['/x/one//', 'the next handler'],
    ['//x/one/', 'the next handler'],
    ['/x/one/%2F', 'the next handler'],
    ['/', 'the next handler'],
  ])('if one trailing slash is ignored, %s is answered by "%s"', async (path, answered) => {
    for (const { app, at } of both(true, answer, true))
      expect((await supertest(app).get(at + path)).text).toBe(answered)
  })

  test.each(['half', 'cannot'])('if a failure of %s cannot be answered, the connection is broken off', async (name) => {
    for (const { app, at, lines } of both()) {
      await expect(supertest(app).get(`${at}/x/${name}`)).rejects.toThrow()
      await until(() => lines().length > 0)
      expect(lines()[0]).toMatchObject({ level: 'error', msg: 'request failed', request: { path: `${at}/x/${name}` } })
    }
  })

  test('a client that disconnected is not logged as a failure', async () => {
    let handled = 0
    const gone: Settings['answer'] = async (_request, response) => {
      const closed = new Promise((resolve) => response.once('close', resolve))
      handled += 1
      await closed
      throw Object.assign(new Error('aborted'), { code: 'ECONNRESET' })
    }
    for (const { app, at, log, lines } of both(true, gone)) {
      const before = handled
      const server = await listen({ app, host: '127.0.0.1', port: 0, log })
      const client = rawClient(server.port, `GET ${at}/x/one HTTP/1.1\r\nHost: x\r\n\r\n`)
      await until(() => handled > before)
      client.socket.destroy()
      await server.close()
      expect(lines().filter(({ level }) => level === 'error')).toEqual([])
    }
  })

  test('resources of a pipelined response are released with its connection, on a foreign server too', async () => {
    const [, { app, at }] = both(true, (_request, response) => {
      onceClosed(response, () => (closed += 1))
      begun += 1
    })
    let [begun, closed] = [0, 0]
    const server = app.listen(0, '127.0.0.1')
    await until(() => server.listening)
    const { port } = server.address() as { port: number }
    const client = rawClient(port, `GET ${at}/x/one HTTP/1.1\r\nHost: x\r\n\r\n`.repeat(3))
    await until(() => begun === 3)
    client.socket.destroy()
    await until(() => closed === 3)
    await new Promise((resolve) => server.close(resolve))
  })

  test('fallbackHandler answers, logs and counts for its service', async () => {
    const { log, lines } = memoryLog('debug')
    const metrics = createMetrics()
    const app = express().use(
      '/api',
      fallbackHandler({ log, metrics, service: 'demo' }, (response) => response.end('left')),
    )
    const { text, headers } = await supertest(app).get('/api/whatever')
    expect([text, headers['x-content-type-options']]).toEqual(['left', 'nosniff'])
    await until(() => lines().length > 0)
    expect(lines()).toMatchObject([{ service: 'demo', request: { path: '/api/whatever' } }])
  })

  test('createServerFor uses the prototypes of the app, so that Express changes none', async () => {
    const app = express()
    const seen: boolean[] = []
    app.get('/', (request, response) => {
      seen.push(request.ip === '127.0.0.1' && request.app === app)
      response.json({ query: request.query })
    })
    const own = memoryLog()
    const server = await listen({ app, host: '127.0.0.1', port: 0, log: own.log })
    running.push(server)
    const set = Object.setPrototypeOf
    const changed: unknown[] = []
    Object.setPrototypeOf = <T>(object: T, prototype: object | null): T => {
      if (Object.getPrototypeOf(object) !== prototype) changed.push(object)
      return set(object, prototype) as T
    }
    try {
      const answered = await fetch(`${server.url}/?a=b`)
      expect(await answered.json()).toEqual({ query: { a: 'b' } })
    } finally {
      Object.setPrototypeOf = set
    }
    expect([changed, seen]).toEqual([[], [true]])
  })
})
