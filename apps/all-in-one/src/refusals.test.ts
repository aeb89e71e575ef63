import { createBackOffice, createGateway, type Ports, holderAccess } from '@gateway/core'
import { anAccount, memoryPorts, steppingClock } from '@gateway/core/testing'
import { admissionGate, confirmedResponses, createLog, createMetrics, trustProxies } from '@gateway/server'
import type { Express } from 'express'
import request from 'supertest'
import { createAllInOneServer } from './server.ts'

const password = 'sesame 42'
const log = createLog({ level: 'silent', name: 'test' })

/** Sends a request with the credentials in the place that each interface reads them from. */
interface Credentials {
  readonly key: string
}

const rest =
  (method: 'get' | 'post', path: string, body?: object) =>
  (app: Express, { key }: Credentials) => {
    const sent = request(app)[method](`/api/rest/v1${path}`).set('Authorization', key)
    return body === undefined ? sent : sent.send(body)
  }
const asp =
  (path: string, query: string) =>
  (app: Express, { key }: Credentials) =>
    request(app).get(`/api/${path}.asp?${query}&apikey=${key}`)
const xml =
  (path: string, root: string, inside: string) =>
  (app: Express, { key }: Credentials) =>
    request(app)
      .post(`/api/${path}.asp`)
      .set('Content-Type', 'text/xml')
      .send(`<Svc_${root}><ApiKey>${key}</ApiKey>${inside}</Svc_${root}>`)

const text = { message: 'hi', recipients: [{ mobileNumber: '27825550101' }] }
const endpoints = {
  'REST balance': rest('get', '/credits/balance'),
  'REST transfer': rest('post', '/credits/transfer', {
    sendingAccountNumber: 1,
    receivingAccountNumber: 2,
    transferQuantity: 1,
  }),
  'REST short code messages': rest('get', '/shortcode/incoming'),
  'REST incoming': rest('get', '/sms/incoming'),
  'REST opt-outs': rest('get', '/sms/incoming/optout'),
  'REST send': rest('post', '/sms/outgoing/send', text),
  'REST send several': rest('post', '/sms/outgoing/sendmulti', { messages: [text] }),
  'REST status': rest('post', '/sms/outgoing/status', [1]),
  'REST scheduled': rest('get', '/sms/scheduled'),
  'REST delete': rest('post', '/sms/scheduled/delete', [1]),
  'REST sub accounts': rest('get', '/subaccounts'),
  auth: asp('auth', ''),
  credits: asp('credits', ''),
  batchmessage: asp('batchmessage', 'message=hi&numbers=27825550101'),
  requestbatch: asp('requestbatch', 'messageid=1'),
  deletescheduled: asp('deletescheduled', 'messageid=1'),
  httpgetreplies: asp('httpgetreplies', ''),
  httpgetscmessages: asp('httpgetscmessages', ''),
  listoptouts: asp('listoptouts', ''),
  creditstransfer: asp('creditstransfer', 'fromaccount=1&toaccount=2&quantity=1'),
  'XML send': xml(
    'xmlsendsmsmulti',
    'Multi_Message',
    '<Message><MessageText>hi</MessageText><Numbers><Number>27825550101</Number></Numbers></Message>',
  ),
  'XML status': xml('xmlgetstatus', 'StatusRequest', '<MessageID><ID>1</ID></MessageID>'),
  'XML delete': xml('xmldeletescheduled', 'DeleteScheduled', '<MessageID><ID>1</ID></MessageID>'),
  'XML replies': xml('xmlgetreplies', 'Replies', ''),
  'XML short code messages': xml('xmlgetscmessages', 'SCmessages', ''),
}

const away = () => Promise.reject(new Error('the database is away'))

/** Causes of a refusal, by name. Each cause replaces some ports or sets a limit of requests. */
const causes: Readonly<
  Record<
    string,
    { readonly ports?: (ports: Ports) => Partial<Ports>; readonly requestsMax?: number; readonly limit?: number }
  >
> = {
  'the process is full': { requestsMax: 0 },
  'the database is away': { ports: ({ accounts }) => ({ accounts: { ...accounts, byKey: away, byLogin: away } }) },
  'the limits of the account are in a database that is away': {
    ports: ({ accountRates }) => ({ accountRates: { ...accountRates, take: away } }),
    limit: 1,
  },
  'the account has used its limit': {
    ports: ({ accountRates }) => ({
      accountRates: { ...accountRates, take: () => Promise.resolve({ overLimitSeconds: 7 }) },
    }),
    limit: 1,
  },
}

async function start(cause: (typeof causes)[string] = {}, proxies: readonly string[] = []) {
  const ports = memoryPorts({ clock: steppingClock() })
  const backOffice = createBackOffice(ports)
  const { id, login } = await anAccount(ports, { password: await ports.secrets.hashPassword(password) })
  const issued = await backOffice.commands.issueApiKey(id)
  if (typeof issued === 'string') throw new Error(issued)
  if (cause.limit !== undefined) await backOffice.commands.changeAccount(id, { requestsPerSecond: cause.limit })
  const gateway = createGateway({ ...ports, ...cause.ports?.(ports) })
  const app = createAllInOneServer(gateway, {
    clock: ports.clock,
    holders: holderAccess(ports, gateway),
    gate: admissionGate(cause.requestsMax ?? 100),
    confirmedResponses: confirmedResponses({ log }),
    log,
    metrics: createMetrics(),
    health: { checks: {} },
  })
  trustProxies(app, proxies)
  return { app, backOffice, ports, id, login, issued }
}

describe.each(Object.entries(causes))('where %s', (name, cause) => {
  const isItsOwn = name === 'the account has used its limit'
  test.each(Object.entries(endpoints))(`%s is ${isItsOwn ? 429 : 503} with Retry-After`, async (name, ask) => {
    const { app, ports, id, issued } = await start(cause)
    const { status, headers, text } = await ask(app, issued)
    expect({ status, after: headers['retry-after'] }).toEqual(
      isItsOwn ? { status: 429, after: '7' } : { status: 503, after: '1' },
    )
    const words = isItsOwn ? 'Too many requests' : 'Service unavailable'
    if (name.startsWith('XML')) expect(text).toContain(`<Error>${words}</Error>`)
    else if (!name.startsWith('REST')) expect(text).toBe(`Error="${words}"`)
    else if (isItsOwn) expect(JSON.parse(text)).toMatchObject({ statusCode: 429, errorMessage: words })
    expect(await ports.ledger.balance(id)).toBe(1000)
  })
})

test('an account with a rate limit may make that many requests on all interfaces together', async () => {
  const { app, issued } = await start({ limit: 3 })
  const ask = async (name: keyof typeof endpoints) => (await endpoints[name](app, issued)).status
  expect([await ask('REST balance'), await ask('credits'), await ask('XML replies')]).toEqual([200, 200, 200])
  expect([await ask('REST balance'), await ask('credits'), await ask('XML replies')]).toEqual([429, 429, 429])
})

test('an account with a recipient limit sends to that many on all interfaces together, and a send beyond it has no effect', async () => {
  const to = '<Numbers><Number>27825550101</Number></Numbers>'
  const inXml = `<Messages><Message><MessageText>hi</MessageText>${to}</Message></Messages>`
  const sends = [
    endpoints['REST send'],
    endpoints['REST send several'],
    endpoints.batchmessage,
    xml('xmlsendsmsmulti', 'Multi_Message', inXml),
  ]
  const { app, backOffice, ports, id, issued } = await start()
  await backOffice.commands.changeAccount(id, { recipientsPerSecond: sends.length })
  for (const send of sends) expect((await send(app, issued)).status).toBe(200)
  const balance = await ports.ledger.balance(id)
  for (const send of sends) {
    const { status, headers, text } = await send(app, issued)
    expect({ status, after: headers['retry-after'] }).toEqual({ status: 429, after: '1' })
    expect(text).toContain('Too many requests')
  }
  expect(await ports.ledger.balance(id)).toBe(balance)
  expect((await endpoints['REST balance'](app, issued)).status).toBe(200)
})

test.each(['REST balance', 'credits', 'XML replies'] as const)(
  '%s from a forbidden network is answered like a wrong key, and behind a proxy the address of the client counts',
  async (name) => {
    const { app, backOffice, issued } = await start({}, ['127.0.0.1', '::1', '::ffff:127.0.0.1'])
    await backOffice.commands.restrictApiKey(issued.id, ['203.0.113.0/24', '2001:db8::/32'])
    const from = async (address: string, key = issued.key) => {
      const { status, text } = await endpoints[name](app, { key }).set('X-Forwarded-For', address)
      return { status, text }
    }
    const wrong = await from('203.0.113.7', `${issued.key}x`)
    for (const address of ['198.51.100.1', '2001:db9::1', '203.0.113.7, 198.51.100.1', 'nonsense']) {
      expect(await from(address)).toEqual(wrong)
    }
    for (const address of ['203.0.113.7', '2001:DB8::7', '198.51.100.1, ::ffff:203.0.113.7']) {
      expect(await from(address)).not.toEqual(wrong)
    }
  },
)

test('credentials from a forbidden network are answered like wrong ones, and count as a failure', async () => {
  const { app, backOffice, id, login } = await start({}, ['127.0.0.1', '::1', '::ffff:127.0.0.1'])
  await backOffice.commands.changeAccount(id, { from: ['203.0.113.0/24'] })
  const log = async (password: string, address: string) => {
    const sent = request(app).get('/api/auth.asp').query({ user: login, password })
    return (await sent.set('X-Forwarded-For', address)).text
  }
  expect(await log(password, '203.0.113.7')).toBe('Login=OK')
  for (let i = 0; i < 5; i++) {
    expect(await log(password, '198.51.100.1')).toBe('Login=FAIL')
    expect(await log(`wrong ${i}`, '198.51.100.1')).toBe('Login=FAIL')
  }
  expect(await log(password, '198.51.100.1')).toContain('Too many failed log-ins')
  expect(await log(password, '203.0.113.7')).toBe('Login=OK')
})
