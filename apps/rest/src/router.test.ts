import { createBackOffice, createGateway } from '@gateway/core'
import { anAccount, memoryPorts, steppingClock } from '@gateway/core/testing'
import { admissionGate, createLog, createMetrics } from '@gateway/server'
import express, { type RequestHandler } from 'express'
import request from 'supertest'
import '../testing/checked-answers.ts'
import { createRestServer, restNotFound, restRouter } from './index.ts'

describe('router', () => {
  const log = createLog({ level: 'silent', name: 'test' })

  /**
   * Mounts the router in another Express app, after body parsers, with other routes and an error handler of that app.
   */
  const mountedAt = async (prefix: string, ...before: RequestHandler[]) => {
    const clock = steppingClock()
    const ports = memoryPorts({ clock })
    const account = await anAccount(ports)
    const issued = await createBackOffice(ports).commands.issueApiKey(account.id)
    if (typeof issued === 'string') throw new Error(issued)
    const settings = { clock, gate: admissionGate(10), log }
    const app = express()
    for (const handler of before) app.use(handler)
    app.use(prefix, restRouter(createGateway(ports), settings))
    app.get(`${prefix}/own`, (_request, response) => void response.send('own'))
    app.use('/closed', restNotFound(settings))
    app.use((_request, response) => void response.status(404).send('their 404'))
    const ask = (method: 'get' | 'post', path: string) =>
      request(app)[method](`${prefix}${path}`).set('Authorization', issued.key)
    return { app, ask, gate: settings.gate }
  }

  const send = '{"message":"hi","recipients":[{"mobileNumber":"27825550101"}]}'
  const status = '/sms/outgoing/status'

  const keepBytes = express.json({
    limit: '200kb',
    verify: (read, _response, bytes) => Object.assign(read, { rawBody: bytes }),
  })
  const readers: readonly [string, RequestHandler | undefined][] = [
    ['nothing', undefined],
    ['express.json()', express.json({ limit: '200kb' })],
    ['express.json() that keeps the bytes', keepBytes],
    ['express.raw()', express.raw({ type: '*/*', limit: '200kb' })],
    ['express.text()', express.text({ type: '*/*', limit: '200kb' })],
    ['express.urlencoded()', express.urlencoded()],
  ]

  describe.each(['', '/sms', '/api/rest/v1', '/any/where'])('mounted at "%s"', (prefix) => {
    test.each(readers)('after %s, a send is accepted and statuses are returned', async (_what, reader) => {
      const { ask, gate } = await mountedAt(prefix, ...(reader ? [reader] : []))
      const sent = await ask('post', '/sms/outgoing/send').type('application/json').send(send)
      expect([sent.status, sent.body]).toMatchObject([200, { recipients: [{ accepted: true, apiMessageId: 1 }] }])
      const response = await ask('post', status).type('application/json; charset=utf-8').send('[1, 2]')
      expect(response.body).toMatchObject({ messageStatuses: [{ apiMessageId: 1 }, { apiMessageId: 2 }] })
      expect((await ask('get', '/credits/balance')).body).toMatchObject({ creditBalance: 99 })
      expect(gate.inFlight).toBe(0)
    })

    test('other paths pass to the next handler', async () => {
      const { ask } = await mountedAt(prefix, express.json())
      expect((await ask('get', '/own')).text).toBe('own')
      for (const path of ['/nothing', '/credits/balance//', '/Credits/balance', '/Credits/balance/', '/']) {
        const { status, text } = await ask('get', path)
        expect([status, text]).toEqual([404, 'their 404'])
      }
    })
  })

  test('the 404 with the envelope is a separate handler', async () => {
    const { app } = await mountedAt('/api')
    const answer = await request(app).get('/closed/any/thing')
    expect([answer.status, answer.body]).toMatchObject([404, { version: '1.0', statusCode: 404 }])
  })

  describe('a body that was read before', () => {
    const respond = async (reader: RequestHandler, type: string, body: string) => {
      const { ask } = await mountedAt('/api', reader)
      const answer = await ask('post', status).set('Content-Type', type).send(body)
      return [answer.status, (answer.body as { errorMessage?: string }).errorMessage]
    }
    const json = 'application/json'
    const [parsed, raw] = [express.json({ limit: '300kb' }), express.raw({ type: '*/*', limit: '300kb' })]
    const large = `[${' '.repeat(204_802)}1]`

    test.each<[string, RequestHandler, string, string, number]>([
      ['a whole number written otherwise, in bytes', raw, json, '[1.0]', 422],
      ['a whole number written otherwise, bytes kept', keepBytes, json, '[1e3]', 422],
      ['a whole number written otherwise, parsed', parsed, json, '[1.0, 1e3]', 200],
      ['a fraction, parsed', parsed, json, '[1.5]', 422],
      ['a string, parsed', parsed, json, '["5"]', 422],
      ['no array, parsed', parsed, json, '{}', 422],
      ['nothing, parsed', parsed, json, '', 400],
      ['nothing, in bytes', raw, json, '', 400],
      ['no JSON, in bytes', raw, json, '[1', 400],
      ['another type, in bytes', raw, 'text/plain', '[1]', 415],
      ['another type, which express.json ignores', parsed, 'text/plain', '[1]', 415],
      ['too large, parsed', parsed, json, large, 413],
      ['too large, in bytes', raw, json, large, 413],
      ['nested 90 000 deep, parsed', parsed, json, '['.repeat(90_000) + ']'.repeat(90_000), 422],
    ])('%s', async (_what, reader, type, body, code) => {
      expect((await respond(reader, type, body))[0]).toBe(code)
    })

    test('is checked after the method and the key', async () => {
      const { app, ask } = await mountedAt('/api', parsed)
      expect((await request(app).put(`/api${status}`).type('json').send('{}')).status).toBe(405)
      expect((await ask('post', status).set('Authorization', 'no').type('text').send('x')).status).toBe(401)
    })

    test('that was consumed without keeping its text is an internal failure and not a wrong request', async () => {
      const swallow: RequestHandler = (read, _response, next) => void read.resume().once('end', next)
      expect(await respond(swallow, json, '[1]')).toEqual([503, 'The service is not available.'])
    })
  })
})

describe('browser origins', () => {
  const ours = 'https://app.example.com'
  const path = '/api/rest/v1/credits/balance'

  async function aServer(corsOrigins?: readonly string[]) {
    const clock = steppingClock()
    const ports = memoryPorts({ clock })
    const account = await anAccount(ports)
    const issued = await createBackOffice(ports).commands.issueApiKey(account.id)
    if (typeof issued === 'string') throw new Error(issued)
    const log = createLog({ level: 'silent', name: 'test' })
    const metrics = createMetrics()
    const app = createRestServer(createGateway(ports), { clock, gate: admissionGate(10), log, metrics, corsOrigins })
    const preflight = (origin: string, at = path) =>
      request(app).options(at).set('Origin', origin).set('Access-Control-Request-Method', 'POST')
    return { app, key: issued.key, metrics, preflight }
  }

  const allowOrigin = 'access-control-allow-origin'

  test('without the setting OPTIONS is answered with 405, and responses have no CORS headers', async () => {
    const { app, key, preflight } = await aServer()
    const { status, headers } = await preflight(ours)
    expect([status, headers[allowOrigin], headers['allow']]).toEqual([405, undefined, 'GET'])
    const response = await request(app).get(path).set('Authorization', key).set('Origin', ours).expect(200)
    expect([response.headers[allowOrigin], response.headers['vary']]).toEqual([undefined, undefined])
  })

  test('a preflight request of a listed origin is answered with 204 without a key, and counted', async () => {
    const { preflight, metrics } = await aServer(['http://localhost:3000', ours])
    for (const at of [path, '/api/rest/v1/sms/outgoing/send']) {
      const { status, headers, text } = await preflight(ours, at)
      expect([status, text]).toEqual([204, ''])
      expect(headers).toMatchObject({
        [allowOrigin]: ours,
        vary: 'Origin',
        'access-control-allow-methods': 'GET,POST,PATCH,DELETE',
        'access-control-allow-headers': 'Authorization,Content-Type,Idempotency-Key,X-Request-Id',
        'access-control-max-age': '7200',
        'x-content-type-options': 'nosniff',
      })
      expect(headers).not.toHaveProperty('access-control-allow-credentials')
    }
    expect(await metrics.registry.metrics()).toMatch(/method="OPTIONS",.*status="204".*\} 2$/m)
  })

  test('responses to a listed origin carry the headers, including refusals', async () => {
    const { app, key } = await aServer([ours])
    const good = await request(app).get(path).set('Authorization', key).set('Origin', ours).expect(200)
    expect(good.body).toMatchObject({ creditBalance: 100 })
    const refused = await request(app).get(path).set('Origin', ours).expect(401)
    for (const { headers } of [good, refused]) {
      expect([headers[allowOrigin], headers['access-control-expose-headers']]).toEqual([
        ours,
        'Retry-After,X-Request-Id',
      ])
    }
  })

  test.each(['https://evil.example.com', 'https://app.example.com.evil.com', 'http://app.example.com', 'null', ''])(
    'the origin "%s" is not listed: everything is as without the setting',
    async (origin) => {
      const { app, key, preflight } = await aServer([ours])
      const { status, headers } = await preflight(origin)
      expect([status, headers[allowOrigin]]).toEqual([405, undefined])
      const response = await request(app).get(path).set('Authorization', key).set('Origin', origin).expect(200)
      expect(response.headers).not.toHaveProperty(allowOrigin)
    },
  )

  test('OPTIONS that is not a preflight request is answered with 405', async () => {
    const { app } = await aServer([ours])
    await request(app).options(path).set('Origin', ours).expect(405)
  })
})
