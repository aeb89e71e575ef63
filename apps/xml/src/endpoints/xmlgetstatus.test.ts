import { createProcessing } from '@gateway/core'
import { credits } from '@gateway/core/credits'
import { OUTCOME, type Messages, type MessageStatus, type OutcomeCode } from '@gateway/core/messages'
import { instant } from '@gateway/core/time'
import { aNumber, anOrder } from '@gateway/core/testing'
import { answer, errorIn, serveXml, type Serving } from '../../testing/serve-xml.ts'

const path = '/api/xmlgetstatus.asp'
const root = 'XMLGatewayStatus_Response'
const number = aNumber('27825550101')
const now = '2026/10/18 10:00:00'

const messageIdElement = (id: string | number, cli = ''): string => `<MessageID><ID>${id}</ID>${cli}</MessageID>`
const documentOf = (key: string, ids: string): string =>
  `<Svc_StatusRequest><ApiKey>${key}</ApiKey><User/><Password/><MessageIDs>${ids}</MessageIDs></Svc_StatusRequest>`

const row = (id: string | number, status: string, code: number, at = now, cli = ''): string =>
  `<StatusID><MessageID>${id}</MessageID>${cli === '' ? '<CLI/>' : `<CLI>${cli}</CLI>`}<Status>${status}</Status>` +
  `<StatusDateTime>${at}</StatusDateTime><StatusCode>${code}</StatusCode></StatusID>`

async function serve(serving: Serving = {}) {
  const served = await serveXml(serving)
  return { ...served, ask: (ids: string, key = served.key) => served.post(path, documentOf(key, ids)) }
}

/** Starts the interface with messages that have these statuses. Their ids are 1, 2, 3 and so on. */
const serveStatuses = (statuses: readonly MessageStatus[]) => {
  const status: Messages['status'] = (_account, ids) =>
    Promise.resolve(ids.map((id) => statuses[id - 1] ?? 'not-found'))
  return serve({ change: (ports) => ({ ...ports, messages: { ...ports.messages, status } }) })
}

const reached = (code: OutcomeCode): MessageStatus => ({
  code,
  at: instant(Date.UTC(2026, 9, 17, 22, 30, 5, 999)),
  number,
  cost: credits(10),
  staysCharged: true,
})

describe('the status of a message', () => {
  test.each<[string, OutcomeCode]>([
    ['DELIVERED', OUTCOME.delivered],
    ['SENT', OUTCOME.sent],
    ['SENT', OUTCOME.underWay],
    ['SENT', OUTCOME.unknown],
    ['SENDINGFAILED', OUTCOME.expired],
    ['SENDINGFAILED', OUTCOME.cancelled],
    ['SENDINGFAILED', OUTCOME.undeliverable],
    ['SENDINGFAILED', OUTCOME.rejected],
    ['SENDINGFAILED', OUTCOME.refused],
    ['SENDINGFAILED', OUTCOME.accountLocked],
    ['SENDINGFAILED', OUTCOME.optedOut],
    ['SENDINGFAILED', OUTCOME.failed],
    ['SENDINGFAILED', OUTCOME.blacklisted],
  ])('is %s with code %d and the time of that outcome, in gateway time', async (status, code) => {
    const { ask } = await serveStatuses([reached(code)])
    const { status: http, headers, text } = await ask(messageIdElement(1))
    expect([http, headers['content-type']]).toEqual([200, 'text/xml; charset=utf-8'])
    expect(text).toBe(answer(root, row(1, status, code, '2026/10/18 00:30:05')))
  })

  test('is NOTFOUND -2 from 90 days and a second after it was due', async () => {
    const { ask, ports, account, clock } = await serve()
    await ports.messages.accept(anOrder(account.id, { to: [number] }))
    clock.step(49 * 3600)
    await createProcessing(ports).expire()
    const failed = '2026/10/20 11:00:00'
    clock.step(90 * 86_400 - 49 * 3600)
    expect((await ask(messageIdElement(1))).text).toBe(answer(root, row(1, 'SENDINGFAILED', 101, failed)))
    clock.step(1)
    expect((await ask(messageIdElement(1))).text).toBe(answer(root, row(1, 'NOTFOUND', -2, '2027/01/16 10:00:01')))
  })
})

describe('the rows of an answer', () => {
  test('echo the CLI, trimmed and escaped, or an empty one', async () => {
    const { ask } = await serve()
    const clis = ['<CLI> a &amp; &lt;b&gt; </CLI>', '<CLI/>', '', '<CLI>x<!-- y -->z</CLI>', '<CLI>1</CLI><CLI>2</CLI>']
    const { text } = await ask(clis.map((cli, at) => messageIdElement(at + 1, cli)).join(''))
    const shown = ['a &amp; &lt;b&gt;', '', '', 'xz', '1']
    expect(text).toBe(answer(root, shown.map((cli, at) => row(at + 1, 'NOTFOUND', -2, now, cli)).join('')))
  })

  test.each(['0', '007', '9007199254740991', '9007199254740992', '99999999999999999999999999'])(
    'echo the number %s as it was written; one that no message can have is not found',
    async (id) => {
      const { ask } = await serve()
      expect((await ask(messageIdElement(` ${id}\n`))).text).toBe(answer(root, row(id, 'NOTFOUND', -2)))
    },
  )

  test('are as many as the ids of the request, up to 60 000', async () => {
    const { ask } = await serve()
    const { text } = await ask(messageIdElement(1).repeat(60_000))
    expect(text.match(/<StatusCode>108</g)).toHaveLength(59_000)
  })
})

describe('an error, for which nothing is looked up', () => {
  const rows: readonly [string, (key: string) => string, string][] = [
    ...['1 2', '+5', '0x1F', '１２', '1,000'].map((id): [string, (key: string) => string, string] => [
      `the ID '${id}' among others`,
      (key) => documentOf(key, messageIdElement(1) + messageIdElement(id)),
      'Not Valid XML Document',
    ]),
    ['a no-break space before an ID', (key) => documentOf(key, messageIdElement('\u00a01')), 'Not Valid XML Document'],
    [
      'a bad ID beyond 1000',
      (key) => documentOf(key, messageIdElement(1).repeat(1000) + messageIdElement('x')),
      'Not Valid XML Document',
    ],
  ]
  test.each(rows)('%s', async (_, documentFor, error) => {
    const lookUps: number[] = []
    const status: Messages['status'] = (_account, ids) => {
      lookUps.push(ids.length)
      return Promise.resolve(ids.map(() => 'not-found'))
    }
    const { post, key } = await serve({ change: (ports) => ({ ...ports, messages: { ...ports.messages, status } }) })
    const { status: http, text } = await post(path, documentFor(key))
    expect([http, text]).toEqual([200, errorIn(root, error)])
    expect(lookUps).toEqual([])
  })

  test('an error of the store is answered with 503 and not with NOTFOUND', async () => {
    const status = () => Promise.reject(new Error('the connection was lost'))
    const { ask } = await serve({ change: (ports) => ({ ...ports, messages: { ...ports.messages, status } }) })
    const { status: http, headers, text } = await ask(messageIdElement(1))
    expect([http, headers['retry-after'], text]).toEqual([503, '1', errorIn(root, 'Service unavailable')])
  })
})
