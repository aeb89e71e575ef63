import { connect } from 'node:net'
import { admissionGate, createLog } from '@gateway/server'
import request from 'supertest'
import { startRest, type Rest } from '../testing/start-rest.ts'

let rest: Rest
beforeEach(async () => {
  rest = await startRest()
})
afterEach(() => rest.close())

const send = '/api/rest/v1/sms/outgoing/send'
const balance = '/api/rest/v1/credits/balance'

const operations = [
  ['GET', '/credits/balance'],
  ['POST', '/credits/transfer'],
  ['GET', '/shortcode/incoming'],
  ['GET', '/sms/incoming'],
  ['GET', '/sms/incoming/optout'],
  ['POST', '/sms/outgoing/send'],
  ['POST', '/sms/outgoing/sendmulti'],
  ['POST', '/sms/outgoing/status'],
  ['GET', '/sms/scheduled'],
  ['POST', '/sms/scheduled/delete'],
  ['GET', '/subaccounts'],
  ['GET, POST', '/webhooks'],
  ['GET, PATCH, DELETE', '/webhooks/7'],
  ['POST', '/webhooks/7/rotate'],
  ['POST', '/webhooks/7/test'],
  ['GET, POST, DELETE', '/webhooks/7/replay'],
  ['GET', '/webhooks/7/attempts'],
] as const

describe('every answer', () => {
  test('is JSON in UTF-8 with its length, with headers against caching and content sniffing', async () => {
    const { headers, text } = await rest.get('/credits/balance')
    expect(headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'content-length': `${text.length}`,
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    })
  })

  test.each(['/api/nothing', '/api/auth.asp', '/api/xmlgetstatus.asp'])(
    'to %s, a path of another interface, is 404 in plain text',
    async (path) => {
      const answer = await request(rest.url).get(path)
      expect([answer.status, answer.text]).toEqual([404, 'Not found'])
      expect(answer.headers['content-type']).toBe('text/plain; charset=utf-8')
    },
  )

  test('to an unknown path has the envelope too', async () => {
    const answer = await request(rest.url).get('/api/rest/v1/nothing')
    expect(answer.text).toBe(
      '{"timeStamp":"20261018100000000","version":"1.0","statusCode":404,' +
        '"errorMessage":"This path does not exist; spelling and letter case matter.","errorCode":"no-such-path"}',
    )
  })
})

test.each([
  ['text/plain; charset=utf-8', 'The content type must be application/json; got text/plain; charset=utf-8.'],
  ['x/'.padEnd(200, 'y'), `The content type must be application/json; got ${'x/'.padEnd(60, 'y')}….`],
])('415 names the received type', async (type, errorMessage) => {
  const answer = await rest.post('/sms/outgoing/send', Buffer.from('{}')).set('Content-Type', type)
  expect([answer.status, answer.body]).toMatchObject([415, { errorMessage }])
})

test('415 says so if there is no content type', async () => {
  const headers = { Authorization: rest.key }
  const answer = await fetch(`${rest.url}${send}`, { method: 'POST', headers, body: Buffer.from('{}') })
  expect([answer.status, await answer.text()]).toMatchObject([415, expect.stringContaining('json; got none."')])
})

describe('a path', () => {
  test.each([
    '/credits/balance/%2F',
    '/credits/balanc%65',
    '/__proto__',
    '/webhooks/%37',
    '/webhooks/{id}',
    '/webhooks/7//',
    '/webhooks/7/8',
    '/webhooks/7/Attempts',
    '/Webhooks/7',
  ])('%s does not exist: 404', async (path) => {
    expect((await rest.get(path)).status).toBe(404)
  })

  test('outside /api is answered with 404 and the envelope', async () => {
    const answer = await request(rest.url).get('/elsewhere')
    expect([answer.status, answer.body]).toMatchObject([404, { statusCode: 404 }])
  })
})

describe('a method', () => {
  test.each(operations)('other than %s at %s is answered with 405, which names both', async (method, path) => {
    const answer = await request(rest.url).put(`/api/rest/v1${path}`)
    expect(answer.status).toBe(405)
    expect(answer.headers['allow']).toBe(method)
    const required = method.includes(',') ? `one of the methods ${method}` : `the method ${method}`
    expect(answer.body).toMatchObject({ errorMessage: `This path requires ${required}; the request used PUT.` })
    const head = await request(rest.url).head(`/api/rest/v1${path}/`)
    expect([head.status, head.headers['allow']]).toEqual([405, method])
  })
})

describe('authorization', () => {
  const requestWith = (header: string | undefined) => {
    const ask = request(rest.url).get(balance)
    return header === undefined ? ask : ask.set('Authorization', header)
  }

  test.each(['Bearer  ', 'any '])('accepts the key after "%s"', async (before) => {
    expect((await requestWith(`${before}${rest.key}`)).status).toBe(200)
  })

  test.each([undefined, '', '   '])('%j is a missing header and answered with 401', async (header) => {
    const answer = await requestWith(header)
    expect(answer.status).toBe(401)
    expect(answer.body).toMatchObject({ errorMessage: 'The AUTHORIZATION header is missing.' })
  })

  test.each([['a word'], ['Bearer'], ['%s x'], ['a b %s'], ['%sx']])(
    '"%s" is an invalid key and answered with 401',
    async (header) => {
      const answer = await requestWith(header.replace('%s', rest.key))
      expect(answer.status).toBe(401)
      expect(answer.body).toMatchObject({ errorMessage: 'The API key is not valid.' })
    },
  )
})

describe('a body', () => {
  const status = '/sms/outgoing/status'

  test.each(['Application/JSON;charset=utf-8', 'application/json ;'])('of type %s is read', async (type) => {
    expect((await rest.post(status, '[1]').set('Content-Type', type)).status).toBe(200)
  })

  test.each(['', '[1', '[01]'])('%j is 400', async (body) => {
    const answer = await rest.post(status, body)
    expect(answer.status).toBe(400)
    expect(answer.body).toMatchObject({ errorMessage: 'The body is not valid JSON.' })
  })

  test('may begin with a byte order mark', async () => {
    expect((await rest.post(status, '\uFEFF[1]')).status).toBe(200)
  })

  test('that equals an internal result word is read like any other JSON', async () => {
    expect((await rest.post(status, 'client-gone')).status).toBe(400)
  })

  test.each(['/sms/outgoing/status', '/sms/outgoing/send', '/credits/transfer'])(
    'nested 90 000 deep is answered 422 by %s, and the next request as ever',
    async (path) => {
      expect((await rest.post(path, '['.repeat(90_000) + ']'.repeat(90_000))).status).toBe(422)
      expect((await rest.post(path, `{"message":${'['.repeat(90_000)}${']'.repeat(90_000)}}`)).status).toBe(422)
      expect((await rest.get('/credits/balance')).status).toBe(200)
    },
  )
})

describe('an internal failure', () => {
  const failing = async (thrown: Error) => {
    const broken = await startRest({
      gateway: (gateway) => ({
        ...gateway,
        queries: { ...gateway.queries, creditBalance: () => Promise.reject(thrown) },
      }),
    })
    const answer = await broken.get('/credits/balance')
    await broken.close()
    return answer
  }

  test('of the database is answered with 503 and the envelope, without details', async () => {
    const answer = await failing(new Error('connect ECONNREFUSED 10.0.0.1:5432'))
    expect(answer.status).toBe(503)
    expect(answer.body).toMatchObject({ statusCode: 503, errorMessage: 'The service is not available.' })
  })

  test('by a defect of the program is answered with 500 and the envelope', async () => {
    const answer = await failing(new TypeError('x is not a function'))
    expect(answer.status).toBe(500)
    expect(answer.body).toMatchObject({ statusCode: 500, errorMessage: 'Unknown error.' })
  })

  test('has Retry-After only if the operation just reads', async () => {
    const fail = () => Promise.reject(new Error('connect ECONNREFUSED'))
    const reading = { creditBalance: fail, queryStatus: fail, listReplies: fail }
    const changing = { sendMessages: fail, deleteScheduled: fail }
    const broken = await startRest({
      gateway: ({ queries, commands }) => ({
        queries: { ...queries, ...reading },
        commands: { ...commands, ...changing },
      }),
    })
    const sent = { message: 'x', recipients: [{ mobileNumber: '27825550101' }] }
    expect((await broken.get('/credits/balance')).headers['retry-after']).toBe('1')
    expect((await broken.get('/sms/incoming')).headers['retry-after']).toBe('1')
    expect((await broken.post('/sms/outgoing/status', [1])).headers['retry-after']).toBe('1')
    expect((await broken.post('/sms/outgoing/send', sent)).headers['retry-after']).toBeUndefined()
    expect((await broken.post('/sms/scheduled/delete', [1])).headers['retry-after']).toBeUndefined()
    await broken.close()
  })

  test('during the check of a key is not answered with 401', async () => {
    const broken = await startRest({
      gateway: (gateway) => ({
        ...gateway,
        commands: { ...gateway.commands, authenticate: () => Promise.reject(new Error('timeout')) },
      }),
    })
    const answer = await broken.post('/sms/outgoing/send', {})
    expect([answer.status, answer.headers['retry-after']]).toEqual([503, '1'])
    await broken.close()
  })

  test('too many concurrent requests lead to 503 with Retry-After before any work, until there is room again', async () => {
    const gate = admissionGate(1)
    const full = await startRest({ gate })
    const leave = gate.tryEnter()
    const refused = await full.get('/credits/balance')
    expect(refused.status).toBe(503)
    expect(refused.headers['retry-after']).toBe('1')
    leave?.()
    expect((await full.get('/credits/balance')).status).toBe(200)
    expect(gate.inFlight).toBe(0)
    await full.close()
  })

  test('a failed request frees its place', async () => {
    const gate = admissionGate(1)
    const broken = await startRest({
      gate,
      gateway: (gateway) => ({
        ...gateway,
        queries: { ...gateway.queries, creditBalance: () => Promise.reject(new Error('down')) },
      }),
    })
    await broken.get('/credits/balance')
    await broken.get('/credits/balance')
    expect(gate.inFlight).toBe(0)
    await broken.close()
  })
})

describe('hostile request lines', () => {
  const raw = (lines: string) =>
    new Promise<string>((resolve, reject) => {
      const { hostname, port } = new URL(rest.url)
      const socket = connect({ host: hostname, port: Number(port) }, () => socket.write(lines, 'latin1'))
      let text = ''
      socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')))
      socket.on('close', () => resolve(text))
      socket.on('error', reject)
    })

  test.each(['//', '*', '/\xff\xfe', '/%', '/api/rest/v1/%'])(
    'GET %s is answered with a 4xx status',
    async (target) => {
      const answer = await raw(`GET ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)
      expect(answer).toMatch(/^HTTP\/1\.1 4\d\d /)
    },
  )

  test('an absolute address leads to the same path', async () => {
    const answer = await raw(
      `GET http://x/api/rest/v1/credits/balance?a=b HTTP/1.1\r\nHost: x\r\nAuthorization: ${rest.key}\r\nConnection: close\r\n\r\n`,
    )
    expect(answer).toMatch(/^HTTP\/1\.1 200 /)
  })
})

test('neither keys nor texts are logged', async () => {
  let written = ''
  const log = createLog({ level: 'trace', name: 'rest', destination: { write: (line) => (written += line) } })
  const loud = await startRest({ log })
  await loud.post('/sms/outgoing/send', { message: 'attack at dawn', recipients: [{ mobileNumber: '27825550101' }] })
  await loud.get('/sms/incoming?offset=a-secret')
  await loud.close()
  expect(written).toContain('/api/rest/v1/sms/outgoing/send')
  for (const secret of [loud.key, 'attack', 'a-secret', '27825550101']) expect(written).not.toContain(secret)
})
