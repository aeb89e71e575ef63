import { connect } from 'node:net'
import { until } from '@gateway/core/testing'
import { admissionGate, createLog } from '@gateway/server'
import request from 'supertest'
import { password, startAsp, type Asp } from '../testing/start-asp.ts'
import { endpoints } from './routes.ts'

let asp: Asp
beforeEach(async () => {
  asp = await startAsp()
})
afterEach(() => asp.close())

/** Sends raw bytes and returns everything received until the connection is closed. */
const raw = (bytes: string) =>
  new Promise<string>((resolve, reject) => {
    const { hostname, port } = new URL(asp.url)
    const socket = connect({ host: hostname, port: Number(port) }, () => socket.write(bytes, 'latin1'))
    let text = ''
    socket.on('data', (chunk: Buffer) => (text += chunk.toString()))
    socket.on('close', () => resolve(text))
    socket.on('error', reject)
  })
const rawGet = (target: string) => raw(`GET ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)

test.each(['head', 'options', 'put', 'delete'] as const)('%s is 405 with the methods in Allow', async (method) => {
  for (const path of endpoints.keys()) {
    const answer = await request(asp.url)[method](`/api${path}?apikey=${asp.key}`)
    expect([path, answer.status, answer.headers['allow']]).toEqual([path, 405, 'GET, POST'])
  }
})

test('every answer is plain text in UTF-8 with its length, with headers against caching and content sniffing', async () => {
  for (const answer of [await asp.get('auth.asp'), await asp.get('nothing.asp')]) {
    expect(answer.headers).toMatchObject({
      'content-type': 'text/plain; charset=utf-8',
      'content-length': `${answer.text.length}`,
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    })
    expect(answer.text).not.toMatch(/[\r\n]/)
  }
})

describe('a path', () => {
  test.each(['/api/auth.asp/', '/api/', '/api', '/', '/api/auth%2Easp', '/api/__proto__'])(
    '%s does not exist: 404 in plain text, before any other check',
    async (path) => {
      const answer = await request(asp.url).put(path)
      expect([answer.status, answer.text]).toEqual([404, 'Not found'])
    },
  )
})

describe('credentials', () => {
  const login = (query: string) => request(asp.url).get(`/api/auth.asp?${query}`)
  const pair = (user = asp.account.login, secret = password) =>
    `user=${encodeURIComponent(user)}&password=${encodeURIComponent(secret)}`

  test('a user with a password works like a key, and the user may be in any letter case', async () => {
    expect((await login(pair())).text).toBe('Login=OK')
    expect((await login(pair(asp.account.login.toUpperCase()))).text).toBe('Login=OK')
    expect((await login(pair(undefined, password.toUpperCase()))).text).toBe('Login=FAIL')
  })
})

describe('a POST', () => {
  const post = (body: string, type = 'application/x-www-form-urlencoded', query = '') =>
    request(asp.url).post(`/api/auth.asp?${query}`).set('Content-Type', type).send(body)

  test.each(['application/x-www-form-urlencoded; charset=utf-8', 'Application/X-WWW-Form-Urlencoded'])(
    'of type %s is read',
    async (type) => {
      expect((await post(`apikey=${asp.key}`, type)).text).toBe('Login=OK')
    },
  )

  test('without a content type has its body ignored', async () => {
    const url = `${asp.url}/api/auth.asp`
    const answer = await fetch(url, { method: 'POST', body: Buffer.from(`apikey=${asp.key}`) })
    expect(await answer.text()).toBe('Login=FAIL')
  })

  test('may have a form of 65536 bytes; one more byte leads to 413', async () => {
    const form = (bytes: number) => `apikey=${asp.key}&x=`.padEnd(bytes, 'x')
    expect((await post(form(65_536))).text).toBe('Login=OK')
    expect((await post(form(65_537))).status).toBe(413)
  })
})

describe('unusual bytes on the wire', () => {
  test('a form may have raw bytes of UTF-8 or Latin-1', async () => {
    for (const numbers of ['\xc3\xa9', '\xe9']) {
      const answer = await fetch(`${asp.url}/api/batchmessage.asp?apikey=${asp.key}&message=x`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
        body: Buffer.from(`numbers=${numbers}`, 'latin1'),
      })
      expect(await answer.text()).toBe('é=BADDEST&')
    }
  })

  test('a request line of 60 kB is read and answered with TOOLONG', async () => {
    const answer = await rawGet(
      `/api/batchmessage.asp?apikey=${asp.key}&numbers=27825550101&message=${'x'.repeat(60_000)}`,
    )
    expect(answer).toMatch(/\r\n\r\n27825550101=TOOLONG&$/)
  })

  test.each(['//', '/%', '/api/%', '*'])('GET %s is answered with a 4xx status', async (target) => {
    expect(await rawGet(target)).toMatch(/^HTTP\/1\.1 4\d\d /)
  })
})

describe('an internal failure', () => {
  test('of any kind is answered with 503 and never with FAIL', async () => {
    for (const thrown of [new Error('connect ECONNREFUSED'), new TypeError('x is not a function')]) {
      const broken = await startAsp({
        gateway: (gateway) => ({
          ...gateway,
          commands: { ...gateway.commands, authenticate: () => Promise.reject(thrown) },
        }),
      })
      const answer = await broken.get('credits.asp')
      expect([answer.status, answer.text]).toEqual([503, 'Error="Service unavailable"'])
      expect(answer.headers['retry-after']).toBe('1')
      await broken.close()
    }
  })

  test('has Retry-After only if the endpoint just reads', async () => {
    const fail = () => Promise.reject(new Error('connect ECONNREFUSED'))
    const reading = { creditBalance: fail, queryStatus: fail }
    const changing = { sendMessages: fail, deleteScheduled: fail, transferCredits: fail }
    const returnOnce = { takeReplies: fail, takeShortCodeMessages: fail }
    const broken = await startAsp({
      gateway: ({ queries, commands }) => ({
        queries: { ...queries, ...reading },
        commands: { ...commands, ...changing, ...returnOnce },
      }),
    })
    const after = async (endpoint: string, query = '') => (await broken.get(endpoint, query)).headers['retry-after']
    expect(await after('credits.asp')).toBe('1')
    expect(await after('requestbatch.asp', 'messageid=1')).toBe('1')
    expect(await after('batchmessage.asp', 'message=x&numbers=1')).toBeUndefined()
    expect(await after('deletescheduled.asp', 'messageid=1')).toBeUndefined()
    expect(await after('httpgetreplies.asp')).toBeUndefined()
    expect(await after('httpgetscmessages.asp')).toBeUndefined()
    expect(await after('creditstransfer.asp')).toBeUndefined()
    await broken.close()
  })

  test('too many passwords waiting to be checked lead to 503 with Retry-After', async () => {
    const full = await startAsp({
      gateway: (gateway) => ({
        ...gateway,
        commands: { ...gateway.commands, authenticate: () => Promise.resolve('overloaded') },
      }),
    })
    const answer = await full.get('auth.asp')
    expect([answer.status, answer.headers['retry-after']]).toEqual([503, '1'])
    await full.close()
  })

  test('log-ins waiting to be checked do not occupy places of other requests, and their refusals come at a limited rate', async () => {
    const gate = admissionGate(100, { placesMax: 1 })
    let refuse: (answer: 'overloaded') => void = () => undefined
    const checked = new Promise<'overloaded'>((resolve) => (refuse = resolve))
    let checks = 0
    const full = await startAsp({
      gate,
      gateway: (gateway) => ({
        ...gateway,
        commands: {
          ...gateway.commands,
          authenticate: (credentials) =>
            credentials.pair === undefined ? gateway.commands.authenticate(credentials) : (checks++, checked),
        },
      }),
    })
    const logIns = Array.from({ length: 20 }, (_, i) => fetch(`${full.url}/api/auth.asp?user=u${i}&password=p`))
    await until(() => checks === 20)
    expect((await full.get('auth.asp')).text).toBe('Login=OK')
    const begun = performance.now()
    refuse('overloaded')
    const answers = await Promise.all(logIns)
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(503))
    // The other 19 refusals follow the first one at intervals of 5 ms. A timer of Node may fire 1 ms early, so each
    // interval takes at least 4 ms.
    expect(performance.now() - begun).toBeGreaterThanOrEqual(76)
    await full.close()
  })

  test('too many concurrent requests lead to 503 with Retry-After, and places are freed again', async () => {
    const gate = admissionGate(1)
    const full = await startAsp({ gate })
    const leave = gate.tryEnter()
    const refused = await full.get('auth.asp')
    expect([refused.status, refused.headers['retry-after']]).toEqual([503, '1'])
    leave?.()
    expect((await full.get('auth.asp')).text).toBe('Login=OK')
    expect(gate.inFlight).toBe(0)
    await full.close()
  })
})

test('neither credentials nor texts are logged', async () => {
  let written = ''
  const log = createLog({ level: 'trace', name: 'asp', destination: { write: (line) => (written += line) } })
  const loud = await startAsp({ log })
  await loud.get('batchmessage.asp', 'message=attack&numbers=27825550101&user=u&password=hunter2')
  await loud.close()
  expect(written).toContain('/api/batchmessage.asp')
  for (const secret of [loud.key, 'hunter2', 'attack', '27825550101']) expect(written).not.toContain(secret)
})
