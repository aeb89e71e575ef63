import { createGateway } from '@gateway/core'
import { webhooksMax, type SealedSecret } from '@gateway/core/webhooks'
import { anAccount } from '@gateway/core/testing'
import { createLog } from '@gateway/server'
import request from 'supertest'
import { keyFor, startRest, type Rest } from '../../testing/start-rest.ts'

let rest: Rest
beforeEach(async () => {
  rest = await startRest()
})
afterEach(() => rest.close())

const url = 'https://crm.example.com/sms-events'

interface Added {
  readonly webhook: { readonly id: number; readonly events: readonly string[] }
  readonly secret: string
}
const add = async (body: object = { url }): Promise<Added> =>
  (await rest.post('/webhooks', body).expect(200)).body as Added

const refusal = async (sent: request.Test): Promise<unknown> => {
  const answer = await sent
  expect(answer.status).toBe(422)
  return (answer.body as { errorMessage: string }).errorMessage
}

test('the secret is only in the responses of adding and rotating', async () => {
  const { secret } = await add()
  const rotated = (await rest.post('/webhooks/1/rotate', {}).expect(200)).body as Added
  expect(rotated.secret).not.toBe(secret)
  const others = [
    await rest.get('/webhooks'),
    await rest.get('/webhooks/1'),
    await rest.patch('/webhooks/1', { withText: true }),
    await rest.post('/webhooks/1/test', {}),
    await rest.get('/webhooks/1/attempts'),
  ]
  for (const { status, text } of others) {
    expect(status).toBe(200)
    expect(text).not.toContain('whsec_')
    for (const each of [secret, rotated.secret]) expect(text).not.toContain(each.slice('whsec_'.length))
  }
})

test('if stored secrets were sealed with another key, adding and rotating get 503, are logged, and change nothing', async () => {
  const lines: string[] = []
  const log = createLog({ level: 'error', name: 'rest', destination: { write: (line) => void lines.push(line) } })
  const here = await startRest({ log })
  try {
    const newWebhook = { account: here.account.id, url, events: [], listSize: 1, withText: false }
    const secret = 'with another key' as SealedSecret
    await here.ports.webhooks.add({ ...newWebhook, secret }, here.clock.now())
    for (const path of ['/webhooks', '/webhooks/1/rotate']) {
      const { status, headers } = await here.post(path, { url })
      expect([status, headers['retry-after']]).toEqual([503, '1'])
    }
    expect((await here.ports.webhooks.list(undefined)).map((webhook) => webhook.secret)).toEqual([secret])
    expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([
      { msg: 'request failed', err: { message: 'sealed with no key of this box' } },
    ])
    await here.patch('/webhooks/1', { listSize: 2 }).expect(200)
  } finally {
    await here.close()
  }
})

test('after a rotation, the response shows until when the previous secret signs, as long as it does', async () => {
  await add()
  const until = async () =>
    ((await rest.get('/webhooks/1')).body as { webhook: { previousSecretUntil: unknown } }).webhook.previousSecretUntil
  expect(await until()).toBeNull()
  await rest.post('/webhooks/1/rotate', { overlapHours: 2 }).expect(200)
  expect(await until()).toBe('202610181200')
  rest.clock.step(2 * 3600)
  expect(await until()).toBeNull()
  await rest.post('/webhooks/1/rotate', { overlapHours: null }).expect(200)
  expect(await until()).toBe('202610191200')
  await rest.post('/webhooks/1/rotate', { overlapHours: 1 }).expect(200)
  expect(await until()).toBe('202610191200')
  await rest.post('/webhooks/1/rotate', { overlapHours: 0 }).expect(200)
  expect(await until()).toBeNull()
})

test('blank and null options count as omitted, and unknown fields are ignored', async () => {
  const { webhook } = await add({ url, events: null, listSize: '', withText: ' ', more: 1 })
  expect(webhook).toMatchObject({ listSize: 100, withText: false })
  expect(webhook.events).not.toContain('message.sent')
  const changes = { url: '', events: null, listSize: null, withText: null, state: ' ' }
  const changed = await rest.patch('/webhooks/1', changes).expect(200)
  expect(changed.body).toMatchObject({ webhook })
})

test.each(['rotate', 'test'])('%s needs neither a body nor a content type', async (action) => {
  await add()
  for (const type of [undefined, 'application/json', 'application/x-www-form-urlencoded']) {
    const sent = rest.post(`/webhooks/1/${action}`, '')
    await (type === undefined ? sent.unset('Content-Type') : sent.type(type)).expect(200)
  }
  await rest.post(`/webhooks/1/${action}`, '{}').type('text/plain').expect(415)
  await rest.post(`/webhooks/1/${action}`, ' ').expect(400)
})

test('a webhook is paused and resumed', async () => {
  await add()
  const change = async (state: string) => (await rest.patch('/webhooks/1', { state }).expect(200)).body as unknown
  expect(await change('paused')).toMatchObject({ webhook: { state: 'paused', pausedFor: 'by-request' } })
  expect(await change('active')).toMatchObject({ webhook: { state: 'active', pausedFor: null } })
})

describe('a refusal names the field and the expected value', () => {
  test.each<[object | string, string]>([
    ['[]', 'The body must be an object; got an array.'],
    [{}, 'url is missing.'],
    [{ url: 7 }, 'url must be a URL; got a number.'],
    [{ url: 'a\0' }, 'url must not contain U+0000 or an unpaired surrogate.'],
    [{ url: 'crm' }, 'url must be a URL; got "crm".'],
    [{ url: '' }, 'url must be a URL; got "".'],
    [{ url: 'http://crm.example.com' }, 'url must be a URL with https; got "http://crm.example.com".'],
    [{ url, events: [] }, 'events must be an array of one or more names of events; got an empty array.'],
    [
      { url, events: 'reply.received' },
      'events must be an array of one or more names of events; got "reply.received".',
    ],
    [{ url, listSize: 101 }, 'listSize must be a whole number from 1 to 100; got 101.'],
    [{ url, withText: 'yes' }, 'withText must be true or false; got "yes".'],
  ])('adding %j', async (body, message) => {
    expect(await refusal(rest.post('/webhooks', body))).toBe(message)
    expect(await rest.ports.webhooks.list(undefined)).toEqual([])
  })

  test.each<[string, object, string]>([
    ['', { state: 'disabled' }, 'state must be "active" or "paused"; got "disabled".'],
    ['', { url: 'http://x.example' }, 'url must be a URL with https; got "http://x.example".'],
    ['/rotate', { overlapHours: 169 }, 'overlapHours must be a whole number from 0 to 168; got 169.'],
    ['/replay', {}, 'The body must name one of event, from with to, and dead (true).'],
    ['/replay', { dead: false }, 'The body must name one of event, from with to, and dead (true).'],
    ['/replay', { dead: true, event: 'inbound-1' }, 'The body must name one of event, from with to, and dead (true).'],
    ['/replay', { from: '202610180900', to: '202610180900' }, 'from must be before to.'],
    ['/replay', { from: '2026', to: '202610180900' }, 'from must be a time YYYYMMDDHHmm; got "2026".'],
    ['/replay', { from: 202610180900, to: 'x' }, 'to must be a time YYYYMMDDHHmm; got "x".'],
  ])('a request to %s with %j', async (path, body, message) => {
    await add()
    const sent = path === '' ? rest.patch('/webhooks/1', body) : rest.post(`/webhooks/1${path}`, body)
    expect(await refusal(sent)).toBe(message)
  })

  test('a webhook above the maximum of an account', async () => {
    for (let count = 0; count < webhooksMax; count++) await add()
    expect(await refusal(rest.post('/webhooks', { url }))).toBe('An account has at most 10 webhooks.')
  })
})

test('a webhook of another account is answered like an unknown one and is not changed', async () => {
  const other = await anAccount(rest.ports, { login: 'other' })
  const key = await keyFor(rest.ports, other)
  await createGateway(rest.ports).commands.addWebhook(other, { url })
  const all = await rest.ports.webhooks.list(undefined)
  const rows: readonly (readonly ['get' | 'post' | 'patch' | 'delete', string, object?])[] = [
    ['get', ''],
    ['patch', '', { state: 'paused' }],
    ['patch', '', { url: 'crm' }],
    ['delete', ''],
    ['post', '/rotate', {}],
    ['post', '/test', {}],
    ['post', '/replay', { dead: true }],
    ['get', '/replay'],
    ['delete', '/replay'],
    ['get', '/attempts'],
  ]
  for (const [method, path, body] of rows) {
    const answers = await Promise.all(
      ['1', '2', '9007199254740993'].map((id) =>
        request(rest.url)[method](`/api/rest/v1/webhooks/${id}${path}`).set('Authorization', rest.key).send(body),
      ),
    )
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404])
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
  }
  expect(await rest.ports.webhooks.list(undefined)).toEqual(all)
  const own = await request(rest.url).get('/api/rest/v1/webhooks').set('Authorization', key)
  expect(own.body).toMatchObject({ webhooks: [{ id: 1 }] })
  expect((await rest.get('/webhooks')).body).toMatchObject({ webhooks: [] })
})

test('404 for a webhook comes after the checks of the key and of the body', async () => {
  const path = '/api/rest/v1/webhooks/7/test'
  const sent = (key: string) => request(rest.url).post(path).set('Authorization', key)
  expect((await request(rest.url).post(path)).status).toBe(401)
  expect((await sent('no')).status).toBe(401)
  expect((await sent(rest.key).type('text/plain').send('{}')).status).toBe(415)
  expect((await sent(rest.key).type('application/json').send('{')).status).toBe(400)
  expect((await sent(rest.key).type('application/json').send('[]')).status).toBe(422)
  expect((await sent(rest.key).type('application/json').send('{}')).status).toBe(404)
})

test('a removed webhook and its attempts do not exist any more', async () => {
  await add()
  expect((await rest.delete('/webhooks/1').expect(200)).body).toMatchObject({ removed: true })
  for (const path of ['/webhooks/1', '/webhooks/1/attempts']) expect((await rest.get(path)).status).toBe(404)
  expect((await rest.delete('/webhooks/1')).status).toBe(404)
  expect((await add()).webhook.id).toBe(2)
})

test('attempts are listed in pages, the newest first, with the responses', async () => {
  await add()
  const { webhooks } = rest.ports
  const claiming = { listsMax: 1, perWebhookMax: 5, rooms: new Map(), leaseSeconds: 60 }
  for (const answer of [
    { outcome: 'answered', status: 200, retryAfterSeconds: undefined, beginning: 'ok "\ud800', milliseconds: 3 },
    { outcome: 'failed', failure: 'timeout', milliseconds: 15_000 },
  ] as const) {
    await rest.post('/webhooks/1/test', {}).expect(200)
    rest.clock.step(1)
    const [list] = await webhooks.claim(claiming)
    if (list === undefined) throw new Error('there is nothing to push')
    const verdict = answer.outcome === 'answered' ? 'delivered' : 'failed'
    await webhooks.record([
      { list: list.id, tries: list.tries, at: rest.clock.now(), answer, verdict, next: undefined },
    ])
  }
  const page = async (query: string) => (await rest.get(`/webhooks/1/attempts${query}`)).body as { attempts: object[] }
  expect((await page('')).attempts).toMatchObject([
    {
      httpStatus: null,
      failure: 'timeout',
      answerText: '',
      milliseconds: 15_000,
      result: 'failed',
      nextTimeReason: 'test',
    },
    { httpStatus: 200, failure: null, answerText: 'ok "\ud800', result: 'delivered', nextTime: null },
  ])
  expect(await page('?offset=1&limit=1')).toMatchObject({
    resultsTotalAvailable: 2,
    attempts: [{ eventIds: ['test-1'], attempt: 1 }],
  })
  expect((await rest.get('/webhooks/1')).body).toMatchObject({ waiting: { events: 0, lists: 0, deadLists: 0 } })
})

test('a replay returns its number at once, can be shown and stopped, and only one of an account runs at a time', async () => {
  await add()
  await add()
  const path = '/webhooks/1/replay'
  const none = { statusCode: 404, errorMessage: 'There was no replay of this webhook in the last 30 days.' }
  expect((await rest.get(path)).body).toMatchObject(none)
  expect((await rest.delete(path)).body).toMatchObject(none)
  const begun = (await rest.post(path, { event: 'message-1-4' }).expect(200)).body as { replay: object }
  expect(begun.replay).toEqual({
    id: 1,
    webhookId: 1,
    state: 'running',
    event: 'message-1-4',
    from: null,
    to: null,
    dead: false,
    eventsReplayed: 0,
    eventsWaiting: 0,
    replayedUpTo: null,
    startedTime: '20261018100000000',
    endedTime: null,
  })
  for (const other of [path, '/webhooks/2/replay']) {
    expect((await rest.post(other, { dead: true })).body).toMatchObject({
      statusCode: 409,
      errorMessage: 'Replay 1 of webhook 1 is running, and an account has one replay at a time.',
    })
  }
  expect((await rest.get(path)).body).toMatchObject(begun)
  rest.clock.step(1)
  const stopped = { replay: { ...begun.replay, state: 'stopped', endedTime: '20261018100001000' } }
  expect((await rest.delete(path)).body).toMatchObject(stopped)
  expect((await rest.get(path)).body).toMatchObject(stopped)
  expect((await rest.post('/webhooks/2/replay', { dead: true })).body).toMatchObject({
    replay: { id: 2, webhookId: 2, dead: true },
  })
})
