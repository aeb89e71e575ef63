import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { startPortal, type Portal, type Shown, type Visitor } from '../../../testing/start-portal.ts'

let portal: Portal
let admin: Visitor
let provider: Server
let origin: string
const requests: { readonly url: string; readonly body: string }[] = []
let answer: { readonly status: number; readonly body: string } = { status: 201, body: '{"sid":"SM1"}' }

beforeAll(async () => {
  provider = createServer((request, response) => {
    let body = ''
    request.on('data', (piece: Buffer) => (body += piece.toString()))
    request.on('end', () => {
      requests.push({ url: request.url ?? '', body })
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(answer.body)
    })
  })
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve))
  origin = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`
})
afterAll(() => void provider.close())
beforeEach(async () => {
  portal = await startPortal()
  admin = await portal.operator()
})
afterEach(() => portal.close())

const token = 'hidden-token-42'
const fields = () => ({
  ...{ carrier: 'main', 'secrets.sid': 'AC0123', 'secrets.token': token },
  ...{ from: '+15005550006', baseUrl: origin, publicUrl: 'https://sms.example' },
})
const form = (act: string): string => `main form:has([value="${act}"])`
const page = '/operator/carriers/main/connection'

async function connected(): Promise<Shown> {
  const stored = await admin.submit('/operator/connect/twilio', fields())
  expect([stored.status, stored.to]).toEqual([303, `${page}?done=connected`])
  return admin.get(stored.to ?? '')
}

test('the list leads to the form of each provider, which names its secrets and the steps at its console', async () => {
  const list = await admin.get('/operator/connect')
  expect(list.text).toContain('TwilioAccount SID, Auth token')
  const links = list.html.querySelectorAll('main a').map((link) => link.getAttribute('href') ?? '')
  expect(links.filter((link) => /connect\/\w/.test(link))).toHaveLength(13)
  for (const link of links.filter((one) => /connect\/\w/.test(one))) {
    const shown = await admin.get(link)
    expect([link, shown.status, shown.html.querySelectorAll('main ol li').length > 0]).toEqual([link, 200, true])
  }
  const shown = await admin.get('/operator/connect/twilio')
  expect(shown.html.querySelectorAll('[type="password"]').map((input) => input.getAttribute('name'))).toEqual([
    ...['secrets.sid', 'secrets.token'],
  ])
  expect(shown.text).toContain('"environment": "TWILIO_TOKEN"')
})

test('a provider is connected, tried, started, changed and removed', async () => {
  const shown = await connected()
  expect(shown.text).toContain('https://sms.example/carriers/main/callback')
  expect(shown.text).toContain('The carrier is paused')

  const tried = await admin.submit(page, { number: '27825550101', text: 'Hello' }, form('test'))
  expect(tried.text).toContain('Twilio accepted the message. It is on its way to the phone. Its id there is SM1.')
  expect(requests.at(-1)).toEqual({
    url: '/2010-04-01/Accounts/AC0123/Messages.json',
    body: expect.stringContaining('To=%2B27825550101&From=%2B15005550006&Body=Hello') as string,
  })

  const started = await admin.submit(page, {}, form('start'))
  expect((await admin.get(started.to ?? '')).text).toContain('The carrier is started.')
  expect(await portal.ports.fleet.state()).toMatchObject({ version: 1, paused: [] })

  const changed = await admin.submit(page, { from: 'ACME' }, form('save'))
  expect(changed.to).toBe(`${page}?done=changed`)
  expect((await admin.submit(page, {}, form('remove'))).text).toContain('This is the only carrier')
  await admin.submit('/operator/connect/vonage', { 'secrets.key': 'k', 'secrets.secret': 's' })
  expect((await admin.submit(page, {}, form('remove'))).to).toBe('/operator/connect')
  expect((await admin.get(page)).status).toBe(404)
  expect((await portal.ports.carrierVersions.latest())?.carriers).toEqual(['vonage'])
})

test.each([
  [400, '{"code":21211,"message":"Invalid To"}', 'refused the message. It says: “21211”'],
  [401, '{"code":20003,"message":"Authenticate"}', 'does not accept your account'],
  [429, '{"code":20429}', 'gets too many messages at this moment'],
  [200, '<html>a proxy</html>', 'gave no clear answer'],
])('an answer %d %s is explained, with the words of the provider', async (status, body, text) => {
  await connected()
  answer = { status, body }
  const tried = await admin.submit(page, { number: '27825550101' }, form('test'))
  expect(tried.text).toContain(text)
  expect(tried.text).toContain(`HTTP ${status}`)
  answer = { status: 201, body: '{"sid":"SM1"}' }
})

test('wrong fields are named, and a secret is never shown again', async () => {
  const wrong = await admin.submit('/operator/connect/twilio', {
    ...fields(),
    'secrets.sid': '',
    from: 'much too long',
  })
  expect([wrong.status, wrong.text]).toEqual([422, expect.stringContaining('Enter the Account SID.')])
  expect(wrong.text).toContain('A sender is a number of 3 to 15 digits')
  expect(wrong.html.toString()).not.toContain(token)
  expect(wrong.html.querySelector('[name="baseUrl"]')?.getAttribute('value')).toBe(origin)
  await connected()
  const number = await admin.submit(page, { number: '0825550101' }, form('test'))
  expect([number.status, number.text]).toEqual([422, expect.stringContaining('This begins with 0.')])
})

test('a change after a version that somebody else has replaced is refused', async () => {
  const old = await admin.get('/operator/connect/twilio')
  await connected()
  const refused = await admin.submit(old, { ...fields(), carrier: 'other' })
  expect([refused.status, refused.text]).toEqual([
    422,
    expect.stringContaining('Somebody has stored other carriers in the meantime, so nothing was stored.'),
  ])
  expect(refused.html.querySelector('[name="after"]')?.getAttribute('value')).toBe('1')
  expect((await portal.ports.fleet.state()).paused.map(({ carrier }) => carrier)).toEqual(['main'])
})

test('no page, audit entry or stored column contains a typed secret, whatever the provider answers', async () => {
  await connected()
  answer = { status: 400, body: JSON.stringify({ code: 21211, message: `token ${token} of AC0123` }) }
  const shown = [await admin.submit(page, { number: '27825550101' }, form('test'))]
  answer = { status: 201, body: '{"sid":"SM1"}' }
  for (const path of ['/operator/connect', page, '/operator/audit', '/operator/carriers', '/operator'])
    shown.push(await admin.get(path))
  for (const { html } of shown) expect(html.toString()).not.toMatch(/hidden-token|AC0123/)
  const changes = await portal.backOffice.queries.listChanges({}, 100)
  const records = changes.map(({ begun, ended }) => [begun.record, ended?.record])
  expect(JSON.stringify(records)).toContain('connectProvider')
  expect(JSON.stringify(records)).not.toMatch(/hidden-token|AC0123/)
})

test('support sees the connection, without the URL of the callbacks and without forms', async () => {
  await connected()
  const support = await portal.operator('support')
  const shown = await support.get(page)
  expect([shown.status, shown.html.querySelectorAll('main form').length]).toEqual([200, 0])
  expect(shown.text).not.toContain('https://sms.example')
  expect((await support.get('/operator/connect/vonage')).html.querySelectorAll('main form')).toHaveLength(0)
})

test('a portal that connects no providers has none of these pages', async () => {
  await portal.close()
  portal = await startPortal({}, undefined, undefined, undefined, (ports) => ({
    ...ports,
    providerConnections: undefined,
  }))
  admin = await portal.operator()
  for (const path of ['/operator/connect', '/operator/connect/twilio', page])
    expect((await admin.get(path)).status).toBe(404)
})
