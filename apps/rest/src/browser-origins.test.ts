import { createBackOffice, createGateway } from '@gateway/core'
import { anAccount, memoryPorts, steppingClock } from '@gateway/core/testing'
import { admissionGate, createLog, createMetrics } from '@gateway/server'
import request from 'supertest'
import { createRestServer } from './index.ts'
import '../testing/checked-answers.ts'

const ours = 'https://app.example.com'
const path = '/api/rest/v1/credits/balance'

async function aServer(corsOrigins?: readonly string[]) {
  const clock = steppingClock()
  const ports = memoryPorts({ clock })
  const account = await anAccount(ports)
  const issued = await createBackOffice(ports).issueApiKey(account.id)
  if (typeof issued === 'string') throw new Error(issued)
  const log = createLog({ level: 'silent', name: 'test' })
  const metrics = createMetrics()
  const app = createRestServer(createGateway(ports), { clock, gate: admissionGate(10), log, metrics, corsOrigins })
  const preflight = (origin: string, at = path) =>
    request(app).options(at).set('Origin', origin).set('Access-Control-Request-Method', 'POST')
  return { app, key: issued.key, metrics, preflight }
}

const allowOrigin = 'access-control-allow-origin'

test('without the setting OPTIONS is 405, and no answer says anything about origins', async () => {
  const { app, key, preflight } = await aServer()
  const { status, headers } = await preflight(ours)
  expect([status, headers[allowOrigin], headers['allow']]).toEqual([405, undefined, 'GET'])
  const told = await request(app).get(path).set('Authorization', key).set('Origin', ours).expect(200)
  expect([told.headers[allowOrigin], told.headers['vary']]).toEqual([undefined, undefined])
})

test('a preflight request of a listed origin is answered 204 without a key, and counted', async () => {
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

test('answers to a listed origin carry the headers, refusals too', async () => {
  const { app, key } = await aServer([ours])
  const good = await request(app).get(path).set('Authorization', key).set('Origin', ours).expect(200)
  expect(good.body).toMatchObject({ creditBalance: 100 })
  const refused = await request(app).get(path).set('Origin', ours).expect(401)
  for (const { headers } of [good, refused]) {
    expect([headers[allowOrigin], headers['access-control-expose-headers']]).toEqual([ours, 'Retry-After,X-Request-Id'])
  }
})

test.each(['https://evil.example.com', 'https://app.example.com.evil.com', 'http://app.example.com', 'null', ''])(
  'the origin "%s" is not listed: everything is as without the setting',
  async (origin) => {
    const { app, key, preflight } = await aServer([ours])
    const { status, headers } = await preflight(origin)
    expect([status, headers[allowOrigin]]).toEqual([405, undefined])
    const told = await request(app).get(path).set('Authorization', key).set('Origin', origin).expect(200)
    expect(told.headers).not.toHaveProperty(allowOrigin)
  },
)

test('OPTIONS that is no preflight request stays 405', async () => {
  const { app } = await aServer([ours])
  await request(app).options(path).set('Origin', ours).expect(405)
})
