import { createGateway } from '@gateway/core'
import { until } from '@gateway/core/testing'
import { admissionGate, createLog, confirmedResponses, listen } from '@gateway/server'
import { connect } from 'node:net'
import { gzipSync } from 'node:zlib'
import request from 'supertest'
import { errorIn, serveXml } from '../testing/serve-xml.ts'
import { createXmlServer } from './index.ts'

const operations = [
  ['xmlsendsmsmulti.asp', 'XMLGateway_Response'],
  ['xmlgetstatus.asp', 'XMLGatewayStatus_Response'],
  ['xmldeletescheduled.asp', 'XMLGatewayDeleteScheduled_Response'],
  ['xmlgetreplies.asp', 'XMLGateway_Replies'],
  ['xmlgetscmessages.asp', 'XMLGateway_SCmessages'],
] as const
const methods = ['get', 'head', 'put', 'delete', 'options', 'patch'] as const

describe.each(operations)('%s', (name, root) => {
  test('any method except POST is answered with 405 and an Error, and does nothing', async () => {
    const { app, orders } = await serveXml()
    for (const method of methods) {
      const { status, headers, text } = await request(app)[method](`/api/${name}`)
      expect([status, headers.allow]).toEqual([405, 'POST'])
      // A response to HEAD has no body.
      if (method !== 'head') expect(text).toBe(errorIn(root, 'Method not allowed'))
    }
    expect(orders).toEqual([])
  })

  test.each([
    ['a body that is compressed', gzipSync(`<Svc_Replies/>`)],
    ['a body that is JSON', '{"apikey":1}'],
    ['a body of bytes', Buffer.from(Array.from({ length: 256 }, (_, byte) => byte))],
  ])('%s is Not Valid XML Document', async (_, body) => {
    const { post } = await serveXml()
    const { status, text } = await post(`/api/${name}`, body)
    expect([status, text]).toEqual([200, errorIn(root, 'Not Valid XML Document')])
  })
})

test.each(['/api/xmlsend.asp', '/api/xmlsendsmsmulti.asp/', '/api/xmlsendsmsmulti', '/api/auth.asp', '/', '/api'])(
  '%s is 404 in plain text',
  async (path) => {
    const { post } = await serveXml()
    const { status, headers, text } = await post(path, '')
    expect([status, headers['content-type'], text]).toEqual([404, 'text/plain; charset=utf-8', 'Not found'])
  },
)

test('health and metrics answer on other paths only', async () => {
  const { app } = await serveXml({ settings: { health: { checks: {} } } })
  expect((await request(app).get('/health/live')).body).toMatchObject({ live: true })
  expect((await request(app).get('/api/xmlnothing.asp')).status).toBe(404)
})

test('with every place taken, a request is 503 with Retry-After and nothing is done; the place is released', async () => {
  const gate = admissionGate(1)
  const { post, key, orders } = await serveXml({ settings: { gate } })
  const leave = gate.tryEnter()
  const send = `<Svc_Multi_Message><ApiKey>${key}</ApiKey><Messages><Message><MessageText>a</MessageText><Numbers><Number>27825550101</Number></Numbers></Message></Messages></Svc_Multi_Message>`
  const refused = await post('/api/xmlsendsmsmulti.asp', send)
  expect([refused.status, refused.headers['retry-after'], refused.text]).toEqual([
    503,
    '1',
    errorIn('XMLGateway_Response', 'Service unavailable'),
  ])
  expect(orders).toEqual([])
  leave?.()
  for (let i = 0; i < 3; i++) await post('/api/xmlsendsmsmulti.asp', send)
  expect([orders.length, gate.inFlight]).toEqual([3, 0])
})

test('a client that sends an invalid document without a right key waits for its turn; a client with a right key does not', async () => {
  const gate = admissionGate(100)
  let turns = 0
  const refusals = {
    waiting: 0,
    end: () => undefined,
    turn: () => {
      turns++
      return Promise.resolve()
    },
  }
  const { post, key } = await serveXml({ settings: { gate: { ...gate, refusals } } })
  const malformed = (credentials: string) => post('/api/xmlgetreplies.asp', `<Svc_Replies>${credentials}<a></b>`)
  for (const credentials of ['', '<ApiKey>wrong</ApiKey>', `<ApiKey>${key}</ApiKey>`]) {
    const { status, text } = await malformed(credentials)
    expect([status, text]).toEqual([200, errorIn('XMLGateway_Replies', 'Not Valid XML Document')])
  }
  expect(turns).toBe(2)
})

test('a place is released after an internal error, too', async () => {
  const gate = admissionGate(1)
  const { post, key } = await serveXml({
    settings: { gate },
    change: (ports) => ({ ...ports, accounts: { ...ports.accounts, byKey: () => Promise.reject(new Error('lost')) } }),
  })
  const answered = await post('/api/xmlgetreplies.asp', `<Svc_Replies><ApiKey>${key}</ApiKey></Svc_Replies>`)
  expect([answered.status, answered.text]).toEqual([503, errorIn('XMLGateway_Replies', 'Service unavailable')])
  expect(gate.inFlight).toBe(0)
})

test('a client that disconnects while it sends holds no place and harms no other request', async () => {
  const gate = admissionGate(1)
  const { ports, clock } = await serveXml()
  const log = createLog({ level: 'silent', name: 'test' })
  const app = createXmlServer(createGateway(ports), {
    clock,
    gate,
    confirmedResponses: confirmedResponses({ log }),
    log,
  })
  const server = await listen({ app, host: '127.0.0.1', port: 0, log })
  try {
    for (let i = 0; i < 5; i++) {
      const socket = connect(server.port, '127.0.0.1')
      socket.write('POST /api/xmlgetstatus.asp HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n<Svc_')
      await until(() => socket.bytesWritten > 0)
      socket.destroy()
    }
    const answered = await request(server.url).post('/api/xmlgetstatus.asp').send('')
    expect(answered.text).toBe(errorIn('XMLGatewayStatus_Response', 'Not Valid XML Document'))
    expect(gate.inFlight).toBe(0)
  } finally {
    await server.close()
  }
})

test('no key, password, number or text is ever in the log', async () => {
  let written = ''
  const destination = { write: (line: string) => void (written += line) }
  const { post, key } = await serveXml({
    settings: { log: createLog({ level: 'trace', name: 'test', destination }) },
    change: (ports) => ({
      ...ports,
      messages: { ...ports.messages, accept: () => Promise.reject(new Error('the connection was lost')) },
    }),
  })
  const document = `<Svc_Multi_Message><ApiKey>${key}</ApiKey><Password>secret</Password><Messages><Message><MessageText>whisper</MessageText><Numbers><Number>27825550101</Number></Numbers></Message></Messages></Svc_Multi_Message>`
  expect((await post('/api/xmlsendsmsmulti.asp', document)).status).toBe(503)
  await post(`/api/xmlsendsmsmulti.asp?apikey=${key}`, `${document}&`)
  await until(() => written.split('\n').length > 2)
  expect(written).toContain('the connection was lost')
  for (const secret of [key, 'secret', 'whisper', '27825550101']) expect(written).not.toContain(secret)
})
