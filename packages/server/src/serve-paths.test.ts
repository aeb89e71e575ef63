import type { RequestListener } from 'node:http'
import { setImmediate } from 'node:timers/promises'
import supertest from 'supertest'
import { memoryLog } from '../testing/memory-log.ts'
import { rawClient } from '../testing/raw-client.ts'
import { until } from '../testing/until.ts'
import { createApp } from './create-app.ts'
import { listen } from './listen.ts'
import { createMetrics } from './metrics.ts'
import { nameEndpoint } from './observe-requests.ts'
import { onError } from './on-error.ts'
import { requestPath } from './request-path.ts'
import { servePaths, type PathsSettings } from './serve-paths.ts'

const answer: PathsSettings['answer'] = async (request, response, path) => {
  nameEndpoint(response, path)
  await setImmediate()
  if (path === '/api/fails') throw new Error('hard luck with postgres://me:hunter2@db')
  if (path === '/api/half') response.write('half')
  if (path === '/api/half' || path === '/api/cannot') throw new Error('hard luck')
  if (path === '/api/bad') response.statusCode = 500
  response.end(`${request.method} ${path}`)
}
const answerFailure: PathsSettings['answerFailure'] = (response, path, status) => {
  if (path === '/api/cannot') throw new Error('cannot')
  response.statusCode = status
  response.end(`own form ${status}`)
}
const isOurs = (path: string) => path.startsWith('/api/')

/** The same interface in front of Express, and all in Express. */
const both = () => {
  const [front, inside] = [memoryLog('debug'), memoryLog('debug')]
  const metrics = { front: createMetrics(), inside: createMetrics() }
  const app = createApp({ log: inside.log, metrics: metrics.inside, service: 'demo' })
  app.use(metrics.inside.route)
  app.use((request, response) => answer(request, response, request.path))
  app.use(onError(inside.log, (request, response, ...why) => answerFailure(response, requestPath(request), ...why)))
  const settings = { isOurs, answer, answerFailure, service: 'demo', log: front.log, metrics: metrics.front }
  return {
    front: { ...front, metrics: metrics.front, app: servePaths({ ...settings, beside: [metrics.front.route] }) },
    inside: { ...inside, metrics: metrics.inside, app: app as RequestListener },
  }
}

const counts = async ({ metrics }: ReturnType<typeof both>['front']) =>
  (await metrics.registry.metrics())
    .split('\n')
    .filter((line) => line.startsWith('http_request_duration_seconds_count'))

test.each([
  ['GET', '/api/one'],
  ['POST', '/api/one?password=hunter2'],
  ['HEAD', '/api/one'],
  ['OPTIONS', '/api/one'],
  ['GET', '/api/bad'],
  ['GET', '/api/fails?password=hunter2'],
  ['GET', '/elsewhere'],
])('%s %s is answered, logged and counted as by Express alone', async (method, path) => {
  const seen = []
  for (const server of Object.values(both())) {
    const { status, headers, text } = await supertest(server.app)[method.toLowerCase() as 'get'](path)
    await until(() => server.lines().some(({ msg }) => msg === 'request' || path === '/api/bad'))
    await until(() => server.lines().length > 0)
    const lines = server
      .lines()
      .map(({ level, msg, request, service, status }) => [level, msg, request, service, status])
    expect(server.text()).not.toContain('hunter2')
    seen.push({ status, text, headers: { ...headers, date: '' }, lines, counts: await counts(server) })
  }
  expect(seen[0]).toEqual(seen[1])
  expect(seen[0]?.headers).toMatchObject({ 'x-content-type-options': 'nosniff' })
})

test.each(['/api/half', '/api/cannot'])(
  'a failure at %s that cannot be answered breaks the connection off',
  async (path) => {
    for (const { app, lines } of Object.values(both())) {
      await expect(supertest(app).get(path)).rejects.toThrow()
      await until(() => lines().length > 0)
      expect(lines()[0]).toMatchObject({ level: 'error', msg: 'request failed', request: { path } })
    }
  },
)

test('a client that has gone is nobody’s failure', async () => {
  const { log, lines } = memoryLog()
  let handled = false
  const gone: PathsSettings['answer'] = async (_request, response) => {
    const closed = new Promise((resolve) => response.once('close', resolve))
    handled = true
    await closed
    throw Object.assign(new Error('aborted'), { code: 'ECONNRESET' })
  }
  const app = servePaths({ isOurs, answer: gone, answerFailure, service: 'demo', log, beside: [] })
  const server = await listen({ app, host: '127.0.0.1', port: 0, log })
  const client = rawClient(server.port, 'GET /api/one HTTP/1.1\r\nHost: x\r\n\r\n')
  await until(() => handled)
  client.socket.destroy()
  await server.close()
  expect(lines().filter(({ level }) => level === 'error')).toEqual([])
})

test('what is beside is asked about no path of the interface', async () => {
  const { app } = both().front
  expect((await supertest(app).get('/metrics')).text).toContain('nodejs_eventloop_lag_seconds')
  const asked: string[] = []
  const log = memoryLog().log
  const beside = [
    (request: { path: string }, _response: unknown, next: () => void) => {
      asked.push(request.path)
      next()
    },
  ]
  const other = servePaths({ isOurs, answer, answerFailure, service: 'demo', log, beside })
  await supertest(other).get('/api/one').expect(200, 'GET /api/one')
  await supertest(other).get('/other').expect(200, 'GET /other')
  expect(asked).toEqual(['/other'])
})
