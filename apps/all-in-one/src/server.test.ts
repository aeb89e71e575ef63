import { createBackOffice, createGateway, holderAccess } from '@gateway/core'
import { anAccount, memoryPorts, steppingClock } from '@gateway/core/testing'
import { admissionGate, createLog, createMetrics, confirmedResponses } from '@gateway/server'
import request from 'supertest'
import { createAllInOneServer, describeMalformed } from './server.ts'

const clock = steppingClock()
const log = createLog({ level: 'silent', name: 'test' })
const metrics = createMetrics()
const ports = memoryPorts({ clock })
const gateway = createGateway(ports)
const { id } = await anAccount(ports)
const issued = await createBackOffice(ports).commands.issueApiKey(id)
if (typeof issued === 'string') throw new Error(issued)
const { key } = issued
const app = createAllInOneServer(gateway, {
  clock,
  holders: holderAccess(ports, gateway),
  gate: admissionGate(10),
  confirmedResponses: confirmedResponses({ log }),
  log,
  metrics,
  health: { checks: {} },
})

const counted = async () =>
  (await metrics.registry.metrics()).split('\n').filter((line) => /_count.*status="404"/.test(line))

test.each([
  ['/api/rest/v1', 'rest'],
  ['/api/rest/v1/', 'rest'],
  ['/api/rest/v1/x/y', 'rest'],
  ['/api/rest/v1/xmlgetstatus.asp', 'rest'],
  ['/api/rest/v1/sms/outgoing/send/x', 'rest'],
  ['/api/xmlanything.asp', 'xml'],
  ['/API/XMLanything.ASP', 'xml'],
  ['/api/xml/x.asp', 'asp'],
  ['/api/xmlgetstatus.asp/', 'asp'],
  ['/api', 'asp'],
  ['/api/', 'asp'],
  ['/API/x.asp', 'asp'],
  ['/api/rest/v1x', 'asp', 'rest'],
  ['/api/rest/v2/x', 'asp', 'rest'],
  ['/API/rest/v1/x', 'asp'],
  ['/api/rest', 'asp'],
  ['/apix', 'all-in-one'],
  ['/v2/api/xmlgetstatus.asp', 'all-in-one'],
  ['/health/live/', 'all-in-one'],
])('an unknown path %s is answered by %s in its format', async (path, service, expectedForm = service) => {
  const before = await counted()
  const { status, headers, text } = await request(app).get(path)
  const form = /^\{"timeStamp"/.test(text) ? 'rest' : text === 'Not found' ? 'asp or xml' : 'all-in-one'
  expect([status, form]).toEqual([404, expectedForm === 'asp' || expectedForm === 'xml' ? 'asp or xml' : expectedForm])
  expect(headers['content-security-policy'] !== undefined).toBe(service === 'all-in-one')
  expect(headers['x-content-type-options']).toBe('nosniff')
  const [line, ...more] = (await counted()).filter((one) => !before.includes(one))
  expect([more, line]).toEqual([[], expect.stringContaining(`service="${service}"`)])
})

test('each link of the front page leads to an existing page', async () => {
  const { text } = await request(app).get('/developers')
  const links = Array.from(text.matchAll(/href="([^"]*)"/g), ([, path = '']) => path)
  expect(links.length).toBeGreaterThan(5)
  for (const link of links) {
    const { pathname } = new URL(link, 'http://gateway/developers')
    expect([pathname, (await request(app).get(pathname)).status]).toEqual([pathname, pathname === '/' ? 303 : 200])
  }
})

test.each([
  [
    '/api/rest/v1/credits/balance',
    405,
    '"errorMessage":"This path requires the method GET; the request used BREW.","errorCode":"wrong-method"',
  ],
  ['/api/rest/v1/nothing', 404, '"statusCode":404'],
  ['/API/Auth.asp', 405, 'Error="Method not allowed"'],
  ['/api/XMLgetreplies.asp', 405, '<XMLGateway_Replies><Error>Method not allowed</Error></XMLGateway_Replies>'],
  ['/api/nothing.asp', 405, 'This method does not exist.'],
  ['/', 405, 'This method does not exist.'],
])('an unknown HTTP method at %s is refused with %i', (path, status, text) => {
  const answer = describeMalformed(clock)({ status: 405, reason: 'This method does not exist.', method: 'BREW', path })
  expect([answer.status, answer.body]).toEqual([status, expect.stringContaining(text)])
})

test.each([
  ['/api/rest/v1/credits/balance', 401, 'AUTHORIZATION'],
  ['/api/auth.asp', 200, 'Login=FAIL'],
  ['/Api/Auth.Asp', 200, 'Login=FAIL'],
  ['/api/XmlGetStatus.asp', 405, 'Method not allowed'],
  ['/health/live', 200, 'live'],
  ['/metrics', 200, 'http_request_duration_seconds'],
  ['/', 303, '/sign-in'],
  ['/sign-in', 200, 'href="/developers"'],
  ['/assets/portal.css', 200, '--accent'],
  ['/developers', 200, 'The gateway runs.'],
  ['/docs/', 200, 'swagger-ui-bundle.js'],
  ['/docs/openapi.json', 200, 'smsOutgoingSend'],
  ['/docs/query-string', 200, 'batchmessage.asp'],
  ['/docs/xml/', 200, 'send-request.xsd'],
  ['/docs/xml/send-request.xsd', 200, 'Svc_Multi_Message'],
])('%s is answered with %i and contains %s', async (path, status, text) => {
  const answer = await request(app).get(path)
  expect(answer.status).toBe(status)
  expect(answer.text).toContain(text)
})

test.each([
  ['/api/rest/v1/credits/transfer', '"statusCode":413,"errorMessage":', 'application/json'],
  ['/api/Auth.asp', 'Error="Body too large"', 'text/plain'],
  ['/api/XMLgetstatus.asp', '<Error>Body too large</Error></', 'text/xml'],
  ['/', 'The extensions', 'text/plain'],
])('a request that HTTP refuses as too large is 413 at %s, in the form of its interface', (path, text, type) => {
  const reason =
    path.startsWith('/api/rest') || path === '/' ? 'The extensions of a chunk are too long.' : 'Body too large'
  const answer = describeMalformed(clock)({ status: 413, reason, method: 'POST', path })
  expect([answer.status, answer.body]).toEqual([413, expect.stringContaining(text)])
  expect(answer.contentType).toContain(type)
})

test.each([
  ['/api/rest/v1/sms/outgoing/send', 1_100_000, '{"timeStamp":"20', 'application/json'],
  ['/api/rest/v1/sms/outgoing/status', 210_000, '{"timeStamp":"20', 'application/json'],
  ['/api/batchmessage.asp', 66_000, 'Error="Body too large"', 'text/plain'],
  ['/api/xmlsendsmsmulti.asp', 4_200_000, '<Error>Body too large</Error>', 'text/xml'],
])('a body that is too large for %s is answered 413 in the form of its interface', async (path, bytes, text, type) => {
  const sent = request(app).post(path).set('Authorization', key).type('json').send('x'.repeat(bytes))
  const answer = await (path.endsWith('.asp') ? sent.type('form') : sent)
  expect([answer.status, answer.text]).toEqual([413, expect.stringContaining(text)])
  expect(answer.headers['content-type']).toContain(type)
})
