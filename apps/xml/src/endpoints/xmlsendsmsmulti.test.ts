import { credits } from '@gateway/core/credits'
import type { Suppression, SuppressionScope } from '@gateway/core/suppressions'
import { instant } from '@gateway/core/time'
import { aNumber } from '@gateway/core/testing'
import { answer, errorIn, keyOf, serveXml, type Served, type Serving } from '../../testing/serve-xml.ts'

const path = '/api/xmlsendsmsmulti.asp'
const root = 'XMLGateway_Response'
const number = '27825550101'

const textElement = (text: string): string => `<MessageText>${text}</MessageText>`
const numbersElement = (numbers: readonly string[]): string =>
  `<Numbers>${numbers.map((each) => `<Number>${each}</Number>`).join('')}</Numbers>`
const message = (text = 'Hello', numbers: readonly string[] = [number]): string =>
  `<Message>${textElement(text)}${numbersElement(numbers)}</Message>`

interface Parts {
  readonly credentials?: string
  readonly scheduled?: string
  readonly messages?: string
}

const documentOf = (
  key: string,
  { credentials = `<ApiKey>${key}</ApiKey>`, scheduled = '', ...parts }: Parts,
): string =>
  `<Svc_Multi_Message>${credentials}${scheduled}<Messages>${parts.messages ?? message()}</Messages></Svc_Multi_Message>`

const result = (position: number, ...recipients: readonly (readonly [string, string | number])[]): string => {
  const rows = recipients.map(
    ([to, id]) => `<NumberID>${to === '' ? '<Number/>' : `<Number>${to}</Number>`}<ID>${id}</ID></NumberID>`,
  )
  return `<SendResult><MessageNumber>${position}</MessageNumber>${rows.join('')}</SendResult>`
}

async function serve(serving: Serving = {}) {
  const served = await serveXml(serving)
  return { ...served, send: (parts: Parts = {}) => served.post(path, documentOf(served.key, parts)) }
}

const textsOf = ({ orders }: Pick<Served, 'orders'>): readonly string[] =>
  orders.flatMap(({ texts }) => texts.map(({ body }) => body.text))

describe('a send is answered', () => {
  test('with the id of each recipient, in a document of one form', async () => {
    const { send } = await serve()
    const { status, headers, text } = await send({ messages: message('Hello', [number, '27825550102']) })
    expect(status).toBe(200)
    expect(headers).toMatchObject({ 'content-type': 'text/xml; charset=utf-8', 'cache-control': 'no-store' })
    expect(text).toBe(answer(root, result(1, [number, 1], ['27825550102', 2])))
  })

  test('by the position of each message and in request order within it', async () => {
    const { send } = await serve()
    const messages = message('One', [number, '27825550102']) + message('Two', ['27825550103', number])
    const { text } = await send({ messages })
    expect(text).toBe(
      answer(root, result(1, [number, 1], ['27825550102', 2]) + result(2, ['27825550103', 3], [number, 4])),
    )
  })

  test('with two ids and two charges for the same number twice', async () => {
    const { send, ports, account } = await serve({ wanted: { credits: 100 } })
    const { text } = await send({ messages: message('Hello', [number, number]) })
    expect(text).toBe(answer(root, result(1, [number, 1], [number, 2])))
    expect((await ports.accounts.find(account.id))?.balance).toBe(80)
  })

  test('with numbers as they were submitted, trimmed, refused ones too', async () => {
    const { send } = await serve()
    const { text } = await send({ messages: message('Hello', [`\n  ${number}\t`, ' +27825550101 ', 'a&amp;b&lt;c']) })
    expect(text).toBe(
      answer(root, result(1, [number, 1], ['+27825550101', 'FAIL:BADDEST'], ['a&amp;b&lt;c', 'FAIL:BADDEST'])),
    )
  })

  test('FAIL:NO NUMBER beside an empty Number, where the number is blank or there is none', async () => {
    const { send } = await serve()
    const without = [
      message('A', [' ']),
      message('B', []),
      `<Message>${textElement('C')}</Message>`,
      `<Message>${textElement('D')}<Number>${number}</Number></Message>`, // not in Numbers
      `<Message>${textElement('E')}<Numbers><Number/>${number}</Numbers></Message>`,
    ]
    const { text } = await send({ messages: without.join('') + message() })
    const refused = without.map((_, at) => result(at + 1, ['', 'FAIL:NO NUMBER']))
    expect(text).toBe(answer(root, refused.join('') + result(6, [number, 1])))
  })

  test('FAIL:NO MESSAGE for each number, where the text is blank or there is none', async () => {
    const { send } = await serve()
    const numbers = [number, '']
    const without = [
      message('', numbers),
      message(' %20+%0A ', numbers),
      message('<b>bold</b>', numbers),
      message('nul %00 byte', numbers),
      `<Message>${numbersElement(numbers)}</Message>`,
    ]
    const { text } = await send({ messages: without.join('') })
    const refused = without.map((_, at) => result(at + 1, [number, 'FAIL:NO MESSAGE'], ['', 'FAIL:NO MESSAGE']))
    expect(text).toBe(answer(root, refused.join('')))
  })

  test.each([
    ['918 septets are sent', 'a'.repeat(918), 1],
    ['919 are too long', 'a'.repeat(919), 'FAIL:TOOLONG'],
    ['459 signs of the extension table are sent', '%E2%82%AC'.repeat(459), 1],
    ['460 are too long', '%E2%82%AC'.repeat(460), 'FAIL:TOOLONG'],
  ])('%s', async (_, text, id) => {
    const { send } = await serve()
    expect((await send({ messages: message(text) })).text).toBe(answer(root, result(1, [number, id])))
  })

  test('NOCREDITS for what does not fit, and an id for a later message that does', async () => {
    const { send } = await serve({ wanted: { credits: 25 } })
    const messages =
      message('a'.repeat(161), [number]) + message('a'.repeat(161), [number]) + message('a', [number, number])
    expect((await send({ messages })).text).toBe(
      answer(
        root,
        result(1, [number, 1]) +
          result(2, [number, 'NOCREDITS']) +
          result(3, [number, 'NOCREDITS'], [number, 'NOCREDITS']),
      ),
    )
    const { send: again } = await serve({ wanted: { credits: 15 } })
    const { text } = await again({ messages: message('a'.repeat(161), [number]) + message('a', [number, number]) })
    expect(text).toBe(answer(root, result(1, [number, 'NOCREDITS']) + result(2, [number, 1], [number, 'NOCREDITS'])))
  })
})

describe('the first refusal in the ruled order is reported', () => {
  const ownNumber = aNumber('27825550109')
  const rows: readonly [string, { locked?: boolean; text?: string; to: string }, string][] = [
    ['a locked account before no message', { locked: true, text: '', to: '' }, 'ACCOUNTLOCKED'],
    ['a locked account before no number', { locked: true, to: '' }, 'ACCOUNTLOCKED'],
    ['no message before no number', { text: ' ', to: '' }, 'FAIL:NO MESSAGE'],
    ['no message before a bad number', { text: ' ', to: 'x' }, 'FAIL:NO MESSAGE'],
    ['too long before no number', { text: 'a'.repeat(919), to: '' }, 'FAIL:TOOLONG'],
    ['too long before a bad number', { text: 'a'.repeat(919), to: 'x' }, 'FAIL:TOOLONG'],
    ['no number', { to: '' }, 'FAIL:NO NUMBER'],
    ['a bad number', { to: '0825550101' }, 'FAIL:BADDEST'],
    ['blacklisted before trial to self', { to: ownNumber }, 'FAIL:BADDEST'],
    ['trial to self before insufficient credits', { to: '27825550110' }, 'FAIL:TRIALNOT2SELF'],
    ['opted out before do not contact', { to: '27825550111' }, 'FAIL:OPTEDOUT'],
    ['do not contact before insufficient credits', { to: '27825550112' }, 'FAIL:WASPADNC'],
    ['insufficient credits', { to: '27825550113' }, 'NOCREDITS'],
  ]
  test.each(rows)('%s', async (_, { locked = false, text, to }, id) => {
    const own = to === ownNumber ? ownNumber : aNumber('27825550110')
    const { send, ports, account, clock } = await serve({ wanted: { locked, credits: 0, trial: { ownNumber: own } } })
    const block = (scope: SuppressionScope, kind: Suppression, blocked: string) =>
      ports.suppressions.add({ scope, kind, number: aNumber(blocked), since: clock.now() })
    await block('everybody', 'blacklist', ownNumber)
    await block(account.id, 'opt-out', '27825550111')
    await block('everybody', 'do-not-contact', '27825550111')
    await block('everybody', 'do-not-contact', '27825550112')
    const { text: told } = await send({ messages: message(text, [to]) })
    expect(told).toBe(answer(root, result(1, [to, id])))
  })
})

describe('the text is percent-decoded once', () => {
  test.each([
    ['plus signs are spaces', 'a+b%2Bc', 'a b+c'],
    ['a line feed', 'a%0Ab', 'a\nb'],
    ['a malformed escape stays', '100% of %zz %4', '100% of %zz %4'],
    ['escapes are decoded once', '%2541', '%41'],
    ['UTF-8', 'caf%C3%A9 %E2%82%AC', 'café €'],
    ['windows-1252, where it is no UTF-8', 'caf%E9 %80', 'café €'],
    ['XML first, then escapes', '&amp;%26&lt;', '&&<'],
    ['characters that are not escaped stay', 'café €', 'café €'],
    ['CDATA, comments aside', 'a<![CDATA[ <&]]><!-- x --> b', 'a <& b'],
    ['white space stays', '  a \n b ', '  a \n b '],
    ['a line end of Windows is a line feed', 'a\r\nb\rc', 'a\nb\nc'],
  ])('%s', async (_, sent, stored) => {
    const served = await serve()
    await served.send({ messages: message(sent) })
    expect(textsOf(served)).toEqual([stored])
  })
})

describe('Scheduled', () => {
  const at = async (scheduled: string) => {
    const served = await serve()
    const { text } = await served.send({ scheduled })
    return { text, due: served.orders.flatMap(({ texts }) => texts.map(({ due }) => due)) }
  }
  test('is a minute in gateway time, white space aside', async () => {
    expect(await at('<Scheduled> 202610191824\n</Scheduled>')).toEqual({
      text: answer(root, result(1, [number, 1])),
      due: [instant(Date.UTC(2026, 9, 19, 16, 24))],
    })
  })

  test.each([
    ['left out', ''],
    ['blank', '<Scheduled> </Scheduled>'],
    ['empty', '<Scheduled/>'],
  ])('%s sends at once', async (_, scheduled) => {
    expect(await at(scheduled)).toEqual({ text: answer(root, result(1, [number, 1])), due: [undefined] })
  })

  test.each([
    ['past', '<Scheduled>202610180959</Scheduled>'],
    ['now', '<Scheduled>202610181000</Scheduled>'],
    ['long past', '<Scheduled>000101010000</Scheduled>'],
  ])('%s is taken, and whether to send at once is left to the clock of the store', async (_, scheduled) => {
    const { text, due } = await at(scheduled)
    expect(text).toBe(answer(root, result(1, [number, 1])))
    expect(due.map((each) => each !== undefined && each <= Date.UTC(2026, 9, 18, 8, 0))).toEqual([true])
  })

  test.each(['202602301200', '20261019182', '2026101918240', '2026-10-19 18:24', '202610192400', 'x', '202613011200'])(
    '%s is an Invalid Date, and nothing is sent',
    async (scheduled) => {
      expect(await at(`<Scheduled>${scheduled}</Scheduled>`)).toEqual({ text: errorIn(root, 'Invalid Date'), due: [] })
    },
  )
})

describe('a request is read', () => {
  const rows: readonly [string, (key: string) => string][] = [
    [
      'in any order of elements',
      (key) =>
        `<Svc_Multi_Message><Messages><Message>${numbersElement([number])}${textElement('Hi')}</Message></Messages><ApiKey>${key}</ApiKey></Svc_Multi_Message>`,
    ],
    ['with the prefix of another vendor', (key) => documentOf(key, {}).replaceAll('Svc_', 'AcmeGateway_')],
    [
      'with a prefix that is a namespace',
      (key) => documentOf(key, {}).replace('<Svc_', '<a:Svc_').replace('</Svc_', '</a:Svc_'),
    ],
    [
      'past elements and attributes that it does not know',
      (key) =>
        documentOf(key, { scheduled: '<ReplyTo x="1"><Scheduled>x</Scheduled></ReplyTo>' }).replace(
          '<Number>',
          '<Number type="mobile">',
        ),
    ],
    [
      'with a declaration, comments and instructions',
      (key) => `<?xml version="1.0" encoding="UTF-8"?>\n<!-- a -->\n<?b c?>${documentOf(key, {})}<!-- d -->\n`,
    ],
    ['with white space around everything', (key) => documentOf(key, {}).replaceAll('><', '>\r\n  <')],
    [
      'with several Messages and Numbers elements as one',
      (key) =>
        documentOf(key, {
          messages: `</Messages><Messages><Message>${textElement('a')}<Numbers/>${numbersElement([number])}</Message>`,
        }),
    ],
    [
      'with the first of two Scheduled and MessageText elements',
      (key) =>
        documentOf(key, {
          scheduled: '<Scheduled/><Scheduled>x</Scheduled>',
          messages: `<Message>${textElement('a')}${textElement('b'.repeat(919))}${numbersElement([number])}</Message>`,
        }),
    ],
  ]
  test.each(rows)('%s', async (_, documentFor) => {
    const { post, key } = await serve()
    expect((await post(path, documentFor(key))).text).toBe(answer(root, result(1, [number, 1])))
  })

  test.each([
    ['UTF-16 with its mark', 'application/xml', (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le')],
    [
      'ISO-8859-1, declared',
      '',
      (text: string) => Buffer.from(`<?xml version="1.0" encoding="ISO-8859-1"?>${text}`, 'latin1'),
    ],
    [
      'windows-1252, by its content type',
      'text/xml; charset="windows-1252"',
      (text: string) => Buffer.from(text, 'latin1'),
    ],
    ['UTF-8 as a form', 'application/x-www-form-urlencoded', (text: string) => Buffer.from(text)],
    ['UTF-8 without a content type', '', (text: string) => Buffer.from(text)],
  ])('in %s', async (_, contentType, encode) => {
    const served = await serve()
    await served.post(path, encode(documentOf(served.key, { messages: message('café') })), contentType)
    expect(textsOf(served)).toEqual(['café'])
  })
})

describe('errors are reported in the ruled order, and nothing is sent', () => {
  const many = (count: number) => message('Hi', Array<string>(count).fill(number))
  const badDate = '<Scheduled>x</Scheduled>'
  const noKey = '<ApiKey>wrong</ApiKey>'
  const rows: readonly [string, (key: string) => string, string][] = [
    ['no document, before credentials', () => '<Svc_Multi_Message>', 'Not Valid XML Document'],
    ['another root, before credentials', () => '<Svc_StatusRequest/>', 'Not Valid XML Document'],
    [
      'a root in another letter case',
      (key) => documentOf(key, {}).replaceAll('Svc_Multi_Message', 'svc_multi_message'),
      'Not Valid XML Document',
    ],
    [
      'credentials, before no Message',
      (key) => documentOf(key, { credentials: noKey, messages: '' }),
      'Authentication failed',
    ],
    [
      'credentials, before too many numbers and a date',
      (key) => documentOf(key, { credentials: noKey, messages: many(1001), scheduled: badDate }),
      'Authentication failed',
    ],
    ['no credentials', (key) => documentOf(key, { credentials: '' }), 'Authentication failed'],
    [
      'no Message, before a date',
      (key) => documentOf(key, { messages: '', scheduled: badDate }),
      'Not Valid XML Document',
    ],
    [
      'no Messages',
      (key) => `<Svc_Multi_Message><ApiKey>${key}</ApiKey></Svc_Multi_Message>`,
      'Not Valid XML Document',
    ],
    [
      'over 1000 messages, before over 1000 numbers',
      (key) => documentOf(key, { messages: message().repeat(1001) }),
      'Not Valid XML Document',
    ],
    [
      'over 1000 numbers, before a date',
      (key) => documentOf(key, { messages: many(1001), scheduled: badDate }),
      'Too Many Numbers',
    ],
    [
      'over 1000 numbers in several messages',
      (key) => documentOf(key, { messages: many(500) + many(501) }),
      'Too Many Numbers',
    ],
    [
      'blank numbers count',
      (key) => documentOf(key, { messages: message('a', Array<string>(1001).fill('')) }),
      'Too Many Numbers',
    ],
    [
      'a date, before refusals',
      (key) => documentOf(key, { messages: message('', ['x']), scheduled: badDate }),
      'Invalid Date',
    ],
  ]
  test.each(rows)('%s', async (_, documentFor, error) => {
    const { post, key, orders } = await serve()
    const { status, text } = await post(path, documentFor(key))
    expect([status, text]).toEqual([200, errorIn(root, error)])
    expect(orders).toEqual([])
  })

  describe('with a ClientRef', () => {
    const ref = (value: string): string => `<ClientRef>${value}</ClientRef>`
    const balance = async ({ ports, account }: Served) => ports.ledger.balance(account.id)

    test('a send that comes again has the first answer byte for byte, and is done once', async () => {
      const { send, ...served } = await serve({ wanted: { credits: 25 } })
      const messages = message('One', [number, 'x']) + message('Two', ['27825550102', '27825550103'])
      const first = await send({ scheduled: ref('order 7'), messages })
      expect(first.text).toBe(
        answer(
          root,
          result(1, [number, 1], ['x', 'FAIL:BADDEST']) + result(2, ['27825550102', 2], ['27825550103', 'NOCREDITS']),
        ),
      )
      await served.ports.ledger.topUp(served.account.id, credits(500), 'meanwhile', served.clock.now())
      for (const again of [ref(' order 7 '), ref('order&#32;7') + ref('8')]) {
        const { status, text } = await send({ scheduled: again, messages })
        expect([status, text]).toEqual([200, first.text])
      }
      expect(await balance(served)).toBe(505)
    })

    test('another request under it is refused in the words of the ruling with HTTP 200, and nothing is sent', async () => {
      const { send, ...served } = await serve()
      await send({ scheduled: ref('7') })
      const { status, text } = await send({ scheduled: ref('7'), messages: message('Other') })
      expect([status, text]).toEqual([200, errorIn(root, 'clientref was used for another request')])
      expect(await balance(served)).toBe(990)
    })

    test('64 calls at a time do the work once, and all have its answer', async () => {
      const { send, ...served } = await serve()
      const all = await Promise.all(Array.from({ length: 64 }, () => send({ scheduled: ref('7') })))
      expect(new Set(all.map(({ text }) => text))).toEqual(new Set([answer(root, result(1, [number, 1]))]))
      expect(await balance(served)).toBe(990)
    })

    test('a blank one counts as left out; what is none is refused after every other check', async () => {
      const { send, orders } = await serve()
      for (const id of [1, 2])
        expect((await send({ scheduled: ref(' ') })).text).toBe(answer(root, result(1, [number, id])))
      const wrong = ref('k'.repeat(256))
      expect((await send({ scheduled: wrong + badDate })).text).toBe(errorIn(root, 'Invalid Date'))
      const refused = await send({ scheduled: wrong })
      expect([refused.status, refused.text]).toEqual([
        200,
        errorIn(root, 'ClientRef must be 1 to 255 printable characters'),
      ])
      expect(orders).toHaveLength(2)
    })
  })

  test('1000 messages with a number each, and one with 1000 numbers, are sent', async () => {
    const { send, orders } = await serve({ wanted: { credits: 20_000 } })
    await send({ messages: message().repeat(1000) })
    await send({ messages: many(1000) })
    expect(orders.map(({ texts }) => [texts.length, texts.flatMap(({ to }) => to).length])).toEqual([
      [1000, 1000],
      [1, 1000],
    ])
  })

  test('a legal send of 2.9 MB is sent', async () => {
    const { send, orders } = await serve({ wanted: { credits: 100_000 } })
    const { text } = await send({ messages: message('%E2%82%AC'.repeat(310), [number]).repeat(1000) })
    expect(text).toContain(result(1000, [number, 1000]))
    expect(orders).toHaveLength(1)
  })
})

describe('the credentials', () => {
  const pair = (user: string, password: string) => `<User>${user}</User><Password>${password}</Password>`
  const served = async () => {
    const { post, ports, account, backOffice, key } = await serve()
    await backOffice.setPassword(account.id, 'secret word')
    const other = await keyOf(ports, account)
    return {
      try: (credentials: string) => post(path, documentOf('', { credentials })),
      login: account.login,
      key,
      other,
    }
  }
  const opens = answer(root, result(1, [number, 1]))
  const fails = errorIn(root, 'Authentication failed')
  type Known = Awaited<ReturnType<typeof served>>
  const rows: readonly [string, (known: Known) => string, string][] = [
    ['a key', ({ key }) => `<ApiKey> ${key}\n</ApiKey>`, opens],
    ['a pair beside a blank key', ({ login }) => `<ApiKey> </ApiKey>${pair(login, ' secret word ')}`, opens],
    ['a key beside a wrong pair', ({ key, login }) => `${pair(login, 'wrong')}<ApiKey>${key}</ApiKey>`, opens],
    ['a wrong key beside a right pair', ({ login }) => `<ApiKey>x</ApiKey>${pair(login, 'secret word')}`, fails],
    ['a wrong password', ({ login }) => pair(login, 'Secret word'), fails],
    ['a user without a password', ({ login }) => `<User>${login}</User><Password/>`, fails],
    ['a password without a user', () => '<Password>secret word</Password>', fails],
    ['two keys that are both right', ({ key, other }) => `<ApiKey>${key}</ApiKey><ApiKey>${other}</ApiKey>`, fails],
    ['two users', ({ login }) => `<User>${login}</User>${pair(login, 'secret word')}`, fails],
    ['a key in other letter case of its element', ({ key }) => `<APIKEY>${key}</APIKEY>`, fails],
    ['a key deeper in the document', ({ key }) => `<Auth><ApiKey>${key}</ApiKey></Auth>`, fails],
    [
      'a key written in CDATA and references',
      ({ key }) => `<ApiKey>&#${key.charCodeAt(0)};<![CDATA[${key.slice(1)}]]></ApiKey>`,
      opens,
    ],
  ]
  test.each(rows)('%s', async (_, credentialsOf, expected) => {
    const known = await served()
    expect((await known.try(credentialsOf(known))).text).toBe(expected)
  })

  test('after too many failed log-ins: 429 with Retry-After, for the pair and not for the key', async () => {
    const known = await served()
    for (let i = 0; i < 10; i++) await known.try(pair(known.login, `guess ${i}`))
    const refused = await known.try(pair(known.login, 'secret word'))
    expect(refused.status).toBe(429)
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0)
    expect(refused.text).toBe(errorIn(root, 'Too many failed log-ins'))
    expect((await known.try(`<ApiKey>${known.key}</ApiKey>`)).text).toBe(opens)
  })
})

describe('an internal error', () => {
  const failing = (accept: () => Promise<never> | Promise<'overloaded'>) =>
    serve({ change: (ports) => ({ ...ports, messages: { ...ports.messages, accept } }) })

  test('of the store is 503 without Retry-After', async () => {
    const { send } = await failing(() => Promise.reject(new Error('the connection was lost')))
    const { status, headers, text } = await send()
    expect([status, text]).toEqual([503, errorIn(root, 'Service unavailable')])
    expect(headers['retry-after']).toBeUndefined()
  })

  test('by overload is 503 with Retry-After', async () => {
    const { send } = await failing(() => Promise.resolve('overloaded'))
    const { status, headers, text } = await send()
    expect([status, headers['retry-after'], text]).toEqual([503, '1', errorIn(root, 'Service unavailable')])
  })
})
