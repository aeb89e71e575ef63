import { readFile } from 'node:fs/promises'
import { testSeed } from '@gateway/core/testing'
import fc from 'fast-check'
import request from 'supertest'
import { serveXml, type Served } from '../testing/serve-xml.ts'
import { areOf, complaints, type Schema } from '../testing/validate.ts'
import { documents } from './documents.ts'

const operations: readonly (readonly [path: string, root: string, schema: Schema])[] = [
  ['xmlsendsmsmulti.asp', 'Svc_Multi_Message', 'send-request'],
  ['xmlgetstatus.asp', 'Svc_StatusRequest', 'status-request'],
  ['xmldeletescheduled.asp', 'Svc_DeleteScheduled', 'delete-request'],
  ['xmlgetreplies.asp', 'Svc_Replies', 'replies-request'],
  ['xmlgetscmessages.asp', 'Svc_SCmessages', 'short-code-request'],
]

let served: Served
beforeAll(async () => {
  served = await serveXml({ options: { credits: 1_000_000 } })
})

const seed = testSeed()

const escaped = (text: string): string =>
  text.replace(/[&<>]|[^\t\n\r\x20-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, (each) =>
    each >= ' ' && each <= '>' ? `&#${each.charCodeAt(0)};` : ' ',
  )
const text = fc.oneof(fc.string({ maxLength: 12 }), fc.string({ unit: 'binary', maxLength: 12 })).map(escaped)
const space = fc.constantFrom('', '', ' ', '\n', '<!-- & -->', '<?pi?>')
const around = (value: fc.Arbitrary<string>) =>
  fc
    .tuple(fc.constantFrom('', '', ' ', '\r\n\t'), value, fc.constantFrom('', '', ' ', '<!---->'))
    .map((all) => all.join(''))
const element = (name: string, content: fc.Arbitrary<string>) =>
  content.map((inside) => (inside === '' ? `<${name}/>` : `<${name}>${inside}</${name}>`))
const many = (one: fc.Arbitrary<string>, minLength: number) =>
  fc
    .tuple(
      space,
      fc.array(
        fc.tuple(one, space).map((pair) => pair.join('')),
        { minLength, maxLength: 3 },
      ),
    )
    .map((all) => all.flat().join(''))
/** Joins elements in any order with white space between them. */
const all = (...parts: readonly fc.Arbitrary<string>[]) =>
  fc
    .tuple(fc.tuple(...parts), space, fc.integer())
    .map(([pieces, between, seed]) => (seed % 2 === 0 ? pieces : pieces.toReversed()).join(between))

const digits = (min: number, max: number) => fc.integer({ min, max }).map(String)
const two = (max: number) => fc.integer({ min: 0, max }).map((value) => String(value).padStart(2, '0'))
const minute = fc
  .tuple(fc.integer({ min: 0, max: 9999 }), two(13), two(32), two(24), two(60))
  .map(([year, ...rest]) => String(year).padStart(4, '0') + rest.join(''))
const number = element(
  'Number',
  around(
    fc.oneof(
      digits(1_000_000, 999_999_999_999),
      fc.constantFrom('27825550101', '278255501012345', '1234567'),
      fc.constantFrom('27825550101', '+278', '27825550101', ''),
    ),
  ),
)
const validity = fc.oneof(
  fc.constant(''),
  element('ValidityMinutes', around(fc.oneof(digits(1, 4320), fc.constantFrom('', '007', '0', '4321', 'x')))),
)
const mostly = (fitting: readonly string[], others: readonly string[]) =>
  fc.oneof({ arbitrary: fc.constantFrom(...fitting), weight: 19 }, fc.constantFrom(...others))
const priority = fc.oneof(fc.constant(''), element('Priority', around(mostly(['0', '3', ''], ['4', '03']))))
const flash = fc.oneof(
  fc.constant(''),
  element('Flash', around(mostly(['true', 'False', 'TRUE', '0', ''], ['yes', '2']))),
)
const id = element('ID', around(fc.oneof(digits(0, 1e15), fc.constantFrom('00', '99999999999999999999', 'W1'))))

const contents: Readonly<Record<string, readonly fc.Arbitrary<string>[]>> = {
  'send-request': [
    element('ClientRef', around(fc.oneof(fc.uuid(), fc.constant('')))),
    element('Scheduled', around(fc.oneof(minute, fc.constantFrom('', '202402291200', '209901010000')))),
    element(
      'Messages',
      many(
        element(
          'Message',
          all(element('MessageText', text), validity, priority, flash, element('Numbers', many(number, 1))),
        ),
        1,
      ),
    ),
  ],
  'status-request': [element('MessageIDs', many(element('MessageID', all(id, element('CLI', text))), 1))],
  'delete-request': [element('MessageIDs', many(element('MessageID', all(element('CLI', text), id)), 1))],
  'replies-request': [],
  'short-code-request': [],
}

test.each(operations)('%s reads every generated document of its schema', async (path, root, schema) => {
  const document = element(
    root,
    all(
      element('ApiKey', around(fc.constant(served.key))),
      element('User', text),
      element('Password', text),
      ...(contents[schema] ?? []),
    ),
  )
  const documents = fc.sample(document, { numRuns: 150, seed })
  const ofSchema = await areOf(schema, documents)
  const valid = documents.filter((_, at) => ofSchema[at])
  expect(valid.length).toBeGreaterThan(20)
  for (const each of valid) {
    const { text: answered } = await served.post(`/api/${path}`, each)
    expect([each, answered.includes('<Error>')]).toEqual([each, false])
  }
})

test.each(operations)(
  'the schema of %s has something against the request of another operation',
  async (_path, _root, schema) => {
    const others = operations
      .filter(([, , other]) => other !== schema)
      .map(([, root]) => `<${root}><ApiKey>x</ApiKey></${root}>`)
    expect(await areOf(schema, others)).toEqual(others.map(() => false))
  },
)

const days = ['0001', '0100', '0400', '1900', '2024', '2026', '9999'].flatMap((year) =>
  ['00', '01', '02', '04', '13'].flatMap((month) =>
    ['00', '01', '28', '29', '30', '31', '32'].map((day) => `${year}${month}${day}0000`),
  ),
)

test('the schema of a send accepts the same dates as the gateway', async () => {
  const minutes = [...days, '000001010000', '202610182359', '202610182400', '202610182360', '20261018240']
  const documents = minutes.map(
    (each) =>
      `<Svc_Multi_Message><ApiKey>${served.key}</ApiKey><Scheduled>${each}</Scheduled><Messages><Message><MessageText>a</MessageText><Numbers><Number>2782555010</Number></Numbers></Message></Messages></Svc_Multi_Message>`,
  )
  const ofSchema = await areOf('send-request', documents)
  for (const [at, each] of documents.entries()) {
    const { text: answered } = await served.post('/api/xmlsendsmsmulti.asp', each)
    expect([minutes[at], !answered.includes('Invalid Date')]).toEqual([minutes[at], ofSchema[at]])
  }
})

test('the examples of the documentation are valid according to their schemas', async () => {
  const page = await readFile(new URL('../../../docs/interfaces/xml.md', import.meta.url), 'utf8')
  const found = Array.from(
    page.matchAll(/<Svc_(\w+)>[\s\S]*?<\/Svc_\1>|<(XMLGateway\w+)>[\s\S]*?<\/\2>/g),
    ([all_]) => all_,
  )
  expect(found.length).toBeGreaterThan(5)
  const roots = new Map<string, Schema>(operations.map(([, root, schema]) => [root, schema]))
  for (const [root, name] of [
    ['XMLGateway_Response', 'send-response'],
    ['XMLGatewayStatus_Response', 'status-response'],
    ['XMLGatewayDeleteScheduled_Response', 'delete-response'],
    ['XMLGateway_Replies', 'replies-response'],
  ] as const)
    roots.set(root, name)
  for (const example of found) {
    const schema = roots.get(/^<(\w+)/.exec(example)?.[1] ?? '')
    if (schema === undefined) throw new Error(`no schema: ${example}`)
    expect(await complaints(schema, [example])).toEqual([])
  }
})

test('the schemas are served without a key, and listed', async () => {
  const page = await request(served.app).get('/docs/xml/')
  const links = Array.from(page.text.matchAll(/href="([^"]*)"/g), ([, name = '']) => name)
  expect(links).toHaveLength(10)
  expect([...documents.keys()]).toEqual(['/docs/xml/', ...links.map((name) => `/docs/xml/${name}`)])
  for (const name of links) {
    const { status, headers } = await request(served.app).get(`/docs/xml/${name}`)
    expect([status, headers['content-type']]).toEqual([200, 'application/xml; charset=utf-8'])
  }
})
