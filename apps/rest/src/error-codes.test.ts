import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Gateway } from '@gateway/core'
import { steppingClock, until } from '@gateway/core/testing'
import { admissionGate, createLog, listen, type Running } from '@gateway/server'
import { rawClient } from '../../../packages/server/testing/raw-client.ts'
import { type Rest, startRest } from '../testing/start-rest.ts'
import { ERROR_CODES, type ErrorCode, errorCodes, statusOf } from './error-codes.ts'
import { createRestServer } from './index.ts'
import { describeMalformed } from './routes.ts'

const send = '/sms/outgoing/send'
const recipients = [{ mobileNumber: '27825550101' }]
const hello = { message: 'hello', recipients }
const many = (count: number) => Array.from({ length: count }, () => ({ mobileNumber: '1' }))

type Answered = { readonly status: number; readonly body: unknown }
type Ask = (rest: Rest) => PromiseLike<Answered>

const without = (path: string, headers: Readonly<Record<string, string>> = {}): Ask => {
  return async ({ url }) => {
    const answer = await fetch(`${url}/api/rest/v1${path}`, { headers })
    return { status: answer.status, body: await answer.json() }
  }
}

const post = (path: string, body: unknown, headers: Readonly<Record<string, string>> = {}): Ask => {
  return (rest) => rest.post(path, body).set(headers)
}

/** Requests a balance from a gateway whose `creditBalance` calls `work`, which rejects. */
const failing = (work: () => Promise<never>): Ask => {
  return async () => {
    const rest = await startRest({
      gateway: (gateway): Gateway => ({ ...gateway, queries: { ...gateway.queries, creditBalance: work } }),
    })
    const answer = await rest.get('/credits/balance')
    await rest.close()
    return answer
  }
}

/** Sends a request to a gateway that returns this result for a key. */
const authenticating = (answered: Awaited<ReturnType<Gateway['commands']['authenticate']>>): Ask => {
  return async () => {
    const authenticate = () => Promise.resolve(answered)
    const rest = await startRest({ gateway: (own) => ({ ...own, commands: { ...own.commands, authenticate } }) })
    const answer = await rest.get('/credits/balance')
    await rest.close()
    return answer
  }
}

const log = createLog({ level: 'silent', name: 'test' })
const clock = steppingClock()
let http: Running
const raw = (bytes: string): Ask => {
  return async () => {
    const client = rawClient(http.port, bytes)
    await until(client.closed)
    const [, status, body = ''] = /^HTTP\/1\.1 (\d+) [^]*?\r\n\r\n(.*)$/.exec(client.received()) ?? []
    return { status: Number(status), body: JSON.parse(body) as unknown }
  }
}
const head = (rest: string) => `GET /api/rest/v1/credits/balance HTTP/1.1\r\n${rest}\r\n`

/** One request for each code, which leads to that code. */
const requests = {
  'no-such-path': without('/sms/outgoing/Send'),
  'no-such-webhook': (rest) => rest.get('/webhooks/7'),
  'no-such-replay': async (rest) => {
    await rest.post('/webhooks', { url: 'https://crm.example.com/' }).expect(200)
    return rest.get('/webhooks/1/replay')
  },
  'wrong-method': (rest) => rest.delete('/credits/balance'),
  'missing-key': without('/credits/balance'),
  'invalid-key': without('/credits/balance', { Authorization: 'Bearer gw_wrong' }),
  'body-too-large': post(send, ' '.repeat(204_801)),
  'wrong-content-type': (rest) => rest.post(send, 'a=b').type('application/x-www-form-urlencoded'),
  'encoded-body': post(send, '{}', { 'Content-Encoding': 'gzip' }),
  'not-json': post(send, '{'),
  'wrong-body': post(send, '[]'),
  'field-missing': post(send, { recipients }),
  'field-invalid': post(send, { ...hello, maxSegments: 7 }),
  'unusable-text': post(send, { ...hello, message: 'a\0' }),
  'blank-message': post(send, { ...hello, message: ' ' }),
  'invalid-time': post(send, { ...hello, scheduledTime: '202602301200' }),
  'invalid-sender': post(send, { ...hello, sender: 'Somebody' }),
  'too-many-recipients': post('/sms/outgoing/sendmulti', {
    messages: [
      { message: 'a', recipients: many(1000) },
      { message: 'b', recipients },
    ],
  }),
  'invalid-message-id': post('/sms/outgoing/status', '[1e3]'),
  'no-message-ids': post('/sms/outgoing/status', '[]'),
  'too-many-message-ids': post('/sms/outgoing/status', `[${Array(1001).fill(1).join()}]`),
  'invalid-parameter': (rest) => rest.get('/sms/incoming?limit=0'),
  'invalid-idempotency-key': post(send, hello, { 'Idempotency-Key': 'x'.repeat(256) }),
  'idempotency-key-reused': async (rest) => {
    await rest.post(send, hello).set('Idempotency-Key', 'one')
    return rest.post(send, { ...hello, message: 'another' }).set('Idempotency-Key', 'one')
  },
  'invalid-url': post('/webhooks', { url: 'http://crm.example.com/' }),
  'too-many-webhooks': async (rest) => {
    for (let i = 0; i < 10; i++) await rest.post('/webhooks', { url: `https://crm.example.com/${i}` }).expect(200)
    return rest.post('/webhooks', { url: 'https://crm.example.com/10' })
  },
  'replay-running': async (rest) => {
    await rest.post('/webhooks', { url: 'https://crm.example.com/' }).expect(200)
    await rest.post('/webhooks/1/replay', { dead: true }).expect(200)
    return rest.post('/webhooks/1/replay', { dead: true })
  },
  'too-many-requests': authenticating({ overLimitSeconds: 1 }),
  'internal-error': failing(() => Promise.reject(new TypeError('a defect'))),
  busy: authenticating('overloaded'),
  unavailable: failing(() => Promise.reject(new Error('no database'))),
  'malformed-request': raw(head('')),
  'request-timeout': () => Promise.resolve(malformed(408)),
  'chunk-extensions-too-long': () => Promise.resolve(malformed(413)),
  'expectation-failed': raw(head('Host: x\r\nConnection: close\r\nExpect: x\r\n')),
  'headers-too-large': raw(head(`Host: x\r\nX: ${'x'.repeat(70_000)}\r\n`)),
} satisfies Record<ErrorCode, Ask>

/**
 * Describes a malformed request directly, for codes whose request would take a client a minute or require an attack.
 */
function malformed(status: number): Answered {
  const answer = describeMalformed(clock)({
    status,
    reason: 'It was refused.',
    method: 'GET',
    path: '/api/rest/v1/credits/balance',
  })
  return { status: answer.status, body: JSON.parse(answer.body) as unknown }
}

let rest: Rest
beforeEach(async () => {
  rest = await startRest()
})
beforeAll(async () => {
  http = await listen({
    app: createRestServer({} as Gateway, { clock, gate: admissionGate(1), log }),
    host: '127.0.0.1',
    port: 0,
    log,
    describeMalformed: describeMalformed(clock),
  })
})
afterEach(() => rest.close())
afterAll(() => http.close())

test.each(errorCodes)('%s is answered with its status, next to the message', async (code) => {
  const ask: Ask = requests[code]
  const { status, body } = await ask(rest)
  expect(body).toMatchObject({ statusCode: status, errorCode: code })
  expect(Object.keys(body as object)).toEqual(['timeStamp', 'version', 'statusCode', 'errorMessage', 'errorCode'])
  expect(status).toBe(statusOf(code))
})

test('the page of the interface lists every code with its status, cause and remedy, in the same order', async () => {
  const page = await readFile(join(import.meta.dirname, '../../../docs/interfaces/rest.md'), 'utf8')
  const [, section = ''] = page.split('\n### Error codes\n')
  const rows = [...(section.split('\n### ')[0]?.matchAll(/^\| `([a-z-]+)` *\| (\d+) *\| (.*?) *\| (.*?) *\|$/gm) ?? [])]
  const written = rows.map(([, code, status, cause, remedy]) => ({ code, status: Number(status), cause, remedy }))
  expect(written).toEqual(Object.entries(ERROR_CODES).map(([code, entry]) => ({ code, ...entry })))
})
