import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sameCarrier } from './carrier-specification.ts'
import { carriersSchema } from './carriers-schema.ts'
import { readCarriersFile } from './document.ts'

let folder: string
beforeAll(async () => (folder = await mkdtemp(join(tmpdir(), 'carriers-'))))
afterAll(() => rm(folder, { recursive: true }))

const variables = { MTN_PASSWORD: 'hidden', MTN_URL: 'smpp://me:hidden@mtn.example?window=7' }

async function read(document: unknown) {
  const path = join(folder, 'carriers.json')
  await writeFile(path, typeof document === 'string' ? document : JSON.stringify(document))
  return readCarriersFile(path, variables)
}

const problemOf = (document: unknown): Promise<string> =>
  read(document).then(
    () => 'none',
    (error: unknown) => (error as Error).message,
  )

const spelled = { host: 'smsc.example', systemId: 'me', password: 'hidden' }

test('the published schema is the one that files are checked with', async () => {
  const published = await readFile(new URL('../../../docs/carriers.schema.json', import.meta.url), 'utf8')
  expect(JSON.parse(published)).toEqual(carriersSchema)
})

test('a carrier that is spelled out is the same as its URL', async () => {
  const errors = { '0x45': 'for-now', '11': 'throttle' }
  const { carriers } = await read({
    carriers: [
      { name: 'a', ...spelled, port: 2776, window: 10, source: '5.0', utcOffset: '-05:30', errors, numbers: 'national', country: '27' },
      { name: 'a-url', url: 'smpp://me:hidden@smsc.example:2776?window=10&source=5.0&utcOffset=-05:30&errors=11:throttle;0x45:for-now&numbers=national&country=27' },
    ],
  }) // prettier-ignore
  const [one, other] = carriers
  expect(one && other && sameCarrier({ ...one, id: other.id }, other)).toBe(true)
  expect(one && other && sameCarrier(one, other)).toBe(false)
})

test('secrets and certificates come from variables and from files below the folder of the file', async () => {
  await writeFile(join(folder, 'password'), 'from fi\n')
  await writeFile(join(folder, 'ca.pem'), 'a certificate')
  const { carriers } = await read({
    carriers: [
      { name: 'one', ...spelled, systemId: { environment: 'MTN_PASSWORD' }, password: { file: 'password' } },
      { name: 'two', url: { environment: 'MTN_URL' } },
      { name: 'three', ...spelled, tls: true, ca: 'ca.pem' },
      { name: 'four', url: 'simulator:?window=3' },
    ],
  })
  expect(carriers).toMatchObject([
    { settings: { systemId: 'hidden', password: 'from fi', port: 2775, tls: undefined } },
    { settings: { host: 'mtn.example', password: 'hidden', window: 7 } },
    { settings: { port: 3550, tls: { ca: 'a certificate' } } },
    { id: 'four', kind: 'simulator', settings: { window: 3 } },
  ])
})

const twilio = { type: 'http', provider: 'twilio', secrets: { sid: { environment: 'MTN_PASSWORD' }, token: 'hidden' } }

test('a document may contain HTTP and SMPP carriers; those over SMPP need no type', async () => {
  await writeFile(join(folder, 'old-token'), 'from fi\n')
  const tokens = [{ environment: 'MTN_PASSWORD' }, { file: 'old-token' }]
  const path = join(folder, 'http.json')
  const document = {
    carriers: [
      { name: 'main', ...twilio, from: '+15005550006' },
      { name: 'two', ...twilio, secrets: { ...twilio.secrets, token: tokens }, baseUrl: 'http://10.1.2.3:8080', window: 7 },
      { name: 'three', type: 'smpp', ...spelled },
      { name: 'four', ...spelled },
    ],
  }
  await writeFile(path, JSON.stringify(document))
  const more = { PUBLIC_URL: 'https://gw.example', CARRIER_HTTP_ALLOW: '192.168.0.0/16, 10.0.0.0/8' }
  const { carriers, source } = await readCarriersFile(path, { ...variables, ...more })
  expect(carriers).toMatchObject([
    { kind: 'http', settings: { provider: 'twilio', secrets: { sid: ['hidden'], token: ['hidden'] }, publicUrl: 'https://gw.example' } },
    { kind: 'http', settings: { secrets: { token: ['hidden', 'from fi'] }, baseUrl: 'http://10.1.2.3:8080', window: 7 } },
    { kind: 'smpp' },
    { kind: 'smpp' },
  ])
  expect(source.environment).toEqual({ MTN_PASSWORD: 'hidden', ...more })
}) // prettier-ignore

test('omitted settings of routes have their defaults', async () => {
  const { routes } = await read({
    carriers: [{ name: 'one', url: 'simulator:' }],
    routes: [
      { name: 'south-africa', prefixes: ['27'], accounts: [7], senders: ['12025550100'], carriers: [{ carrier: 'one', priority: 2, weight: 30 }] },
      { name: 'some', prefixes: ['44'], carriers: [{ carrier: 'one' }], overflow: { bulk: 600 } },
      { name: 'others', prefixes: ['49'], carriers: [{ carrier: 'one' }], overflow: { single: 'never' } },
      { name: 'all', carriers: [{ carrier: 'one' }], overflow: { single: 2, bulk: 'never' } },
    ],
  }) // prettier-ignore
  expect(routes).toEqual([
    { name: 'south-africa', prefixes: ['27'], accounts: [7], senders: ['12025550100'], carriers: [{ carrier: 'one', priority: 2, weight: 30 }] },
    { name: 'some', prefixes: ['44'], accounts: [], senders: [], carriers: [{ carrier: 'one', priority: 1, weight: 1 }], overflow: { single: 2, bulk: 600 } },
    { name: 'others', prefixes: ['49'], accounts: [], senders: [], carriers: [{ carrier: 'one', priority: 1, weight: 1 }], overflow: { single: 'never', bulk: 'never' } },
    { name: 'all', prefixes: [], accounts: [], senders: [], carriers: [{ carrier: 'one', priority: 1, weight: 1 }] },
  ]) // prettier-ignore
})

test.each<[unknown, ...string[]]>([
  ['{"carriers": [{"password": "hidden" "x": 1}]}', 'line 1, column 37: this is not JSON'],
  ['{\n  "carriers": hidden\n}', 'line 2, column 15: this is not JSON'],
  ['[]', '/: object is expected'],
  [{ carriers: [] }, '/carriers: must NOT have fewer than 1 items'],
  [{ carriers: [{ name: 'a', ...spelled }], extra: 1 }, '/: there is no field "extra"'],
  [{ carriers: [{ ...spelled }] }, '/carriers/0: "name" is missing'],
  [{ carriers: [{ name: 'a', host: 'h', systemId: 'me' }] }, '/carriers/0: "password" is missing'],
  [{ carriers: [{ name: 'A', ...spelled }] }, '/carriers/0/name: must match pattern'],
  [{ carriers: [{ name: 'a', ...spelled, windows: 1 }] }, '/carriers/0: there is no field "windows"'],
  [{ carriers: [{ name: 'a', ...spelled, window: 0, long: 'x' }] }, '/carriers/0/window: must be >= 1', '/carriers/0/long: one of udh-8, '],
  [{ carriers: [{ name: 'a', url: 'simulator:', window: 1 }] }, '/carriers/0: "window" cannot stand beside "url"'],
  [{ carriers: [{ name: 'a', ...spelled, password: 4711 }] }, '/carriers/0/password: string or object is expected'],
  [{ carriers: [{ name: 'a', ...spelled, password: { env: 'hidden' } }] }, '/carriers/0/password: there is no field "env"'],
  [{ carriers: [{ name: 'a', ...spelled, errors: { often: 'final' } }] }, '/carriers/0/errors: "often" is not an error code'],
  [{ carriers: [{ name: 'a', ...spelled, errors: { '0x45': 'never' } }] }, '/carriers/0/errors/0x45: one of final, '],
  [{ carriers: [{ name: 'a', ...spelled, source: '300.0' }] }, '/carriers/0 (a): ', 'source is wrong: ton.npi is expected'],
  [{ carriers: [{ name: 'a', ...spelled, password: 'hidden-too-long'.repeat(5) }] }, '/carriers/0 (a): ', 'the password has more than 64'],
  [{ carriers: [{ name: 'a', ...spelled, password: { environment: 'NONE' } }] }, '/carriers/0 (a): password: the variable NONE is not set'],
  [{ carriers: [{ name: 'a', ...spelled, password: { file: 'none' } }] }, '/carriers/0 (a): password: none cannot be read'],
  [{ carriers: [{ name: 'a', ...spelled, ca: 'ca.pem' }] }, '/carriers/0 (a): ', 'unknown parameter "ca"'],
  [{ carriers: [{ name: 'a', ...spelled, tls: true, ca: 'none.pem' }] }, '/carriers/0 (a): ', 'none.pem cannot be read'],
  [{ carriers: [{ name: 'a', url: 'ftp://me:hidden@host' }] }, '/carriers/0 (a): the URL is of an unknown kind'],
  [{ carriers: [{ name: 'a', ...spelled }, { name: 'a', ...spelled }] }, '/carriers/1 (a): an earlier carrier has the same name, "a"'],
  [{ carriers: [{ name: 'a', type: 'http', provider: 'twilio' }] }, '/carriers/0: "secrets" is missing'],
  [{ carriers: [{ name: 'a', type: 'ftp', ...spelled }] }, '/carriers/0/type: one of smpp, http is expected'],
  [{ carriers: [{ name: 'a', ...twilio, systemId: 'me' }] }, '/carriers/0: there is no field "systemId"'],
  [{ carriers: [{ name: 'a', ...twilio, window: 5000 }] }, '/carriers/0/window: must be <= 1000'],
  [{ carriers: [{ name: 'a', ...twilio, secrets: { token: 7 } }] }, '/carriers/0/secrets/token: string or object or array is expected'],
  [{ carriers: [{ name: 'a', ...twilio, secrets: { sid: 'hidden' } }] }, '/carriers/0 (a): secrets: "token" is missing'],
  [{ carriers: [{ name: 'a', ...twilio, secrets: { sid: { environment: 'NONE' } } }] }, '/carriers/0 (a): secrets/sid: the variable NONE is not set'],
  [{ carriers: [{ name: 'a', ...twilio, provider: 'twillio' }] }, '/carriers/0 (a): provider: one of twilio, vonage, '],
  [{ carriers: [{ name: 'a', ...twilio, baseUrl: 'http://sms.example' }] }, '/carriers/0 (a): baseUrl: plain http'],
  [{ carriers: [{ name: 'a', ...twilio, provider: { send: { url: 'https://sms.example/', form: { a: '{form}' } }, answer: { id: 'id', rules: [{ is: 'ok' }] } } }] }, '/carriers/0 (a): provider/answer/id: must match', '/carriers/0 (a): provider/answer/rules/0/is: one of accepted, '],
  [{ carriers: [{ name: 'a', ...spelled }], routes: [{ name: 'r', carriers: [] }] }, '/routes/0/carriers: must NOT have fewer'],
  [{ carriers: [{ name: 'a', ...spelled }], routes: [{ name: 'r', carriers: [{ carrier: 'a', weight: 0 }] }] }, '/routes/0/carriers/0/weight: must be >= 1'],
  [{ carriers: [{ name: 'a', ...spelled }], routes: [{ name: 'r', overflow: { single: -1, bulk: 'ever' }, carriers: [{ carrier: 'a' }] }] }, '/routes/0/overflow/single: must be >= 0', '/routes/0/overflow/bulk: must match pattern "^never$"'],
  [{ carriers: [{ name: 'a', ...spelled }], routes: [{ name: 'r', overflow: { single: true }, carriers: [{ carrier: 'a' }] }] }, '/routes/0/overflow/single: integer or string is expected'],
  [{ carriers: [{ name: 'a', ...spelled }], routes: [{ name: 'r', carriers: [{ carrier: 'b' }] }] }, '/routes/0 (r): there is no carrier b'],
  [{ carriers: [{ name: 'a', ...spelled }], routes: [{ name: 'r', prefixes: ['27'], carriers: [{ carrier: 'a' }] }] }, '/routes: the last route has conditions'],
])('%j is refused, with its places and without a secret: %s', async (document, ...words) => {
  const problem = await problemOf(document)
  for (const each of words) expect(problem).toContain(each)
  expect(problem).not.toContain('hidden')
}) // prettier-ignore
