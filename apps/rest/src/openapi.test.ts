import { createGateway, nextTry, OUTCOME, type Gateway, type Ports } from '@gateway/core'
import { aNumber, anAccount, arrive, assign } from '@gateway/core/testing'
import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { carry } from '../testing/carry.ts'
import { complaint } from '../testing/complaint.ts'
import { startRest, type Rest } from '../testing/start-rest.ts'
import type { Call } from './endpoint.ts'
import { isFailure } from './answer.ts'
import { openApiDocument } from './openapi.ts'
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

test('the document is served without a key, and has every operation of the interface', async () => {
  const rest = await startRest()
  const answer = await fetch(`${rest.url}/docs/openapi.json`)
  expect(await answer.json()).toEqual(document)
  expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8')
  expect(new URL(document.servers[0]?.url ?? '', answer.url).pathname).toBe('/api/rest/v1')
  await rest.close()
  expect(operations.map(({ method, path }) => [path, method.toUpperCase()])).toEqual(
    [...endpoints].flatMap(([path, ofPath]) => ofPath.map(({ method }) => [path, method])),
  )
})

/**
 * Account 1 has 97.0 credits and the sub account 2. Messages 1 and 2 were delivered to 27825550101 and …103, of whom one answered and the
 * other one opted out; message 3 to …102 is scheduled, 4 is the confirmation. There is a short code with a message, and a manual opt-out.
 * Webhook 1 got a test, which failed.
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
  await createGateway(ports).addOptOut(account, aNumber('27825550104'))
  const events = ['message.delivered', 'message.failed', 'reply.received']
  await rest.post('/webhooks', { url: 'https://crm.example.com/sms-events', events, withText: true }).expect(200)
  await rest.post('/webhooks/1/test', {}).expect(200)
  await failToPush(ports)
  return rest
}

async function failToPush({ webhooks, clock }: Ports): Promise<void> {
  const [list] = await webhooks.claim({ claimer: 1, listsMax: 1, perWebhookMax: 1, ahead: new Map(), leaseSeconds: 60 })
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
    const [status, wanted] = Object.entries(operation.responses).flatMap(([each, { content }]) => {
      const example = content?.['application/json'].examples[name]
      return example === undefined ? [] : [[Number(each), example.value] as const]
    })[0] ?? [0, undefined]
    const rest = await worldOfExamples()
    const query = operation.parameters
      .filter((parameter) => parameter.in === 'query')
      .map((parameter) => `${parameter.name}=${String(parameter.examples?.[name]?.value)}`)
      .join('&')
    const body = operation.requestBody?.content['application/json'].examples[name]?.value
    const id = operation.parameters.find((parameter) => parameter.in === 'path')?.examples?.[name]?.value
    const asked = path.replace('{id}', String(id))
    const ask = {
      get: () => rest.get(`${asked}?${query}`),
      post: () => rest.post(asked, body),
      patch: () => rest.patch(asked, body),
      delete: () => rest.delete(asked),
    }[method]
    const answer = (await ask?.()) ?? { status: 0, body: undefined }
    await rest.close()
    expect([answer.status, answer.body]).toEqual([status, wanted])
  },
)

test('an answer to too many log-ins is in the document, though an API key never gets it', async () => {
  const rest = await startRest({
    gateway: (gateway) => ({ ...gateway, authenticate: () => Promise.resolve({ retryAfterSeconds: 60 }) }),
  })
  const { status, headers } = await rest.get('/credits/balance')
  await rest.close()
  expect([status, headers['retry-after']]).toEqual([429, '60'])
})

test('every operation has examples, and each example of a request has an answer', () => {
  for (const { operation } of operations) {
    const answered = exampleRows.filter(([id]) => id === operation.operationId).map(([, name]) => name)
    const sent = [operation.requestBody?.content['application/json'].examples, operation.parameters[0]?.examples]
    expect(answered.length).toBeGreaterThan(0)
    expect(answered).toEqual(expect.arrayContaining(sent.flatMap((examples) => Object.keys(examples ?? {}))))
  }
})

describe('an answer that the document does not describe', () => {
  const [path, headers] = ['/api/rest/v1/credits/balance', {}]
  const good = { timeStamp: '20261018100000000', version: '1.0', statusCode: 200, creditBalance: 1 }
  const found = (status: number, body: object, more: object = headers) =>
    complaint({ method: 'GET', path, status, headers: more as Record<string, string>, body: JSON.stringify(body) })
  const failed = { timeStamp: '20261018100000000', version: '1.0', statusCode: 405, errorMessage: 'no' }

  test('is none if it is described', () => {
    expect(found(200, good)).toBeUndefined()
    expect(found(405, failed, { allow: 'GET' })).toBeUndefined()
  })

  test.each<[string, string | undefined]>([
    ['another field', found(200, { ...good, more: 1 })],
    ['a field less', found(200, { ...good, creditBalance: undefined })],
    ['another type', found(200, { ...good, creditBalance: '1.0' })],
    ['another statusCode', found(405, { ...failed, statusCode: 404 }, { allow: 'GET' })],
    ['another status', found(418, { ...failed, statusCode: 418 })],
    ['a header less', found(405, failed)],
    ['another header', found(200, good, { 'retry-after': '1' })],
  ])('has %s', (_what, complained) => {
    expect(complained).toMatch(/./)
  })
})

describe('a generated body', () => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false }).addSchema(document, 'document')
  const reached = new Error('the request was accepted')
  const reach = () => Promise.reject(reached)
  const gateway = new Proxy({}, { get: () => reach }) as Gateway
  const call = { gateway, account: { id: 1 }, now: 0, idempotencyKey: undefined, parameter: '1' } as unknown as Call
  // A schema cannot say these.
  const besides = /must not be blank|must be a time YYYYMMDDHHmm|in all messages together|must name one of event/

  const isAccepted = async (path: string, method: string, sent: string): Promise<boolean | string> => {
    try {
      const endpoint = endpoints.get(path)?.find((each) => each.method.toLowerCase() === method)
      const answer = await endpoint?.run(call, sent)
      return typeof answer === 'object' && isFailure(answer) ? answer.errorMessage : false
    } catch (error) {
      if (error !== reached) throw error
      return true
    }
  }

  test.each(
    operations.filter(({ operation }) => operation.requestBody !== undefined).map(({ path, method }) => [path, method]),
  )(
    'is accepted by %s (%s) as by its schema, but for blank texts, days that no month has, and too many recipients in all',
    async (path, method) => {
      const at = `document#/paths/${pointer(path)}/${method}/requestBody/content/application~1json/schema`
      const validate = ajv.compile({ $ref: at })
      const count = { accepted: 0, refused: 0 }
      await fc.assert(
        fc.asyncProperty(bodies(path), async (body) => {
          const outcome = await isAccepted(path, method, JSON.stringify(body))
          count[outcome === true ? 'accepted' : 'refused']++
          const isExcepted = typeof outcome === 'string' && besides.test(outcome)
          if (!isExcepted) expect({ body, accepted: outcome === true }).toEqual({ body, accepted: validate(body) })
        }),
        { numRuns: 1000 },
      )
      // Both happen often enough to be compared.
      expect(Math.min(count.accepted, count.refused)).toBeGreaterThan(50)
    },
  )

  test.each(
    operations
      .filter(({ operation }) => operation.parameters.some((each) => each.in === 'query'))
      .map(({ path }) => [path]),
  )('so is a query, by %s', async (path) => {
    const validators = ['offset', 'limit'].map((_, i) =>
      ajv.compile({ $ref: `document#/paths/${pointer(path)}/get/parameters/${i + skipped(path)}/schema` }),
    )
    const value = fc.oneof(
      fc.integer({ min: -5, max: 1005 }).map(String),
      fc.constantFrom('', ' 1', '1.0', '1e3', '+1', '0x1', '007', '9007199254740991', '9007199254740992', 'NaN'),
      fc.string({ maxLength: 3 }),
    )
    await fc.assert(
      fc.asyncProperty(value, value, async (...given) => {
        const [offset = '', limit = ''] = given.map(encodeURIComponent)
        const isValid = given.map((text, i) => /^[0-9]+$/.test(text) && validators[i]?.(Number(text)) === true)
        expect(
          await isAccepted(path, 'get', `offset=${offset}&limit=${limit}`).then((outcome) => outcome === true),
        ).toBe(isValid.every(Boolean))
      }),
      { numRuns: 500 },
    )
  })
})

/** In a reference, by JSON pointer. */
const pointer = (path: string): string => path.replaceAll('/', '~1').replaceAll('{', '%7B').replaceAll('}', '%7D')
/** Parameters before those in the query. */
const skipped = (path: string): number => (path.includes('{') ? 1 : 0)

const odd = fc.oneof(
  fc.constantFrom<unknown>(null, true, '', ' ', 0, -1, 1.5, 7, '5', [], {}, [[]], 'a\0', '\ud800', 2 ** 53, 1e20),
  // A schema cannot tell 1e21 from a number in digits.
  fc.jsonValue({ maxDepth: 2 }).filter((value) => !/\de\+/.test(JSON.stringify(value))),
)
const mostly = <T>(good: fc.Arbitrary<T>, share = 12) =>
  fc.oneof({ weight: share, arbitrary: good }, { weight: 1, arbitrary: odd })

/** Bodies of an operation, in most places as they should be. */
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

test('the page names no other host, and all that it loads is there', async () => {
  const rest = await startRest()
  const page = await fetch(`${rest.url}/docs/`)
  const html = await page.text()
  const loaded = Array.from(html.matchAll(/(?:src|href)="([^"]*)"/g), ([, path = '']) => path)
  expect(loaded).toEqual(['swagger-ui.css', 'swagger-ui-bundle.js', 'start.js'])
  for (const path of loaded) {
    const file = await fetch(new URL(path, page.url))
    expect([path, file.status]).toEqual([path, 200])
    expect((await file.text()).length).toBeGreaterThan(50)
  }
  const start = await (await fetch(`${rest.url}/docs/start.js`)).text()
  expect(start).toContain('validatorUrl: null')
  expect(html + start).not.toMatch(/https?:/)
  // Nor could anything else that it loads.
  const policy = page.headers.get('content-security-policy') ?? ''
  expect(policy).toContain("default-src 'self'")
  expect(policy).not.toMatch(/https?:|\*/)
  await rest.close()
})
