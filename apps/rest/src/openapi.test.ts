import { createGateway, type Gateway, type Ports } from '@gateway/core'
import { OUTCOME } from '@gateway/core/messages'
import { nextTry, webhookEventTypes } from '@gateway/core/webhooks'
import { anAccount, aNumber, arrive, assign } from '@gateway/core/testing'
import { webhookBody } from '@gateway/wire'
import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { carry } from '../testing/carry.ts'
import { complaint } from '../testing/complaint.ts'
import { type Rest, startRest } from '../testing/start-rest.ts'
import { isFailure } from './answer.ts'
import { openApiDocument } from './openapi.ts'
import { type Call, TAGS } from './operation.ts'
import { endpoints } from './routes.ts'

type Examples = Readonly<Record<string, { readonly value: unknown }>>
interface Content {
  readonly content: { readonly 'application/json': { readonly schema: object; readonly examples: Examples } }
}
interface Documented {
  readonly operationId: string
  readonly parameters: readonly { readonly name: string; readonly in: string; readonly examples?: Examples }[]
  readonly requestBody?: Content
  readonly responses: Readonly<Record<string, Partial<Content>>>
}
interface OpenApi {
  readonly servers: readonly { readonly url: string }[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, Documented>>>>
  readonly components: { readonly responses: Readonly<Record<string, object>> }
}

const document = JSON.parse(JSON.stringify(openApiDocument())) as OpenApi
const operations = Object.entries(document.paths).flatMap(([path, byMethod]) =>
  Object.entries(byMethod).map(([method, operation]) => ({ path, method, operation })),
)

test('the document is served without a key and has every operation of the interface', async () => {
  const rest = await startRest()
  const answer = await fetch(`${rest.url}/docs/openapi.json`)
  expect(await answer.json()).toEqual(document)
  expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8')
  // Viewers on other hosts may read the document.
  expect(answer.headers.get('access-control-allow-origin')).toBe('*')
  expect(new URL(document.servers[0]?.url ?? '', answer.url).href).toBe(`${rest.url}/api/rest/v1`)
  await rest.close()
  expect(operations.map(({ method, path }) => [path, method.toUpperCase()])).toEqual(
    [...endpoints].flatMap(([path, ofPath]) => ofPath.map(({ method }) => [path, method])),
  )
})

/**
 * Prepares the data of the examples. Account 1 has 97.0 credits and the sub account 2. Messages 1 and 2 were delivered
 * to 27825550101 and …103; the first recipient replied and the second opted out. Message 3 to …102 is scheduled,
 * message 4 is the confirmation. There is a short code with a message, and a manual opt-out. Webhook 1 had a failed
 * test and a finished replay.
 */
async function worldOfExamples(): Promise<Rest> {
  const rest = await startRest()
  const { ports, account } = rest
  await anAccount(ports, { parent: account.id, login: 'acme-shop', credits: 500 })
  const recipients = [{ mobileNumber: '27825550101' }, { mobileNumber: '27825550103' }]
  await rest.post('/sms/outgoing/send', { message: 'hello', recipients }).expect(200)
  await carry(ports, 'accepted', OUTCOME.delivered)
  const later = { message: 'hello', recipients: [{ mobileNumber: '27825550102' }], scheduledTime: '202701010800' }
  await rest.post('/sms/outgoing/send', later).expect(200)
  await arrive(ports, '27825550101', 'Yes, thank you')
  await arrive(ports, '27825550103', 'STOP')
  await assign(ports, account, '40404')
  await arrive(ports, '27825550101', 'WIN', '40404')
  await createGateway(ports).commands.addOptOut(account, aNumber('27825550104'))
  const events = ['message.delivered', 'message.failed', 'reply.received']
  await rest.post('/webhooks', { url: 'https://crm.example.com/sms-events', events, withText: true }).expect(200)
  await rest.post('/webhooks/1/test', {}).expect(200)
  await failToPush(ports)
  await rest.post('/webhooks/1/replay', { from: '202610180900', to: '202610181000' }).expect(200)
  await ports.webhooks.advanceReplay()
  return rest
}

async function failToPush({ webhooks, clock }: Ports): Promise<void> {
  const [list] = await webhooks.claim({ listsMax: 1, perWebhookMax: 1, rooms: new Map(), leaseSeconds: 60 })
  if (list === undefined) throw new Error('there is nothing to push')
  const answer = {
    outcome: 'answered',
    status: 500,
    retryAfterSeconds: undefined,
    beginning: 'The database is locked.',
    milliseconds: 31,
  } as const
  const [at, { id, tries }] = [clock.now(), list]
  await webhooks.record([{ list: id, tries, at, answer, verdict: 'retry', next: nextTry(tries, answer, at, 0) }])
}

const exampleRows = operations.flatMap(({ path, method, operation }) => {
  const names = Object.values(operation.responses).flatMap(({ content }) =>
    Object.keys(content?.['application/json'].examples ?? {}),
  )
  return names.map((name) => [operation.operationId, name, { path, method, operation }] as const)
})

test.each(exampleRows)(
  'the example of %s, "%s", is answered as it says',
  async (_id, name, { path, method, operation }) => {
    const [status, expected] = Object.entries(operation.responses).flatMap(([each, { content }]) => {
      const example = content?.['application/json'].examples[name]
      return example === undefined ? [] : [[Number(each), example.value] as const]
    })[0] ?? [0, undefined]
    const rest = await worldOfExamples()
    // Invalid requests are not among the request examples of the document. They are only described next to their
    // response.
    const table = endpoints.get(path)?.find((each) => each.method.toLowerCase() === method)?.operation.examples[name]
    const wrong = status === 200 ? undefined : table
    const query = operation.parameters
      .filter((parameter) => parameter.in === 'query')
      .map(({ name: key, examples }) => `${key}=${String(wrong?.query?.[key] ?? examples?.[name]?.value)}`)
      .join('&')
    const body = wrong?.body ?? operation.requestBody?.content['application/json'].examples[name]?.value
    const id = wrong?.id ?? operation.parameters.find((parameter) => parameter.in === 'path')?.examples?.[name]?.value
    const address = path.replace('{id}', String(id))
    const ask = {
      get: () => rest.get(`${address}?${query}`),
      post: () => rest.post(address, body),
      patch: () => rest.patch(address, body),
      delete: () => rest.delete(address),
    }[method]
    const answer = (await ask?.()) ?? { status: 0, body: undefined }
    await rest.close()
    expect([answer.status, answer.body]).toEqual([status, expected])
  },
)

test('429 on any operation means that the account exceeds its limit, never a failed log-in', async () => {
  const rest = await startRest({
    gateway: (gateway) => ({
      ...gateway,
      commands: { ...gateway.commands, authenticate: () => Promise.resolve({ overLimitSeconds: 7 }) },
    }),
  })
  const answer = await rest.get('/credits/balance')
  await rest.close()
  expect([answer.status, answer.headers['retry-after']]).toEqual([429, '7'])
  expect(answer.body).toMatchObject({ statusCode: 429, errorMessage: 'Too many requests' })
  for (const { operation } of operations)
    expect(operation.responses['429']).toEqual({ $ref: '#/components/responses/TooManyRequests' })
  expect(JSON.stringify(document)).not.toContain('log-ins')
})

test('every operation has examples, and each example of a request has a response', () => {
  for (const { operation } of operations) {
    const answered = exampleRows.filter(([id]) => id === operation.operationId).map(([, name]) => name)
    const sent = [operation.requestBody?.content['application/json'].examples, operation.parameters[0]?.examples]
    expect(answered.length).toBeGreaterThan(0)
    expect(answered).toEqual(expect.arrayContaining(sent.flatMap((examples) => Object.keys(examples ?? {}))))
  }
})

describe('the description', () => {
  type Schema = Readonly<Record<string, unknown>>
  const isObject = (value: unknown): value is Schema => typeof value === 'object' && value !== null
  /** Yields all schemas and parameters with their places in the document. */
  function* everything(value: unknown, at = ''): Iterable<readonly [string, Schema]> {
    if (!isObject(value)) return
    yield [at, value]
    for (const [name, each] of Object.entries(value))
      if (name !== 'examples' && name !== 'example') yield* everything(each, `${at}/${name}`)
  }
  const all = [...everything(document)]
  const schemas = (document.components as unknown as { schemas: Readonly<Record<string, Schema>> }).schemas
  const descriptionOf = ({ description, $ref }: Schema): unknown =>
    description ?? (typeof $ref === 'string' ? schemas[$ref.split('/').at(-1) ?? '']?.['description'] : undefined)

  test('of every property and parameter states more than its type', () => {
    const properties = all.flatMap(([at, { properties }]) =>
      isObject(properties) ? Object.entries(properties).map(([name, each]) => [`${at}/${name}`, each] as const) : [],
    )
    const parameters = all.filter(([at, { in: place }]) => /parameters\/\d+$/.test(at) && place !== undefined)
    const descriptions = [...properties, ...parameters].filter(([at]) => !at.endsWith('/data'))
    expect(descriptions.length).toBeGreaterThan(100)
    const bare =
      /^(?:an?|the|one|true|false|whole|null|or|of|string|number|integer|boolean|array|object|digits|[.,; ])*$/i
    const silent = descriptions.filter(([, each]) => {
      const description = descriptionOf(each as Schema)
      return typeof description !== 'string' || bare.test(description) || description.split(' ').length < 3
    })
    expect(silent.map(([at]) => at)).toEqual([])
  })

  test('of enumerations has their type, and every operation belongs to a described group', () => {
    const untyped = all.filter(([, { enum: words, const: word, type }]) => (words ?? word) !== undefined && !type)
    expect(untyped.map(([at]) => at)).toEqual([])
    const { tags } = document as unknown as { tags: readonly { name: string; description: string }[] }
    expect(tags.map(({ name }) => name)).toEqual(Object.keys(TAGS))
    for (const { operation } of operations)
      expect(Object.keys(TAGS)).toContain((operation as unknown as { tags: string[] }).tags[0])
  })

  test('has a pattern beside lengths only if both agree', () => {
    const patterns = all.filter(([, { pattern }]) => pattern !== undefined)
    expect(patterns.length).toBeGreaterThan(0)
    for (const [, { minLength, maxLength }] of patterns) expect(minLength).toBe(maxLength)
  })

  test('of a refused body is beside its response, never among the bodies of requests', () => {
    const ajv = new Ajv2020({ strict: false, validateFormats: false }).addSchema(document, 'document')
    let refused = 0
    for (const { path, method, operation } of operations) {
      const at = `document#/paths/${pointer(path)}/${method}/requestBody/content/application~1json/schema`
      for (const { value } of Object.values(operation.requestBody?.content['application/json'].examples ?? {}))
        expect([value, ajv.compile({ $ref: at })(value)]).toEqual([value, true])
      const wrong = operation.responses[422]?.content?.['application/json'].examples ?? {}
      for (const { description = '' } of Object.values(wrong) as { description?: string }[]) {
        expect(description).toMatch(/^The response to the (body|query) `/)
        refused++
      }
    }
    expect(refused).toBeGreaterThan(8)
  })
})

describe('the schema of events', () => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false }).addSchema(document, 'document')
  const validate = ajv.compile({
    $ref: 'document#/webhooks/events/post/requestBody/content/application~1json/schema',
  })
  const ofEvent = (title: string) => ajv.compile({ $ref: `document#/components/schemas/${title}` })

  test('matches the example of its type, and no example of another type', () => {
    const { webhooks } = document as unknown as { webhooks: { events: { post: { requestBody: Content } } } }
    const { examples } = webhooks.events.post.requestBody.content['application/json']
    expect(Object.keys(examples)).toEqual([...webhookEventTypes, 'test'])
    for (const { value } of Object.values(examples)) expect([validate(value), validate.errors]).toEqual([true, null])
    const [, delivered] = Object.values(examples) as [unknown, { value: { data: { events: [{ type: string }] } } }]
    delivered.value.data.events[0].type = 'message.other'
    expect(validate(delivered.value)).toBe(false)
  })

  test('matches every pushed event, each only with the schema of its type', async () => {
    const rest = await startRest()
    const { ports, account } = rest
    for (const withText of [true, false])
      await rest.post('/webhooks', { url: 'https://a.example', events: webhookEventTypes, withText }).expect(200)
    const send = (number: string) => {
      const body = { message: 'Grüße "€"', recipients: [{ mobileNumber: number }] }
      return rest.post('/sms/outgoing/send', body).expect(200)
    }
    await send('27825550101')
    await carry(ports, 'accepted', OUTCOME.delivered)
    await send('27825550102')
    await carry(ports, 'accepted', OUTCOME.undeliverable)
    await send('27825550103')
    await carry(ports, 'refused')
    await send('27825550104')
    await carry(ports, 'unknown')
    await arrive(ports, '27825550101', 'Yes "✓"')
    await arrive(ports, '27825550101', 'STOP')
    await arrive(ports, '27825550101', 'START')
    await assign(ports, account, '40404')
    await arrive(ports, '27825550105', 'WIN', '40404')
    await createGateway(ports).commands.addOptOut(account, aNumber('27825550106'))
    await createGateway(ports).commands.removeOptOut(account, aNumber('27825550106'))
    await rest.post('/webhooks/1/test', {}).expect(200)
    const pushed: { type: string; data: object }[] = []
    for (;;) {
      const claim = { listsMax: 100, perWebhookMax: 100, rooms: new Map(), leaseSeconds: 60 }
      const lists = await ports.webhooks.claim(claim)
      if (lists.length === 0) break
      for (const { groups } of lists) {
        const body = JSON.parse(Buffer.from(webhookBody(groups, rest.clock.now())).toString()) as {
          data: { events: typeof pushed }
        }
        expect([body, validate(body), validate.errors]).toEqual([body, true, null])
        pushed.push(...body.data.events)
      }
    }
    await rest.close()
    expect(new Set(pushed.map(({ type }) => type))).toEqual(new Set([...webhookEventTypes, 'test']))
    for (const event of pushed) {
      const title = `${event.type.replace(/(^|\.)(.)/g, (_, _dot, letter: string) => letter.toUpperCase())}Event`
      expect([event, ofEvent(title)(event)]).toEqual([event, true])
      expect(Object.keys(event.data).filter((name) => !isDescribed(title, name))).toEqual([])
    }
  })

  /**
   * Returns true if the document describes this field of an event. The schemas allow additional fields, for future
   * versions, so validation alone does not find a field without a description.
   */
  function isDescribed(title: string, name: string): boolean {
    const { schemas } = document.components as unknown as {
      schemas: Record<string, { properties: Record<string, { $ref: string }> }>
    }
    const of = schemas[title]?.properties['data']?.$ref.split('/').at(-1) ?? ''
    return name in (schemas[of]?.properties ?? {})
  }
})

describe('a complaint about a response', () => {
  const [path, headers] = ['/api/rest/v1/credits/balance', {}]
  const good = { timeStamp: '20261018100000000', version: '1.0', statusCode: 200, creditBalance: 1 }
  const found = (status: number, body: object, more: object = headers) =>
    complaint({ method: 'GET', path, status, headers: more as Record<string, string>, body: JSON.stringify(body) })
  const failed = {
    timeStamp: '20261018100000000',
    version: '1.0',
    statusCode: 405,
    errorMessage: 'no',
    errorCode: 'wrong-method',
  }

  test('is undefined if the document describes the response', () => {
    expect(found(200, good)).toBeUndefined()
    expect(found(405, failed, { allow: 'GET' })).toBeUndefined()
  })

  test.each<[string, string | undefined]>([
    ['another field', found(200, { ...good, more: 1 })],
    ['a field less', found(200, { ...good, creditBalance: undefined })],
    ['another type', found(200, { ...good, creditBalance: '1.0' })],
    ['another statusCode', found(405, { ...failed, statusCode: 404 }, { allow: 'GET' })],
    ['another status', found(418, { ...failed, statusCode: 418 })],
    ['an errorCode less', found(405, { ...failed, errorCode: undefined }, { allow: 'GET' })],
    ['another errorCode', found(405, { ...failed, errorCode: 'no' }, { allow: 'GET' })],
    ['the errorCode of another status', found(405, { ...failed, errorCode: 'not-json' }, { allow: 'GET' })],
    ['a header less', found(405, failed)],
    ['another header', found(200, good, { 'retry-after': '1' })],
  ])('has %s', (_what, complained) => {
    expect(complained).toMatch(/./)
  })
})

describe('a generated request', () => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false }).addSchema(document, 'document')
  const reached = new Error('the request was accepted')
  const reach = () => Promise.reject(reached)
  const useCases = new Proxy({}, { get: () => reach })
  const gateway = { queries: useCases, commands: useCases } as Gateway
  const call = { gateway, account: { id: 1 }, now: 0, idempotencyKey: undefined, parameter: '1' } as unknown as Call
  // Rules that a schema cannot express, by the messages of their failures.
  const besides =
    /must not be blank|must be a time YYYYMMDDHHmm|sender must be|in all messages together|must name one of event|must not hold U\+0000/

  const isAccepted = async (path: string, method: string, sent: string): Promise<boolean | string> => {
    try {
      const endpoint = endpoints.get(path)?.find((each) => each.method.toLowerCase() === method)
      const answer = await endpoint?.run(call, { text: sent, body: endpoint.parse?.(sent) })
      return typeof answer === 'object' && isFailure(answer) ? answer.errorMessage : false
    } catch (error) {
      if (error !== reached) throw error
      return true
    }
  }

  test.each(
    operations.filter(({ operation }) => operation.requestBody !== undefined).map(({ path, method }) => [path, method]),
  )(
    'is accepted by %s (%s) exactly if its schema accepts it, apart from rules that the document states in words',
    async (path, method) => {
      const at = `document#/paths/${pointer(path)}/${method}/requestBody/content/application~1json/schema`
      const validate = ajv.compile({ $ref: at })
      const count = { accepted: 0, refused: 0 }
      await fc.assert(
        fc.asyncProperty(bodies(path), async (body) => {
          const outcome = await isAccepted(path, method, JSON.stringify(body))
          count[outcome === true ? 'accepted' : 'refused']++
          const isExcepted = typeof outcome === 'string' && (besides.test(outcome) || hasUnusable(body))
          if (!isExcepted)
            expect({ body, accepted: outcome === true }).toEqual({
              body,
              accepted: validate(withoutBlanks(body, path === '/webhooks')),
            })
        }),
        { numRuns: 1000 },
      )
      // Accepted and refused bodies both occur often enough for a comparison.
      expect(Math.min(count.accepted, count.refused)).toBeGreaterThan(50)
    },
  )

  test.each(
    operations
      .filter(({ operation }) => operation.parameters.some((each) => each.in === 'query'))
      .map(({ path }) => [path]),
  )('with a query is accepted by %s exactly if its schema accepts it', async (path) => {
    const validators = ['offset', 'limit'].map((_, i) =>
      ajv.compile({ $ref: `document#/paths/${pointer(path)}/get/parameters/${i + skipped(path)}/schema` }),
    )
    const value = fc.oneof(
      fc.integer({ min: -5, max: 1005 }).map(String),
      fc.constantFrom('', ' 1', '1.0', '1e3', '+1', '0x1', '007', '9007199254740991', '9007199254740992', 'NaN'),
      fc.string({ maxLength: 3 }),
    )
    await fc.assert(
      fc.asyncProperty(value, value, async (...drawn) => {
        const [offset = '', limit = ''] = drawn.map(encodeURIComponent)
        const isValid = drawn.map((text, i) => /^[0-9]+$/.test(text) && validators[i]?.(Number(text)) === true)
        expect(
          await isAccepted(path, 'get', `offset=${offset}&limit=${limit}`).then((outcome) => outcome === true),
        ).toBe(isValid.every(Boolean))
      }),
      { numRuns: 500 },
    )
  })
})

/**
 * Returns true if a body contains U+0000 or an unpaired surrogate. The schemas do not express that such texts are
 * refused where they are used or echoed; the document says so in words.
 */
const hasUnusable = (body: unknown): boolean => /\\u0000|\\ud[89a-f]/.test(JSON.stringify(body))

const optionalNames = new Set(
  'clientMessageId scheduledTime maxSegments validityMinutes priority flash sender url events listSize withText state overlapHours event from to dead'.split(
    ' ',
  ),
)

/** The document states in words that a blank string counts as an omitted optional field. */
function withoutBlanks(body: unknown, needsUrl = false): unknown {
  if (Array.isArray(body)) return body.map((each) => withoutBlanks(each))
  if (typeof body !== 'object' || body === null) return body
  const isBlank = (name: string, value: unknown) =>
    optionalNames.has(name) && !(needsUrl && name === 'url') && typeof value === 'string' && value.trim() === ''
  return Object.fromEntries(
    Object.entries(body).map(([name, value]) => [name, isBlank(name, value) ? null : withoutBlanks(value)]),
  )
}

/** Resolves a reference, which is a JSON pointer. */
const pointer = (path: string): string => path.replaceAll('/', '~1').replaceAll('{', '%7B').replaceAll('}', '%7D')
/** Number of parameters before those in the query. */
const skipped = (path: string): number => (path.includes('{') ? 1 : 0)

const odd = fc.oneof(
  fc.constantFrom<unknown>(null, true, '', ' ', 0, -1, 1.5, 7, '5', [], {}, [[]], 'a\0', '\ud800', 2 ** 53, 1e20),
  // A schema cannot distinguish 1e21 from a number in digits.
  fc.jsonValue({ maxDepth: 2 }).filter((value) => !/\de\+/.test(JSON.stringify(value))),
)
const mostly = <T>(good: fc.Arbitrary<T>, share = 12) =>
  fc.oneof({ weight: share, arbitrary: good }, { weight: 1, arbitrary: odd })

/** Generates bodies of an operation that are mostly valid. */
function bodies(path: string): fc.Arbitrary<unknown> {
  const recipient = fc.record(
    {
      mobileNumber: mostly(fc.constantFrom('27825550101', '1', '')),
      clientMessageId: mostly(fc.oneof(fc.string(), fc.constantFrom(null, '', ' ')), 6),
      more: odd,
    },
    { requiredKeys: ['mobileNumber'] },
  )
  const text = fc.record(
    {
      message: mostly(fc.constantFrom('hello', 'жук', '€')),
      recipients: mostly(fc.array(mostly(recipient), { minLength: 1, maxLength: 3 })),
      scheduledTime: mostly(
        fc.constantFrom<unknown>('202701010800', 202701010800, null, '', ' ', '202602301200', 'x'),
        6,
      ),
      maxSegments: mostly(fc.constantFrom<unknown>(1, 6, null, '', 0, 7, 1.5), 6),
      sender: mostly(fc.constantFrom<unknown>(null, '', ' '), 20),
      validityMinutes: mostly(fc.constantFrom<unknown>(1, 60, 4320, null, '', 4321), 20),
      priority: mostly(fc.constantFrom<unknown>(0, 1, 3, null, ''), 30),
      flash: mostly(fc.constantFrom<unknown>(true, false, null, ''), 30),
    },
    { requiredKeys: ['message', 'recipients'] },
  )
  const number = mostly(fc.oneof(fc.nat(), fc.constantFrom(-1, 2 ** 53, 1e20)), 8)
  const transfer = { sendingAccountNumber: number, receivingAccountNumber: number, transferQuantity: number }
  const lengthOfIds = fc.constantFrom(1, 3, 1000, 1001, 0)
  const id = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER })
  const ids = lengthOfIds.chain((length) =>
    fc.array(length > 3 ? id : mostly(id), { minLength: length, maxLength: length }),
  )
  if (path.includes('/webhooks')) return webhookBodies(path)
  if (path.endsWith('/send')) return mostly(text)
  if (path.endsWith('/sendmulti')) {
    const several = fc.array(mostly(text), { minLength: 1, maxLength: 2 })
    return mostly(fc.record({ messages: mostly(several) }))
  }
  return path.endsWith('/transfer') ? mostly(fc.record(transfer)) : mostly(ids)
}

function webhookBodies(path: string): fc.Arbitrary<unknown> {
  const flag = mostly(fc.constantFrom<unknown>(true, false, null, ''), 6)
  const time = mostly(fc.constantFrom<unknown>('202701010800', 202701010900, null, ' ', 'x'), 6)
  const settings = {
    events: mostly(fc.array(mostly(fc.constantFrom('reply.received', 'optout.added', 'reply')), { maxLength: 3 }), 6),
    listSize: mostly(fc.constantFrom<unknown>(1, 100, 0, 101, 1.5, null, ''), 6),
    withText: flag,
  }
  const url = mostly(fc.constantFrom('https://a.example', '', 'x\0'))
  if (path === '/webhooks') return mostly(fc.record({ url, ...settings }, { requiredKeys: ['url'] }))
  if (path.endsWith('/test')) return fc.oneof(odd, fc.record({ more: odd }, { requiredKeys: [] }))
  if (path.endsWith('/rotate')) {
    const overlapHours = mostly(fc.constantFrom<unknown>(0, 168, 169, -1, 1.5, null, ''), 6)
    return mostly(fc.record({ overlapHours }, { requiredKeys: [] }))
  }
  if (path.endsWith('/replay')) {
    const event = mostly(fc.constantFrom<unknown>('message-1-4', null, '', 'x\0'), 6)
    const whole = fc.oneof(fc.record({ event }), fc.record({ from: time, to: time }), fc.record({ dead: flag }))
    const some = fc.record({ event, from: time, to: time, dead: flag }, { requiredKeys: [] })
    return mostly(fc.oneof(whole, some))
  }
  const state = mostly(fc.constantFrom<unknown>('active', 'paused', 'disabled', null, ''), 6)
  return mostly(fc.record({ url, ...settings, state }, { requiredKeys: [] }))
}

test('the page names no other host, and everything that it loads exists', async () => {
  const rest = await startRest()
  const page = await fetch(`${rest.url}/docs/`)
  const html = await page.text()
  const loaded = Array.from(html.matchAll(/(?:src|href)="([^"]*)"/g), ([, path = '']) => path)
  const guide = '../docs/guide/'
  expect(loaded).toEqual(['swagger-ui.css', '../docs/openapi.json', guide, 'swagger-ui-bundle.js', 'start.js'])
  for (const path of loaded) {
    const file = await fetch(new URL(path, page.url))
    expect([path, file.status]).toEqual([path, 200])
    expect((await file.text()).length).toBeGreaterThan(50)
  }
  const start = await (await fetch(`${rest.url}/docs/start.js`)).text()
  expect(start).toContain('validatorUrl: null')
  expect(html + start).not.toMatch(/https?:/)
  // The content security policy forbids other hosts anyway.
  const policy = page.headers.get('content-security-policy') ?? ''
  expect(policy).toContain("default-src 'self'")
  expect(policy).not.toMatch(/https?:|\*/)
  await rest.close()
})
