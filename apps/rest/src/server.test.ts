import { connect } from 'node:net'
import { gzipSync } from 'node:zlib'
import { createBackOffice } from '@gateway/core'
import { instant } from '@gateway/core/time'
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
const bytes = (count: number): string => `[${' '.repeat(count - 3)}1]`

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
  test('has the envelope in the ruled order: stamp of 17 digits in gateway time, version, status', async () => {
    const answer = await rest.get('/credits/balance')
    expect(answer.text).toBe('{"timeStamp":"20261018100000000","version":"1.0","statusCode":200,"creditBalance":100.0}')
  })

  test('is JSON in UTF-8, with its length, and is not to be stored or guessed at', async () => {
    const { headers, text } = await rest.get('/credits/balance')
    expect(headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'content-length': `${text.length}`,
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    })
  })

  test('of an unknown path has the envelope too', async () => {
    const answer = await request(rest.url).get('/api/rest/v1/nothing')
    expect(answer.text).toBe(
      '{"timeStamp":"20261018100000000","version":"1.0","statusCode":404,' +
        '"errorMessage":"This path does not exist; spelling and letter case matter.","errorCode":"no-such-path"}',
    )
  })
})

describe('the first of several errors is answered', () => {
  const huge = bytes(204_801)
  const rows: readonly [string, number, () => request.Test][] = [
    ['404 before 405, 401, 413 and 415', 404, () => request(rest.url).put('/api/rest/v1/sms').type('text').send(huge)],
    ['405 before 401, 413 and 415', 405, () => request(rest.url).put(send).type('text').send(huge)],
    ['401 (no key) before 413 and 415', 401, () => request(rest.url).post(send).type('text').send(huge)],
    ['401 (wrong key) before 413', 401, () => rest.post('/sms/outgoing/send', huge).set('Authorization', 'no')],
    ['413 before 415', 413, () => rest.post('/sms/outgoing/send', huge).type('text/plain')],
    ['415 before 400', 415, () => rest.post('/sms/outgoing/send', '{').type('text/plain')],
    ['400 before 422', 400, () => rest.post('/sms/outgoing/send', '{"recipients":[],}')],
    ['422 last', 422, () => rest.post('/sms/outgoing/send', '{"recipients":[]}')],
  ]
  test.each(rows)('%s', async (_title, status, ask) => {
    const answer = await ask()
    expect(answer.status).toBe(status)
    expect(answer.body).toMatchObject({ version: '1.0', statusCode: status })
    expect(answer.text).toMatch(/"errorMessage":"[A-Za-z]/)
  })
})

test.each([
  ['text/plain; charset=utf-8', 'The content type must be application/json; got text/plain; charset=utf-8.'],
  ['x/'.padEnd(200, 'y'), `The content type must be application/json; got ${'x/'.padEnd(60, 'y')}….`],
])('415 names the type that came', async (type, errorMessage) => {
  const answer = await rest.post('/sms/outgoing/send', Buffer.from('{}')).set('Content-Type', type)
  expect([answer.status, answer.body]).toMatchObject([415, { errorMessage }])
})

test('415 says so if no type came', async () => {
  const headers = { Authorization: rest.key }
  const answer = await fetch(`${rest.url}${send}`, { method: 'POST', headers, body: Buffer.from('{}') })
  expect([answer.status, await answer.text()]).toMatchObject([415, expect.stringContaining('json; got none."')])
})

describe('a path', () => {
  test.each(operations)('%s %s exists', async (method, path) => {
    const answer = await (method.startsWith('GET') ? rest.get(path) : rest.post(path, '"x"'))
    const isThere = !['/7', '/7/attempts', '/7/replay'].some((end) => path.endsWith(end))
    expect(isThere ? [200, 422] : [404]).toContain(answer.status)
    if (!isThere) expect(answer.body).toMatchObject({ errorMessage: 'There is no webhook with this id.' })
  })

  test.each([
    '/Credits/balance',
    '/credits/balance//',
    '/credits/balance/%2F',
    '/credits//balance',
    '/credits/balanc%65',
    '',
    '/',
    '/__proto__',
    '/webhooks/0',
    '/webhooks/07',
    '/webhooks/x',
    '/webhooks/%37',
    '/webhooks/{id}',
    '/webhooks/7//',
    '/webhooks/7/8',
    '/webhooks/7/Attempts',
    '/Webhooks/7',
  ])('%s does not exist: 404', async (path) => {
    expect((await rest.get(path)).status).toBe(404)
  })

  test('one slash at the end is ignored', async () => {
    expect((await rest.get('/credits/balance/')).status).toBe(200)
    const sent = await rest.post('/sms/outgoing/send/', { message: 'x', recipients: [{ mobileNumber: '27825550101' }] })
    expect(sent.body).toMatchObject({ recipients: [{ accepted: true }] })
    expect((await rest.get('/sms/outgoing/send/')).status).toBe(405)
  })

  test('of another interface, or beside all of them, is 404 with the envelope', async () => {
    const answer = await request(rest.url).get('/api/auth.asp')
    expect(answer.status).toBe(404)
    expect(answer.body).toMatchObject({ statusCode: 404 })
  })
})

describe('a method', () => {
  test.each(operations)('other than %s at %s is 405 and names both', async (method, path) => {
    const answer = await request(rest.url).put(`/api/rest/v1${path}`)
    expect(answer.status).toBe(405)
    expect(answer.headers['allow']).toBe(method)
    const required = method.includes(',') ? `one of the methods ${method}` : `the method ${method}`
    expect(answer.body).toMatchObject({ errorMessage: `This path requires ${required}; the request used PUT.` })
    const head = await request(rest.url).head(`/api/rest/v1${path}/`)
    expect([head.status, head.headers['allow']]).toEqual([405, method])
  })

  test('HEAD is 405 and does not run the GET', async () => {
    const answer = await request(rest.url).head(balance).set('Authorization', rest.key)
    expect(answer.status).toBe(405)
  })

  test('OPTIONS is 405, and names itself', async () => {
    const answer = await request(rest.url).options(balance)
    expect(answer.status).toBe(405)
    expect(answer.body).toMatchObject({
      errorMessage: 'This path requires the method GET; the request used OPTIONS.',
    })
  })
})

describe('authorization', () => {
  const asked = (header: string | undefined) => {
    const ask = request(rest.url).get(balance)
    return header === undefined ? ask : ask.set('Authorization', header)
  }

  test.each(['', 'Bearer ', 'Token ', 'Bearer  ', 'any '])('takes the key after "%s"', async (before) => {
    expect((await asked(`${before}${rest.key}`)).status).toBe(200)
  })

  test.each([undefined, '', '   '])('%j is a missing header: 401', async (header) => {
    const answer = await asked(header)
    expect(answer.status).toBe(401)
    expect(answer.body).toMatchObject({ errorMessage: 'The AUTHORIZATION header is missing.' })
  })

  test.each([['a word'], ['Bearer'], ['%s x'], ['a b %s'], ['%sx']])('"%s" is no valid key: 401', async (header) => {
    const answer = await asked(header.replace('%s', rest.key))
    expect(answer.status).toBe(401)
    expect(answer.body).toMatchObject({ errorMessage: 'The API key is not valid.' })
  })

  test('a revoked key and an expired one are answered as one that never was', async () => {
    const backOffice = createBackOffice(rest.ports)
    const expires = instant(rest.clock.now() + 1000)
    const [revoked, expired] = [
      await backOffice.issueApiKey(rest.account.id),
      await backOffice.issueApiKey(rest.account.id, { expires }),
    ]
    if (typeof revoked === 'string' || typeof expired === 'string') throw new Error('no key')
    await backOffice.revokeApiKey(revoked.id)
    rest.clock.step(1)
    const answers = [await asked(revoked.key), await asked(expired.key), await asked('never')]
    expect(answers[0]?.status).toBe(401)
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
  })

  test('a locked account reads on', async () => {
    await createBackOffice(rest.ports).lockAccount(rest.account.id)
    expect((await asked(rest.key)).status).toBe(200)
  })
})

describe('a body', () => {
  const status = '/sms/outgoing/status'

  test('of exactly 204800 bytes passes', async () => {
    expect((await rest.post(status, bytes(204_800))).status).toBe(200)
  })

  test('of 204801 bytes is 413', async () => {
    expect((await rest.post(status, bytes(204_801))).status).toBe(413)
  })

  test('of 204801 bytes in chunks is 413', async () => {
    // The types of browsers do not know it.
    const streamed = { body: new Blob([bytes(204_801)]).stream(), duplex: 'half' } as RequestInit
    const answer = await fetch(`${rest.url}/api/rest/v1${status}`, {
      method: 'POST',
      headers: { Authorization: rest.key, 'Content-Type': 'application/json' },
      ...streamed,
    })
    expect(answer.status).toBe(413)
  })

  test.each([
    'application/json',
    'application/json; charset=utf-8',
    'Application/JSON;charset=utf-8',
    'application/json ;',
  ])('of type %s is read', async (type) => {
    expect((await rest.post(status, '[1]').set('Content-Type', type)).status).toBe(200)
  })

  test.each(['text/plain', 'application/jsonp', 'application/x-www-form-urlencoded', 'text/json'])(
    'of type "%s" is 415',
    async (type) => {
      expect((await rest.post(status, '[1]').set('Content-Type', type)).status).toBe(415)
    },
  )

  test('without a type is 415', async () => {
    const headers = { Authorization: rest.key }
    const url = `${rest.url}/api/rest/v1${status}`
    expect((await fetch(url, { method: 'POST', headers, body: Buffer.from('[1]') })).status).toBe(415)
  })

  test('with Content-Encoding is 415, whatever it holds', async () => {
    const answer = await fetch(`${rest.url}/api/rest/v1${status}`, {
      method: 'POST',
      headers: { Authorization: rest.key, 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' },
      body: gzipSync('[1]'),
    })
    expect(answer.status).toBe(415)
  })

  test.each(['', '{', '[1', '[1,]', "['1']", '[01]', 'NaN', '[1] x'])('%j is 400', async (body) => {
    const answer = await rest.post(status, body)
    expect(answer.status).toBe(400)
    expect(answer.body).toMatchObject({ errorMessage: 'The body is not valid JSON.' })
  })

  test('that is not UTF-8 is 400', async () => {
    const answer = await fetch(`${rest.url}/api/rest/v1/sms/outgoing/send`, {
      method: 'POST',
      headers: { Authorization: rest.key, 'Content-Type': 'application/json' },
      body: Buffer.from('{"message":"caf\xe9","recipients":[{"mobileNumber":"27825550101"}]}', 'latin1'),
    })
    expect(answer.status).toBe(400)
  })

  test('may begin with a byte order mark', async () => {
    expect((await rest.post(status, '\uFEFF[1]')).status).toBe(200)
  })

  test('that equals a word of ours is JSON like any other', async () => {
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

  test('of a GET is ignored, as is its type', async () => {
    const answer = await rest.get('/credits/balance').type('application/json')
    expect(answer.status).toBe(200)
  })
})

describe('our own trouble', () => {
  const failing = async (thrown: Error) => {
    const broken = await startRest({
      gateway: (gateway) => ({ ...gateway, creditBalance: () => Promise.reject(thrown) }),
    })
    const answer = await broken.get('/credits/balance')
    await broken.close()
    return answer
  }

  test('with the database is 503 with the envelope, and tells nothing of it', async () => {
    const answer = await failing(new Error('connect ECONNREFUSED 10.0.0.1:5432'))
    expect(answer.status).toBe(503)
    expect(answer.body).toMatchObject({ statusCode: 503, errorMessage: 'The service is not available.' })
  })

  test('by a mistake in our program is 500 with the envelope', async () => {
    const answer = await failing(new TypeError('x is not a function'))
    expect(answer.status).toBe(500)
    expect(answer.body).toMatchObject({ statusCode: 500, errorMessage: 'Unknown error.' })
  })

  test('has Retry-After where nothing but reading was begun, and only there', async () => {
    const fail = () => Promise.reject(new Error('connect ECONNREFUSED'))
    const failing = {
      creditBalance: fail,
      queryStatus: fail,
      listReplies: fail,
      sendMessages: fail,
      deleteScheduled: fail,
    }
    const broken = await startRest({ gateway: (gateway) => ({ ...gateway, ...failing }) })
    const sent = { message: 'x', recipients: [{ mobileNumber: '27825550101' }] }
    expect((await broken.get('/credits/balance')).headers['retry-after']).toBe('1')
    expect((await broken.get('/sms/incoming')).headers['retry-after']).toBe('1')
    expect((await broken.post('/sms/outgoing/status', [1])).headers['retry-after']).toBe('1')
    expect((await broken.post('/sms/outgoing/send', sent)).headers['retry-after']).toBeUndefined()
    expect((await broken.post('/sms/scheduled/delete', [1])).headers['retry-after']).toBeUndefined()
    await broken.close()
  })

  test('while a key is checked is not 401', async () => {
    const broken = await startRest({
      gateway: (gateway) => ({ ...gateway, authenticate: () => Promise.reject(new Error('timeout')) }),
    })
    const answer = await broken.post('/sms/outgoing/send', {})
    expect([answer.status, answer.headers['retry-after']]).toEqual([503, '1'])
    await broken.close()
  })

  test('too many requests at a time: 503 with Retry-After before any work, and none when there is room again', async () => {
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

  test('a request that fails gives back its place', async () => {
    const gate = admissionGate(1)
    const broken = await startRest({
      gate,
      gateway: (gateway) => ({ ...gateway, creditBalance: () => Promise.reject(new Error('down')) }),
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

  test.each(['//', '*', '/\xff\xfe', '/%', '/api/rest/v1/%'])('GET %s is a 4xx', async (target) => {
    const answer = await raw(`GET ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)
    expect(answer).toMatch(/^HTTP\/1\.1 4\d\d /)
  })

  test('an absolute address leads to the same path', async () => {
    const answer = await raw(
      `GET http://x/api/rest/v1/credits/balance?a=b HTTP/1.1\r\nHost: x\r\nAuthorization: ${rest.key}\r\nConnection: close\r\n\r\n`,
    )
    expect(answer).toMatch(/^HTTP\/1\.1 200 /)
  })
})

test('no key and no text reaches a log line', async () => {
  let written = ''
  const log = createLog({ level: 'trace', name: 'rest', destination: { write: (line) => (written += line) } })
  const loud = await startRest({ log })
  await loud.post('/sms/outgoing/send', { message: 'attack at dawn', recipients: [{ mobileNumber: '27825550101' }] })
  await loud.get('/sms/incoming?offset=a-secret')
  await loud.close()
  expect(written).toContain('/api/rest/v1/sms/outgoing/send')
  for (const secret of [loud.key, 'attack', 'a-secret', '27825550101']) expect(written).not.toContain(secret)
})
