import supertest from 'supertest'
import { memoryLog } from '../testing/memory-log.ts'
import { createApp } from './express-app.ts'
import { healthRoutes, unreadyReason, type Checks } from './health.ts'
import { release } from './version.ts'

const appWith = (checks: Checks, stopping?: AbortSignal) => {
  const app = createApp({ log: memoryLog().log, service: 'demo' })
  app.use(healthRoutes({ checks, ...(stopping && { stopping }) }))
  return app
}

test('GET /health/live is 200, whatever the checks say', async () => {
  const app = appWith({ database: () => Promise.resolve(false) })
  await supertest(app)
    .get('/health/live')
    .expect(200, { live: true, ...release })
})

test('GET /health/ready is 200 if every check passes', async () => {
  const app = appWith({ database: () => Promise.resolve(true) })
  const { headers } = await supertest(app)
    .get('/health/ready')
    .expect(200, { ready: true, ...release, checks: { database: 'ok' } })
  expect(headers['cache-control']).toBe('no-store')
})

test('GET /health/ready is 503 and names the check that fails, throws or does not answer within a second', async () => {
  const app = appWith({
    good: () => Promise.resolve(true),
    bad: () => Promise.resolve(false),
    throws: () => Promise.reject(new Error('secret')),
    hangs: () => new Promise(() => undefined),
  })
  const start = performance.now()
  await supertest(app)
    .get('/health/ready')
    .expect(503, {
      ready: false,
      ...release,
      checks: { good: 'ok', bad: 'failing', throws: 'failing', hangs: 'no answer' },
    })
  expect(performance.now() - start).toBeGreaterThanOrEqual(990)
})

test('GET /health/ready contains the reason of a check, as a word and a sentence', async () => {
  const problem = { reason: 'disk-full', message: 'The disk is full.' }
  const app = appWith({ good: () => Promise.resolve(true), database: () => Promise.resolve(problem) })
  await supertest(app)
    .get('/health/ready')
    .expect(503, {
      ready: false,
      ...release,
      checks: { good: 'ok', database: 'failing' },
      problems: { database: problem },
    })
})

test('GET /health/ready contains the additional words of a problem', async () => {
  const why = { reason: 'standby-away', message: 'Commits wait.' }
  const problem = { ...why, states: { commits: 'waiting for a standby' } }
  await supertest(appWith({ database: () => Promise.resolve(problem) }))
    .get('/health/ready')
    .expect(503, {
      ready: false,
      ...release,
      checks: { database: 'failing' },
      commits: 'waiting for a standby',
      problems: { database: why },
    })
})

test('GET /health/ready is 503 as soon as the process is stopping', async () => {
  const stopping = new AbortController()
  const app = appWith({ database: () => Promise.resolve(true) }, stopping.signal)
  await supertest(app).get('/health/ready').expect(200)
  stopping.abort()
  await supertest(app)
    .get('/health/ready')
    .expect(503, { ready: false, ...release, stopping: true, checks: { database: 'ok' } })
  await supertest(app).get('/health/live').expect(200)
})

test('a check without an answer is not started again by further requests', async () => {
  let runs = 0
  const app = appWith({ database: () => new Promise(() => (runs += 1)) })
  const server = app.listen(0, '127.0.0.1')
  await Promise.all(Array.from({ length: 50 }, () => supertest(server).get('/health/ready').expect(503)))
  server.close()
  expect(runs).toBe(1)
})

test('HEAD has the status of GET, and no body', async () => {
  const stopping = new AbortController()
  const app = appWith({ database: () => Promise.resolve(true) }, stopping.signal)
  expect((await supertest(app).head('/health/live').expect(200)).text).toBeUndefined()
  expect((await supertest(app).head('/health/ready').expect(200)).text).toBeUndefined()
  stopping.abort()
  await supertest(app).head('/health/ready').expect(503)
})

test('other methods and paths are not answered here', async () => {
  const app = appWith({})
  await supertest(app).post('/health/live').expect(404)
  await supertest(app).head('/health/other').expect(404)
  await supertest(app).get('/health/other').expect(404)
})

test('GET /health/<name> returns the present details of this name, and other paths pass on', async () => {
  const app = createApp({ log: memoryLog().log, service: 'demo' })
  let count = 0
  app.use(healthRoutes({ checks: {}, details: { carriers: () => ({ count: ++count }) } }))
  await supertest(app).get('/health/carriers').expect(200, { count: 1 })
  const { headers } = await supertest(app).get('/health/carriers').expect(200, { count: 2 })
  expect(headers['cache-control']).toBe('no-store')
  for (const path of ['/health/', '/health/toString', '/health/__proto__', '/health/carriers/x']) {
    await supertest(app).get(path).expect(404)
  }
})

test.each([
  ['undefined for a ready process', { database: true }, undefined],
  ['the word of the first failed check', { good: true, database: 'disk-full', progress: false }, 'disk-full'],
  ['the name of a check without a word', { database: true, progress: false }, 'progress'],
])('the reason is %s', async (_title, states, reason) => {
  const checks = Object.fromEntries(
    Object.entries(states).map(([name, state]) => [
      name,
      () => Promise.resolve(typeof state === 'string' ? { reason: state, message: 'It failed.' } : state),
    ]),
  )
  expect(await unreadyReason({ checks })()).toBe(reason)
})

test('the reason is stopping from a stop signal on, and no-answer for a check without an answer', async () => {
  const stopping = new AbortController()
  const read = unreadyReason({ checks: { database: () => new Promise(() => undefined) }, stopping: stopping.signal })
  expect(await read()).toBe('no-answer')
  stopping.abort()
  expect(await read()).toBe('stopping')
})

test('the page and the reason of the same checks share each run of a check', async () => {
  let runs = 0
  const checks = { database: () => Promise.resolve(++runs > 0) }
  await supertest(appWith(checks)).get('/health/ready').expect(200)
  expect([await unreadyReason({ checks })(), runs]).toEqual([undefined, 1])
})
