import { credits } from '@gateway/core/credits'
import { instant } from '@gateway/core/time'
import { answer, errorIn, serveXml, type Served, type Serving } from '../../testing/serve-xml.ts'

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
  test('FAIL:NO NUMBER with an empty Number if the number is blank or missing', async () => {
    const { send } = await serve()
    const without = [
      message('A', [' ']),
      message('B', []),
      `<Message>${textElement('C')}</Message>`,
      `<Message>${textElement('D')}<Number>${number}</Number></Message>`, // a Number outside Numbers
      `<Message>${textElement('E')}<Numbers><Number/>${number}</Numbers></Message>`,
    ]
    const { text } = await send({ messages: without.join('') + message() })
    const refused = without.map((_, at) => result(at + 1, ['', 'FAIL:NO NUMBER']))
    expect(text).toBe(answer(root, refused.join('') + result(6, [number, 1])))
  })

  test('FAIL:NO MESSAGE for each number if the text is blank or missing', async () => {
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
  test('is a minute in gateway time, with surrounding white space ignored', async () => {
    expect(await at('<Scheduled> 202610191824\n</Scheduled>')).toEqual({
      text: answer(root, result(1, [number, 1])),
      due: [instant(Date.UTC(2026, 9, 19, 16, 24))],
    })
  })

  test.each([
    ['past', '<Scheduled>202610180959</Scheduled>'],
    ['now', '<Scheduled>202610181000</Scheduled>'],
    ['long past', '<Scheduled>000101010000</Scheduled>'],
  ])('%s is accepted, and the clock of the store decides whether to send at once', async (_, scheduled) => {
    const { text, due } = await at(scheduled)
    expect(text).toBe(answer(root, result(1, [number, 1])))
    expect(due.map((each) => each !== undefined && each <= Date.UTC(2026, 9, 18, 8, 0))).toEqual([true])
  })
})

describe('a request is read', () => {
  const rows: readonly [string, (key: string) => string][] = [
    [
      'with a prefix that is a namespace',
      (key) => documentOf(key, {}).replace('<Svc_', '<a:Svc_').replace('</Svc_', '</a:Svc_'),
    ],
    [
      'with a declaration, comments and instructions',
      (key) => `<?xml version="1.0" encoding="UTF-8"?>\n<!-- a -->\n<?b c?>${documentOf(key, {})}<!-- d -->\n`,
    ],
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
})

describe('an error, for which nothing is sent', () => {
  const many = (count: number) => message('Hi', Array<string>(count).fill(number))
  const badDate = '<Scheduled>x</Scheduled>'
  const rows: readonly [string, (key: string) => string, string][] = [
    [
      'over 1000 messages, before over 1000 numbers',
      (key) => documentOf(key, { messages: message().repeat(1001) }),
      'Not Valid XML Document',
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

    test('a repeated send gets the first answer byte for byte and is carried out once', async () => {
      const { send, ...served } = await serve({ options: { credits: 25 } })
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

    test('a blank one counts as omitted; an invalid one is refused after all other checks', async () => {
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
    const { send, orders } = await serve({ options: { credits: 20_000 } })
    await send({ messages: message().repeat(1000) })
    await send({ messages: many(1000) })
    expect(orders.map(({ texts }) => [texts.length, texts.flatMap(({ to }) => to).length])).toEqual([
      [1000, 1000],
      [1, 1000],
    ])
  })

  test('a legal send of 2.9 MB is sent', async () => {
    const { send, orders } = await serve({ options: { credits: 100_000 } })
    const { text } = await send({ messages: message('%E2%82%AC'.repeat(310), [number]).repeat(1000) })
    expect(text).toContain(result(1000, [number, 1000]))
    expect(orders).toHaveLength(1)
  })
})

describe('the credentials', () => {
  const pair = (user: string, password: string) => `<User>${user}</User><Password>${password}</Password>`
  const served = async () => {
    const { post, account, backOffice, key } = await serve()
    await backOffice.commands.setPassword(account.id, 'secret word')
    return {
      try: (credentials: string) => post(path, documentOf('', { credentials })),
      login: account.login,
      key,
    }
  }
  const opens = answer(root, result(1, [number, 1]))
  const fails = errorIn(root, 'Authentication failed')
  type Known = Awaited<ReturnType<typeof served>>
  const rows: readonly [string, (known: Known) => string, string][] = [
    ['a password without a user', () => '<Password>secret word</Password>', fails],
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
})

describe('an internal error', () => {
  const failing = (accept: () => Promise<never> | Promise<'overloaded'>) =>
    serve({ change: (ports) => ({ ...ports, messages: { ...ports.messages, accept } }) })

  test('of the store is answered with 503 without Retry-After', async () => {
    const { send } = await failing(() => Promise.reject(new Error('the connection was lost')))
    const { status, headers, text } = await send()
    expect([status, text]).toEqual([503, errorIn(root, 'Service unavailable')])
    expect(headers['retry-after']).toBeUndefined()
  })

  test('by overload is answered with 503 and Retry-After', async () => {
    const { send } = await failing(() => Promise.resolve('overloaded'))
    const { status, headers, text } = await send()
    expect([status, headers['retry-after'], text]).toEqual([503, '1', errorIn(root, 'Service unavailable')])
  })
})
