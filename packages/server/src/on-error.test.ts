import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import supertest from 'supertest'
import { memoryLog } from '../testing/memory-log.ts'
import { rawClient } from '../testing/raw-client.ts'
import { until } from '../testing/until.ts'
import { endpointHandler } from './endpoint-handler.ts'
import { createApp } from './express-app.ts'
import { listen } from './listen.ts'
import { hadNoEffect, onError, withoutEffect } from './on-error.ts'

describe('on error', () => {
  const GET = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'

  const serving = async (fail: (gone: Promise<void>) => Promise<void>) => {
    const { log, lines } = memoryLog()
    const app = createApp({ log, service: 'demo' })
    const state = { answered: 0, handled: false }
    app.get('/', async (_request, response) => {
      const gone = new Promise<void>((resolve) => response.once('close', resolve))
      state.handled = true
      await fail(gone)
    })
    app.use(onError(log, () => void (state.answered += 1)))
    const running = await listen({ app, host: '127.0.0.1', port: 0, log })
    return { running, state, lines: () => lines().filter(({ level }) => level === 'error') }
  }

  test('a response cut short by a disconnected client is not logged', async () => {
    const endless = Readable.from(
      (function* () {
        for (;;) yield 'x'.repeat(100_000)
      })(),
    )
    const { log, lines } = memoryLog()
    const app = createApp({ log, service: 'demo' })
    let failure: unknown
    app.get('/', (_request, response) => pipeline(endless, response))
    app.use((error: unknown, _request: unknown, _response: unknown, next: (error: unknown) => void) => {
      failure = error
      next(error)
    })
    app.use(onError(log, () => undefined))
    const running = await listen({ app, host: '127.0.0.1', port: 0, log })
    const client = rawClient(running.port, GET)
    await until(() => client.received().length > 100)
    client.socket.destroy()
    await until(() => failure !== undefined)
    await running.close()
    expect(lines().filter(({ level }) => level === 'error' || level === 'warn')).toEqual([])
  })

  test('a server error is logged even if the client disconnected meanwhile', async () => {
    const { running, state, lines } = await serving(async (gone) => {
      await gone
      throw new Error('the books do not balance')
    })
    const client = rawClient(running.port, GET)
    await until(() => state.handled)
    client.socket.destroy()
    await until(() => lines().length > 0)
    expect(lines()).toMatchObject([{ err: { message: 'the books do not balance' } }])
    await running.close()
  })

  test('an outage logs one error line a second for all apps of the process; the next line counts those without one', async () => {
    const { log, lines } = memoryLog()
    const fail = () => {
      throw new Error('the database is away')
    }
    const app = createApp({ log, service: 'one' })
    app.get('/throws', fail)
    app.get('/answers', (_request, response) => void response.status(500).send('no'))
    app.use(onError(log, (_request, response, status) => void response.status(status).send('no')))
    const other = createApp({ log, service: 'two' })
    other.use(
      endpointHandler({
        log,
        service: 'two',
        prefix: '',
        caseSensitive: true,
        endpoints: new Map([['/', fail]]),
        answer: fail,
        answerFailure: (response, _endpoint, status) => void response.writeHead(status).end(),
      }),
    )
    const errors = () => lines().filter(({ level }) => level === 'error')
    let requests = 0
    const begin = performance.now()
    const storm = async () => {
      requests += 3
      await Promise.all([
        supertest(app).get('/throws').expect(500),
        supertest(app).get('/answers').expect(500),
        supertest(other).get('/').expect(500),
      ])
    }
    await storm()
    expect(errors().length).toBeGreaterThan(0)
    while (errors().length < 2) await storm()
    const seconds = (performance.now() - begin) / 1000
    expect(errors().length).toBeLessThanOrEqual(1 + Math.ceil(seconds))
    expect(errors()[0]).toMatchObject({ msg: 'request failed', unwritten: 0 })
    const last = errors().at(-1)
    expect(last).toMatchObject({ msg: 'request failed' })
    expect(last?.unwritten).toBeGreaterThan(0)
    expect(last?.unwritten).toBeLessThan(requests)
  })
})

describe('without effect', () => {
  test('an error from withoutEffect is rethrown and marked; other errors are not', async () => {
    const error = new Error('hard luck')
    expect(hadNoEffect(error)).toBe(false)
    await expect(withoutEffect(() => Promise.reject(error))).rejects.toBe(error)
    expect([hadNoEffect(error), hadNoEffect(new Error('hard luck')), hadNoEffect('text')]).toEqual([true, false, false])
    expect(await withoutEffect(() => 5)).toBe(5)
  })

  test('an error that is marked as without effect had none', () => {
    const error = new Error('the disk is full')
    expect(hadNoEffect(Object.assign(error, { hadNoEffect: false }))).toBe(false)
    expect(hadNoEffect(Object.assign(error, { hadNoEffect: true }))).toBe(true)
  })
})
