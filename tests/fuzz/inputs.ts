import fc from 'fast-check'

/** Request as bytes, with the method and the path from which it was built. */
export interface Input {
  readonly bytes: Buffer
  /** Method of the request line, if it has one. */
  readonly method: string
  /** Path of the request line, if it has one. */
  readonly path: string
}

/** Account in whose name the inputs are sent. */
export interface Caller {
  readonly id: number
  readonly sub: number
  readonly key: string
  readonly login: string
  readonly password: string
}

export interface Target {
  readonly by: 'rest' | 'asp' | 'xml' | 'raw'
  /** Path of an endpoint, or a name for bytes that are written to the socket. */
  readonly name: string
  readonly inputs: (caller: Caller) => fc.Arbitrary<Input>
}

const nasty = fc.constantFrom(
  ...['\0', '\ud800', '%00', '%', '%E9', '+', '&', '=', ';', ',', '"', "'", '\\', '\\u0000', '{', '}', '[', ']', ':'],
  ...[
    '<',
    '>',
    '</',
    '/>',
    '&amp;',
    '&#0;',
    '&#x1F600;',
    '&x;',
    '<!--',
    '-->',
    '<![CDATA[',
    ']]>',
    '<!DOCTYPE a>',
    '<?a?>',
  ],
  ...[
    '__proto__',
    'constructor',
    'null',
    'true',
    '1e3',
    '-1',
    '1.5',
    '9'.repeat(400),
    '0',
    'W1',
    ' ',
    '\t',
    '\n',
    '\r',
  ],
  ...['\u202e', '\ufeff', 'é', '€', '😀', 'ж', '\u00a0', "' or 1=1--", '../', '27825550101', '202602301200'],
)
const noise = fc.oneof(nasty, nasty, fc.string({ unit: 'binary', maxLength: 6 }))

/** Changes the text in one of `oneOf` cases by cutting, inserting and repeating pieces. */
function mutated(text: fc.Arbitrary<string>, oneOf = 6): fc.Arbitrary<string> {
  const edit = fc.record({
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    cut: fc.nat(12),
    put: noise,
    times: fc.constantFrom(1, 1, 1, 3, 300),
  })
  const changed = fc.tuple(text, fc.array(edit, { minLength: 1, maxLength: 3 })).map(([whole, edits]) =>
    edits.reduce((before, { at, cut, put, times }) => {
      const from = Math.floor(at * before.length)
      return before.slice(0, from) + put.repeat(times) + before.slice(from + cut)
    }, whole),
  )
  return fc.oneof({ weight: oneOf - 1, arbitrary: text }, { weight: 1, arbitrary: changed })
}

const often = <T>(usual: fc.Arbitrary<T>, other: fc.Arbitrary<T>, weight = 12) =>
  fc.oneof({ weight, arbitrary: usual }, { weight: 1, arbitrary: other })

const number = often(
  fc.integer({ min: 0, max: 99_999_99 }).map((n) => `2782${String(n).padStart(7, '0')}`),
  fc.oneof(noise, fc.constantFrom('0825550101', '+27825550101', '', '447700900123', '40404')),
  5,
)
const text = often(
  fc.constantFrom('Hello', 'Привет', '€'.repeat(459), 'x'.repeat(918), 'a\nb'),
  fc.oneof(noise, fc.string({ unit: 'binary' })),
  4,
)
const time = fc.constantFrom('209901010000', '209901010000', '202001010000', '', ' ', '202602301200', 'tomorrow')
const id = often(fc.integer({ min: 1, max: 50_000 }), fc.constantFrom(0, -1, 1.5, Number.MAX_SAFE_INTEGER, 2 ** 53))
const ids = fc.oneof(
  { weight: 20, arbitrary: fc.array(id, { minLength: 0, maxLength: 8 }) },
  { weight: 1, arbitrary: fc.integer({ min: 90, max: 1010 }).map((n) => Array.from({ length: n }, (_, i) => i + 1)) },
)
const quantity = often(fc.integer({ min: 1, max: 3 }), fc.constantFrom(0, -1, 0.5, 1e12, 1e13))

const line = (value: string): string => value.replace(/[\r\n\0]/g, ' ')
const header = (name: string, value: string | undefined): string =>
  value === undefined ? '' : `${name}: ${line(value)}\r\n`

function requestOf(method: string, path: string, headers: string, body: Buffer | undefined): Input {
  const safe = line(path).replace(/ /g, '%20')
  const length = body === undefined ? '' : `Content-Length: ${body.length}\r\n`
  const head = Buffer.from(`${method} ${safe} HTTP/1.1\r\nHost: x\r\n${headers}${length}\r\n`)
  return { bytes: Buffer.concat([head, body ?? Buffer.alloc(0)]), method, path: safe }
}

const method = (usual: string) =>
  often(fc.constant(usual), fc.constantFrom('GET', 'POST', 'HEAD', 'PUT', 'DELETE', 'OPTIONS', 'PATCH', 'BREW'), 30)
const pathOf = (path: string) =>
  often(
    fc.constant(path),
    fc.constantFrom(`${path}/`, `${path}//`, path.toUpperCase(), `${path}%00`, `${path};x`, `/${path}`),
    30,
  )
const encoding = often(fc.constant<BufferEncoding>('utf8'), fc.constantFrom('latin1', 'utf16le'), 20)
/** In most cases no reference or a new one, sometimes one that occurs again. */
const reference = often(
  fc.constant<string | undefined>(undefined),
  fc.oneof(fc.uuid(), fc.constantFrom('again', '', ' ', 'é', 'x'.repeat(256))),
  8,
)

const validity = often(
  fc.constantFrom('1', '60', '4320'),
  fc.oneof(fc.constantFrom('0', '4321', '-1', '1e3'), noise),
  30,
)

const priority = often(fc.constantFrom('0', '3'), fc.oneof(fc.constantFrom('4', '-1', '1e0'), noise), 40)
const flash = often(fc.constantFrom('true', '0'), fc.oneof(fc.constantFrom('TRUE', '2'), noise), 40)

function restInputs(path: fc.Arbitrary<string>, verb: string, content: fc.Arbitrary<unknown>) {
  const isInQuery = verb === 'GET' || verb === 'DELETE'
  return ({ key }: Caller): fc.Arbitrary<Input> =>
    fc
      .record({
        verb: method(verb),
        path: path.chain((each) => pathOf(`/api/rest/v1${each}`)),
        key: often(
          fc.constantFrom<string | undefined>(key, `Bearer ${key}`),
          fc.oneof(fc.constant(undefined), noise),
          30,
        ),
        type: often(
          fc.constant<string | undefined>('application/json'),
          fc.constantFrom('application/json; charset=utf-8', 'text/plain', '', undefined),
          20,
        ),
        encoded: often(fc.constant<string | undefined>(undefined), fc.constantFrom('gzip', 'identity'), 60),
        reference,
        content: mutated(isInQuery ? (content as fc.Arbitrary<string>) : content.map((body) => JSON.stringify(body))),
        encoding,
      })
      .map(
        ({
          verb: other,
          path: at,
          key: authorization,
          type,
          encoded,
          reference: again,
          content: sent,
          encoding: bytes,
        }) => {
          const headers =
            header('Authorization', authorization) +
            header('Content-Encoding', encoded) +
            header('Idempotency-Key', again)
          // Never deletes the initial resources, because later inputs need them.
          const used = other === 'DELETE' ? verb : other
          return isInQuery
            ? requestOf(used, sent === '' ? at : `${at}?${sent}`, headers, undefined)
            : requestOf(used, at, headers + header('Content-Type', type), Buffer.from(sent, bytes))
        },
      )
}

const recipient = fc.record(
  { mobileNumber: number, clientMessageId: fc.option(noise) },
  { requiredKeys: ['mobileNumber'] },
)
const sending = fc.record(
  {
    message: text,
    recipients: fc.array(recipient, { minLength: 1, maxLength: 4 }),
    scheduledTime: time,
    maxSegments: often(fc.constantFrom<unknown>(1, 6, null), fc.constantFrom<unknown>(0, 7, '6', {})),
    sender: often(
      fc.constantFrom<unknown>(null, '', ' '),
      fc.oneof(fc.constantFrom<unknown>('Acme', '31022', 7), noise),
    ),
    priority: often(fc.constantFrom<unknown>(0, 3, null), fc.constantFrom<unknown>(4, -1, '2', {}), 40),
    flash: often(fc.constantFrom<unknown>(true, false, null), fc.constantFrom<unknown>(1, 'true', {}), 40),
    validityMinutes: often(
      fc.constantFrom<unknown>(1, 4320, null),
      fc.constantFrom<unknown>(0, 4321, '6', 1e9, {}),
      40,
    ),
  },
  { requiredKeys: ['message', 'recipients'] },
)
const page = fc.record(
  {
    offset: often(fc.nat(50).map(String), noise, 5),
    limit: often(fc.integer({ min: 1, max: 1000 }).map(String), noise, 5),
  },
  { requiredKeys: [] },
)
const pageQuery = page.map((fields) =>
  Object.entries(fields)
    .map(([name, value]) => `${name}=${encode(value)}`)
    .join('&'),
)

/** Encodes like encodeURIComponent, also halves of surrogate pairs. */
const encode = (value: string): string => encodeURIComponent(Buffer.from(value).toString())

const transfer = ({ id: own, sub }: Caller) => {
  const account = often(fc.constantFrom<unknown>(own, sub), fc.constantFrom<unknown>(1, 99, 0, -1, 'W1', null), 5)
  return fc.record({ sendingAccountNumber: account, receivingAccountNumber: account, transferQuantity: quantity })
}

const anyOf = <T>(one: fc.Arbitrary<T>) => fc.option(one, { nil: undefined })
const webhook = {
  url: often(
    fc.constantFrom('https://receiver.invalid/events', 'https://receiver.invalid:8443/?a=b'),
    fc.oneof(noise, fc.constantFrom('http://127.0.0.1/', 'https://[::1]/', 'https://a:b@receiver.invalid/', 'ftp://a')),
    5,
  ),
  events: anyOf(often<unknown>(fc.constant(['optout.removed']), fc.oneof(fc.array(noise), noise), 8)),
  listSize: anyOf(often(fc.integer({ min: 1, max: 100 }), fc.constantFrom<unknown>(0, 101, '1', {}), 8)),
  withText: anyOf(often<unknown>(fc.boolean(), noise, 8)),
}
const change = {
  ...webhook,
  url: anyOf(webhook.url),
  state: anyOf(often(fc.constantFrom('active', 'paused'), noise, 8)),
}
const replay = fc.oneof(
  fc.constant({ dead: true }),
  fc.record({ event: often(fc.constantFrom('message-1-4', 'inbound-1', 'test-1'), noise) }),
  fc.record({ from: time, to: time }),
)
const rotation = fc.record({ overlapHours: anyOf(often(fc.nat(168), fc.constantFrom<unknown>(-1, 169, '1', 0.5))) })
/** Ids of the initial webhooks of the caller, and other ids. */
const webhookId = often(
  fc.integer({ min: 1, max: 5 }).map(String),
  fc.constantFrom('0', '99', '01', '-1', 'x', '9'.repeat(10), '9'.repeat(17), '9'.repeat(400), '%31'),
)
const ofWebhook = (rest = '') => webhookId.map((id) => `/webhooks/${id}${rest}`)
/** Paths of webhooks that do not exist, so that the existing ones are not deleted. */
const ofNone = fc.integer({ min: 1000, max: 9999 }).map((id) => `/webhooks/${id}`)
const webhooks: readonly Target[] = (
  [
    ['GET', '/webhooks', fc.constant('/webhooks'), fc.constant('')],
    ['POST', '/webhooks', fc.constant('/webhooks'), fc.record(webhook)],
    ['GET', '/webhooks/{id}', ofWebhook(), fc.constant('')],
    ['PATCH', '/webhooks/{id}', ofWebhook(), fc.record(change)],
    ['DELETE', '/webhooks/{id}', ofNone, fc.constant('')],
    ['POST', '/webhooks/{id}/rotate', ofWebhook('/rotate'), rotation],
    ['POST', '/webhooks/{id}/test', ofWebhook('/test'), fc.constant({})],
    ['POST', '/webhooks/{id}/replay', ofWebhook('/replay'), replay],
    ['GET', '/webhooks/{id}/attempts', ofWebhook('/attempts'), pageQuery],
  ] as const
).map(([verb, name, path, content]) => ({
  by: 'rest',
  name: `${verb} ${name}`,
  inputs: restInputs(path, verb, content),
}))

const rest: readonly Target[] = [
  ...webhooks,
  ...(
    [
      ['/sms/outgoing/send', 'POST', sending],
      ['/sms/outgoing/sendmulti', 'POST', fc.record({ messages: fc.array(sending, { minLength: 1, maxLength: 2 }) })],
      ['/sms/outgoing/status', 'POST', ids],
      ['/sms/scheduled/delete', 'POST', ids],
      ['/credits/balance', 'GET', fc.constant('')],
      ['/sms/incoming', 'GET', pageQuery],
      ['/sms/incoming/optout', 'GET', fc.constant('')],
      ['/shortcode/incoming', 'GET', pageQuery],
      ['/sms/scheduled', 'GET', pageQuery],
      ['/subaccounts', 'GET', fc.constant('')],
    ] as const
  ).map(
    ([path, verb, content]) =>
      ({ by: 'rest', name: path, inputs: restInputs(fc.constant(path), verb, content) }) as const,
  ),
  {
    by: 'rest',
    name: '/credits/transfer',
    inputs: (caller) => restInputs(fc.constant('/credits/transfer'), 'POST', transfer(caller))(caller),
  },
]

type Fields = readonly (readonly [name: string, value: fc.Arbitrary<string | undefined>])[]

function aspInputs(path: string, fields: (caller: Caller) => Fields) {
  return (caller: Caller): fc.Arbitrary<Input> => {
    const { key, login, password } = caller
    const byPair = `user=${login}&password=${encode(password)}`
    const credentials = often(
      fc.constantFrom(`apikey=${key}`, `APIKEY=${key}`, byPair),
      fc.constantFrom('', 'apikey=x', `apikey=${key}&apikey=${key}`),
      30,
    )
    const own = fields(caller)
    const values = fc.tuple(...own.map(([, value]) => value))
    const query = fc
      .tuple(credentials, values)
      .map(([credential, fieldValues]) =>
        [
          credential,
          ...own.flatMap(([name], i) => (fieldValues[i] === undefined ? [] : [`${name}=${encode(fieldValues[i])}`])),
        ].join('&'),
      )
    const form = often(
      fc.constant('application/x-www-form-urlencoded'),
      fc.constantFrom('text/plain', 'application/x-www-form-urlencoded; charset=utf-8', ''),
    )
    return fc
      .record({ verb: method('GET'), path: pathOf(`/api${path}`), query: mutated(query), inBody: fc.nat(5), form })
      .map(({ verb, path: at, query: sent, inBody, form: type }) =>
        inBody === 0
          ? requestOf('POST', at, header('Content-Type', type), Buffer.from(sent))
          : requestOf(verb, `${at}?${Buffer.from(sent).toString()}`, '', undefined),
      )
  }
}

const joined = (one: fc.Arbitrary<unknown>, maxLength: number) =>
  fc
    .tuple(fc.array(one, { maxLength }), fc.constantFrom(';', ';;', ''))
    .map(([all, end]) => all.map(String).join(';') + end)
const idList = fc.oneof(
  { weight: 20, arbitrary: joined(id, 8) },
  { weight: 1, arbitrary: fc.integer({ min: 95, max: 105 }).map((n) => '1;'.repeat(n)) },
)
const asp: readonly Target[] = (
  [
    ['/auth.asp', () => []],
    ['/credits.asp', () => []],
    [
      '/batchmessage.asp',
      () => [
        ['message', text],
        ['numbers', joined(number, 4)],
        ['scheduled', fc.option(time, { nil: undefined })],
        ['sender', often(fc.constant(undefined), noise, 5)],
        ['validity', fc.option(validity, { nil: undefined })],
        ['priority', fc.option(priority, { nil: undefined })],
        ['flash', fc.option(flash, { nil: undefined })],
        ['clientref', reference],
      ],
    ],
    ['/requestbatch.asp', () => [['messageid', idList]]],
    ['/deletescheduled.asp', () => [['messageid', idList]]],
    ['/httpgetreplies.asp', () => [['excludesc', fc.option(fc.constantFrom('true', '1', 'x'), { nil: undefined })]]],
    ['/httpgetscmessages.asp', () => []],
    ['/listoptouts.asp', () => []],
    [
      '/creditstransfer.asp',
      ({ id: own, sub }) => [
        ['fromAccountId', fc.constantFrom(String(own), String(sub), '99', 'W1')],
        ['toAccountId', fc.constantFrom(String(own), String(sub), '99', '')],
        ['transferQuantity', quantity.map(String)],
        ['clientref', reference],
      ],
    ],
  ] as readonly (readonly [string, (caller: Caller) => Fields])[]
).map(([path, fields]) => ({ by: 'asp', name: path, inputs: aspInputs(path, fields) }))

const escaped = (value: string): string => value.replace(/[&<>]/g, (each) => `&#${each.charCodeAt(0)};`)
const element = (name: string, content: fc.Arbitrary<string>) =>
  content.map((inside) => (inside === '' ? `<${name}/>` : `<${name}>${inside}</${name}>`))
const several = (one: fc.Arbitrary<string>, maxLength: number) =>
  fc.array(one, { minLength: 1, maxLength }).map((all) => all.join(''))
const optional = (one: fc.Arbitrary<string>) => fc.option(one, { nil: '' })
const sequence = (...parts: readonly fc.Arbitrary<string>[]) => fc.tuple(...parts).map((all) => all.join(''))

function xmlInputs(path: string, root: string, content: fc.Arbitrary<string>) {
  return ({ key, login, password }: Caller): fc.Arbitrary<Input> => {
    const byKey = `<ApiKey>${key}</ApiKey>`
    const credentials = often(
      fc.constantFrom(byKey, `<User/>${byKey}`, `<User>${login}</User><Password>${password}</Password>`),
      fc.constantFrom('', '<ApiKey>x</ApiKey>', byKey + byKey),
      30,
    )
    const declaration = fc.constantFrom(
      '',
      '',
      '<?xml version="1.0" encoding="utf-8"?>',
      '<?xml version="1.0" encoding="utf-16"?>',
      '\ufeff',
    )
    const roots = often(fc.constant(root), fc.constantFrom(root.replace('Svc', 'Acme'), 'Svc_Replies', 'a'))
    const document = fc
      .tuple(declaration, roots, credentials, content)
      .map(([start, name, credential, inside]) => `${start}<${name}>${credential}${inside}</${name}>`)
    const type = fc.constantFrom<string | undefined>(
      'text/xml',
      'text/xml',
      'application/xml; charset=utf-8',
      'text/xml; charset=x',
      undefined,
    )
    return fc
      .record({ verb: method('POST'), path: pathOf(`/api${path}`), document: mutated(document), type, encoding })
      .map(({ verb, path: at, document: sent, type: contentType, encoding: bytes }) =>
        requestOf(verb, at, header('Content-Type', contentType), Buffer.from(sent, bytes)),
      )
  }
}

const xmlIds = element(
  'MessageIDs',
  several(
    element('MessageID', sequence(element('ID', id.map(String)), optional(element('CLI', noise.map(escaped))))),
    6,
  ),
)
const xmlMessage = element(
  'Message',
  sequence(
    element(
      'MessageText',
      text.map((value) => encode(value).replaceAll('%20', '+')),
    ),
    optional(element('Sender', often(fc.constantFrom('', ' '), noise.map(escaped), 5))),
    optional(element('ValidityMinutes', validity.map(escaped))),
    optional(element('Priority', priority.map(escaped))),
    optional(element('Flash', flash.map(escaped))),
    element('Numbers', several(element('Number', number.map(escaped)), 4)),
  ),
)
const xml: readonly Target[] = (
  [
    [
      '/xmlsendsmsmulti.asp',
      'Svc_Multi_Message',
      sequence(
        optional(element('Scheduled', time)),
        reference.map((value) => (value === undefined ? '' : `<ClientRef>${escaped(value)}</ClientRef>`)),
        element('Messages', several(xmlMessage, 2)),
      ),
    ],
    ['/xmlgetstatus.asp', 'Svc_StatusRequest', xmlIds],
    ['/xmldeletescheduled.asp', 'Svc_DeleteScheduled', xmlIds],
    ['/xmlgetreplies.asp', 'Svc_Replies', fc.constant('')],
    ['/xmlgetscmessages.asp', 'Svc_SCmessages', fc.constant('')],
  ] as const
).map(([path, root, content]) => ({ by: 'xml', name: path, inputs: xmlInputs(path, root, content) }))

const endpoints: readonly Target[] = [...rest, ...asp, ...xml]

/** Bytes of any kind, and requests with changed, inserted and missing bytes. */
const raw: Target = {
  by: 'raw',
  name: 'the socket',
  inputs: (caller) => {
    const requests = fc.oneof(...endpoints.map(({ inputs }) => inputs(caller)))
    const change = fc.record({
      at: fc.double({ min: 0, max: 1, noNaN: true }),
      cut: fc.nat(4),
      put: fc.uint8Array({ maxLength: 2 }),
    })
    const changed = fc
      .tuple(requests, fc.array(change, { maxLength: 2 }), fc.double({ min: 0.3, max: 1, noNaN: true }))
      .map(([{ bytes }, changes, share]) => {
        const whole = changes.reduce((before, { at, cut, put }) => {
          const from = Math.floor(at * before.length)
          return Buffer.concat([before.subarray(0, from), put, before.subarray(from + cut)])
        }, bytes)
        return whole.subarray(0, Math.ceil(whole.length * (share > 0.5 ? 1 : share)))
      })
    const any = fc.uint8Array({ minLength: 1, maxLength: 200 }).map((bytes) => Buffer.from(bytes))
    return fc
      .oneof({ weight: 5, arbitrary: changed }, { weight: 1, arbitrary: any })
      .map((bytes) => ({ bytes, method: '', path: '' }))
  },
}

/** Every endpoint of the three interfaces, and the socket itself. */
export const targets: readonly Target[] = [...endpoints, raw]
