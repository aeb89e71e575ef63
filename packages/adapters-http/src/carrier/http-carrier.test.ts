import { gzipSync } from 'node:zlib'
import { carrierContract } from '@gateway/core/contracts'
import type { Carrier, SubmissionAnswer } from '@gateway/core/dispatch'
import type { ObservedTraffic } from '@gateway/core/fleet'
import { aBody, aCarrierId, aMessageId, anAddress, aNumber, until } from '@gateway/core/testing'
import { accepts, acceptsAfter, aProvider, type Answer, type TestProvider } from '../../testing/a-provider.ts'
import { httpSettingsOf, type HttpFields } from '../read-settings.ts'
import { httpCarrier } from './http-carrier.ts'
import { tryMessage } from './try-message.ts'

const carriers: Carrier[] = []
const providers: TestProvider[] = []
afterEach(async () => {
  await Promise.all(carriers.splice(0).map((carrier) => carrier.close(Promise.resolve())))
  for (const provider of providers.splice(0)) provider.close()
})

const secrets = { id: ['hidden-id'], token: ['hidden-token'] }
/** Provider like BulkSMS, but without its guarantee that a repeated request is delivered only once. */
const once = {
  send: { url: '/send', basic: ['{secret.id}', '{secret.token}'], json: { to: '{to}', body: '{text}', id: '{ownId}' } },
  answer: {
    id: '/0/id',
    error: '/type',
    rules: [
      { status: '2xx', is: 'accepted' },
      { status: 429, is: 'throttled' },
      { status: [401, 403], is: 'broken' },
      { status: 400, is: 'refused' },
    ],
  },
}

interface Started {
  readonly carrier: Carrier
  readonly provider: TestProvider
  readonly answers: SubmissionAnswer[]
  readonly problems: string[]
  readonly submit: (count: number) => Promise<readonly SubmissionAnswer['outcome'][]>
}

async function start(answer: Answer = accepts, fields: Partial<HttpFields> = {}): Promise<Started> {
  const provider = await aProvider(answer)
  providers.push(provider)
  const problems: string[] = []
  const settings = await httpSettingsOf({ provider: once, secrets, baseUrl: provider.origin, ...fields }, [])
  const carrier = httpCarrier('main', settings, { report: (problem) => problems.push(String(problem)) })
  carriers.push(carrier)
  carrier.listen({ receipts: () => Promise.resolve([]), inboundMessages: () => Promise.resolve() })
  const answers: SubmissionAnswer[] = []
  let last = 0
  const submit = async (count: number) => {
    const before = answers.length
    const common = { from: anAddress(), to: aNumber('27825550101'), body: aBody('Your code is 4711') }
    carrier.submit(
      Array.from({ length: count }, () => ({ id: aMessageId(++last), ...common })),
      (some) => answers.push(...some),
    )
    await until(() => answers.length === before + count)
    return answers.slice(before).map(({ outcome }) => outcome)
  }
  return { carrier, provider, answers, problems, submit }
}

for (const [promise, check] of Object.entries(carrierContract)) {
  // Receipts of this carrier arrive as callbacks.
  if (promise.includes('receipt')) continue
  test(`a carrier over HTTP: ${promise}`, async () => {
    const provider = await aProvider()
    providers.push(provider)
    const settings = await httpSettingsOf({ provider: once, secrets, baseUrl: provider.origin }, [])
    await check(httpCarrier('main', settings, { report: () => undefined }))
  })
}

test('a message is one request, and its id is that of the answer', async () => {
  const { provider, answers, submit } = await start()
  expect(await submit(1)).toEqual(['accepted'])
  expect(answers).toEqual([{ id: 1, outcome: 'accepted', reference: 'r1' }])
  const [request] = provider.requests
  const credentials = Buffer.from('hidden-id:hidden-token').toString('base64')
  expect([request?.url, request?.headers.authorization]).toEqual(['/send', `Basic ${credentials}`])
  expect(JSON.parse(request?.body ?? '')).toEqual({
    ...{ to: '27825550101', body: 'Your code is 4711', id: expect.stringMatching(/^1-[a-z2-7]{6}$/) as string },
  })
}) // prettier-ignore

test.each<readonly [string, Answer, SubmissionAnswer['outcome']]>([
  ['gzip', (response) => response.writeHead(201, { 'content-encoding': 'gzip' }).end(gzipSync('[{"id":"x"}]')), 'accepted'],
  ['chunks', (response) => {
    response.writeHead(201).write('[{"id":')
    setImmediate(() => response.end('"x"}]'))
  }, 'accepted'],
  ['a refusal', (response) => response.writeHead(400).end('{"type":"bad-number"}'), 'refused'],
  ['an error of the server', (response) => response.writeHead(503).end(), 'unknown'],
  ['a page of a proxy with status 200', (response) => response.writeHead(200).end('<html>Welcome</html>'), 'unknown'],
  ['nothing, after it has read the request', () => undefined, 'unknown'],
  ['a reset after it has read the request', (_, { socket }) => socket.resetAndDestroy(), 'unknown'],
  ['a part of an answer', (response) => response.writeHead(201, { 'content-length': 99 }).write('[{"id"', () => response.destroy()), 'unknown'],
  ['a client error that the description does not explain', (response) => response.writeHead(413).end(), 'refused-for-now'],
  ['a redirect', (response) => response.writeHead(308, { location: 'https://elsewhere.example/' }).end(), 'refused-for-now'],
])('a provider that answers with %s: the message is sent once', async (_, answer, outcome) => {
  const { provider, submit } = await start(answer, { responseSeconds: 1 })
  expect(await submit(1)).toEqual([outcome])
  expect(provider.requests).toHaveLength(1)
}) // prettier-ignore

test('a slow answer within the time limit is accepted, and the carrier then counts as slow', async () => {
  const { carrier, submit } = await start(acceptsAfter(400), { responseSeconds: 1 })
  expect(await submit(1)).toEqual(['accepted'])
  expect([carrier.availability(), (carrier.responseTime()?.sum ?? 0) >= 0.4]).toEqual(['throttled', true])
})

test('a connection that the provider resets between two messages loses none of them', async () => {
  const { provider, submit } = await start(accepts, { window: 1 })
  for (let round = 1; round <= 5; round++) {
    expect(await submit(1)).toEqual(['accepted'])
    const { socket } = provider.requests.at(-1) ?? {}
    const isClosed = new Promise((resolve) => socket?.on('close', resolve))
    socket?.resetAndDestroy()
    await isClosed
    await new Promise(setImmediate)
  }
  expect(provider.requests).toHaveLength(5)
})

test('a provider that cannot be reached gets nothing, so that another carrier can get the message, and the circuit opens', async () => {
  const { carrier, provider, submit } = await start()
  provider.close()
  expect(await submit(1)).toEqual(['refused-for-now'])
  expect(carrier.status()?.lastError).toContain('ECONNREFUSED')
  expect(await submit(15)).toEqual(Array(15).fill('refused-for-now'))
  expect(carrier.availability()).toBe('down')
})

test('a throttled message is sent again, and not before the provider has asked for it', async () => {
  const times: number[] = []
  const { submit } = await start((response, request, nth) => {
    times.push(performance.now())
    if (nth > 1) accepts(response, request, nth)
    else response.writeHead(429, { 'retry-after': '1' }).end()
  })
  expect(await submit(1)).toEqual(['accepted'])
  expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThanOrEqual(1000)
})

test('a broken account opens the circuit with the reason of the provider, and the message stays queued', async () => {
  const { carrier, problems, submit } = await start((response) => response.writeHead(403).end('{"type":"no-credit"}'))
  expect(await submit(1)).toEqual(['refused-for-now'])
  expect([carrier.availability(), carrier.status()?.circuit]).toEqual([
    'down',
    expect.objectContaining({ state: 'open', reason: 'account-broken', detail: 'no-credit' }),
  ])
  expect(problems.join()).toContain('(no-credit)')
  expect(problems.join()).not.toContain('hidden')
})

const bulksms = { provider: 'bulksms', responseSeconds: 1 }

test('where the provider recognizes a repetition, an unknown outcome is repeated with the same bytes', async () => {
  const { provider, answers, submit } = await start((response, request, nth) => {
    if (nth === 1) request.socket.resetAndDestroy()
    else if (nth === 2) response.writeHead(502).end()
    else if (nth === 3) response.writeHead(429).end()
    else accepts(response, request, nth)
  }, bulksms)
  expect(await submit(1)).toEqual(['accepted'])
  expect(answers[0]).toMatchObject({ reference: 'r4' })
  const [first, ...others] = provider.requests.map(({ url, body }) => `${url} ${body}`)
  expect(others).toEqual([first, first, first])
  expect(first).toMatch(/deduplication-id=1&/)
})

const parts = { ...once, answer: { ...once.answer, each: '', id: '/id' } }

test('a message of which the provider has accepted some parts is partly sent', async () => {
  const body = JSON.stringify([{ id: 'p1' }, { id: 'p2' }, { is: 'refused' }])
  const answer = { ...parts.answer, rules: [{ at: '/is', is: 'refused' }, ...parts.answer.rules] }
  const { answers, submit } = await start((response) => response.writeHead(201).end(body), {
    provider: { ...parts, answer },
  })
  expect(await submit(1)).toEqual(['partly'])
  expect(answers).toEqual([{ id: 1, outcome: 'partly', reference: 'p1', furtherReferences: ['p2'] }])
})

test('observers see requests and answers without secrets, and texts only if they asked for them', async () => {
  const echo: Answer = (response, { body, headers }) => {
    const { body: text } = JSON.parse(body) as { body: string }
    response.writeHead(201).end(JSON.stringify([{ id: 'r1', text, password: 'hidden-token', was: headers.authorization }]))
  }
  const { carrier, submit } = await start(echo)
  const [all, some, other]: [ObservedTraffic[], ObservedTraffic[], ObservedTraffic[]] = [[], [], []]
  carrier.observe([
    { number: undefined, hasText: true, saw: (traffic) => all.push(traffic) },
    { number: '27825550101', hasText: false, saw: (traffic) => some.push(traffic) },
    { number: '27825550102', hasText: false, saw: (traffic) => other.push(traffic) },
  ])
  await submit(1)
  expect([all.length, some.length, other.length]).toEqual([2, 2, 0])
  expect(all.map(({ direction, fields }) => [direction, fields['command'], fields['sequence']])).toEqual([
    ['sent', 'POST', 1],
    ['received', 'HTTP 201', 1],
  ])
  expect(JSON.stringify(all)).toContain('4711')
  expect(JSON.stringify(some)).not.toContain('4711')
  expect(JSON.stringify(some)).toContain('(17 characters)')
  const credentials = Buffer.from('hidden-id:hidden-token').toString('base64')
  for (const secret of ['hidden-id', 'hidden-token', credentials]) expect(JSON.stringify(all)).not.toContain(secret)
}) // prettier-ignore

test('the URL of callbacks is sent, and shown without its secret path', async () => {
  const path = '0123456789abcdef0123456789abcdef'
  const provider = {
    ...once,
    send: { ...once.send, json: { ...once.send.json, url: '{callback}' } },
    callbacks: { signature: { algorithm: 'path' } },
  }
  const fields = { provider, secrets: { ...secrets, path: [path] }, publicUrl: 'https://gw.example' }
  const { carrier, provider: server, problems, submit } = await start(accepts, fields)
  const seen: ObservedTraffic[] = []
  carrier.observe([{ number: undefined, hasText: true, saw: (traffic) => seen.push(traffic) }])
  await submit(1)
  expect(server.requests[0]?.body).toContain(`"https://gw.example/carriers/main/${path}"`)
  expect(JSON.stringify(seen)).not.toContain(path)
  expect(problems).toEqual([])
})

test('a carrier whose callbacks could not be verified asks for none, and says so', async () => {
  const { provider, problems, submit } = await start(accepts, { ...bulksms, publicUrl: 'https://gw.example' })
  await submit(1)
  expect(provider.requests[0]?.body).not.toContain('gw.example')
  expect(problems).toEqual([expect.stringContaining('no receipts or replies will arrive')])
})

test('closing at once answers sent messages as unknown, and others as refused for now', async () => {
  const { carrier, provider, answers } = await start(() => undefined, { window: 2 })
  const common = { from: anAddress(), to: aNumber('27825550101'), body: aBody() }
  const messages = [1, 2, 3].map((id) => ({ id: aMessageId(id), ...common }))
  carrier.submit(messages, (some) => answers.push(...some))
  await until(() => provider.requests.length === 2)
  await carrier.close(Promise.resolve())
  expect(answers.toSorted((one, other) => one.id - other.id).map(({ outcome }) => outcome)).toEqual([
    ...['unknown', 'unknown', 'refused-for-now'],
  ])
})

test.each([
  ['the address that belongs to nobody', '12025550100', '15005550006', '15005550006'],
  ['the address that belongs to nobody, without a sender of the carrier', '12025550100', undefined, undefined],
  ['an address of the operator', '15005550007', '15005550006', '15005550007'],
])('a message from %s', async (_, address, from, sender) => {
  const json = { to: '{to}', body: '{text}', from: '{from}' }
  const provider = { ...once, send: { ...once.send, json } }
  const { carrier, provider: server, answers } = await start(accepts, { provider, from })
  const message = { id: aMessageId(1), from: anAddress(address), to: aNumber('27825550101'), body: aBody() }
  carrier.submit([message], (some) => answers.push(...some))
  await until(() => answers.length === 1)
  expect((JSON.parse(server.requests[0]?.body ?? '') as { from?: string }).from).toBe(sender)
})

test('an error that repeats the text and the secrets reaches no log', async () => {
  const error = 'the key hidden-token may not send "Your code is 4711"'
  const answer: Answer = (response) => response.writeHead(403).end(JSON.stringify({ type: error }))
  const { carrier, problems, submit } = await start(answer)
  await submit(1)
  expect(carrier.status()?.lastError).toContain('the key *** may not send "(17 characters)"')
  for (const hidden of ['hidden-token', '4711']) expect(problems.join()).not.toContain(hidden)
})

test('the reason of an unknown outcome is the last error', async () => {
  const { carrier, submit } = await start((response) => response.writeHead(200).end('<html>'))
  await submit(1)
  expect(carrier.status()?.lastError).toBe('HTTP 200 without an id')
})

test.each<readonly [string, Answer, string | undefined, string | undefined]>([
  ['accepted', accepts, undefined, 'r1'],
  ['refused', (response) => response.writeHead(400).end('{"type":"bad-number"}'), 'bad-number', undefined],
  ['unknown', (response) => response.writeHead(200).end(), 'HTTP 200 without an id', undefined],
])('a message that is sent for a test is %s, and is sent once', async (outcome, answer, reason, reference) => {
  const provider = await aProvider(answer)
  providers.push(provider)
  const settings = await httpSettingsOf({ provider: 'bulksms', secrets, baseUrl: provider.origin }, [])
  const seen: ObservedTraffic[] = []
  const message = { from: anAddress(), to: aNumber('27825550101'), body: aBody() }
  const result = await tryMessage(aCarrierId('main'), settings, message, (traffic) => seen.push(traffic))
  expect([result, provider.requests.length]).toEqual([{ outcome, reason, reference }, 1])
  expect(seen.map(({ direction }) => direction)).toEqual(['sent', 'received'])
})

test('a name that is not one of a carrier is refused', async () => {
  const settings = await httpSettingsOf({ provider: once, secrets, baseUrl: 'http://127.0.0.1' }, [])
  expect(() => httpCarrier('No Name', settings, { report: () => undefined })).toThrow('is not a carrier name')
})
