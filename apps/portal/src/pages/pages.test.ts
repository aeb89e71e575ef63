import type { BulkSendId } from '@gateway/core/bulk-sends'
import type { CarrierId } from '@gateway/core/dispatch'
import { instant, secondsAfter } from '@gateway/core/time'
import { aNumber, arrive, write, reportCarriers } from '@gateway/core/testing'
import { aHolder, sameOrigin, startPortal, type Portal, type Shown, type Visitor } from '../../testing/start-portal.ts'
import { describeMalformed } from '../rest-paths.ts'
import { pages } from './index.ts'

let portal: Portal
let own: Visitor
let foreign: Visitor
let operator: Visitor
interface Example {
  readonly own: string
  readonly unknown: string
  /** True if every account has a page for this parameter value, and each of these pages has different content. */
  readonly isOfEverybody?: boolean
}

/** Values for the parameter of a path: an object of the account, and one that does not exist. */
let examples: Readonly<Record<string, Example>>

/** OpenID provider that does not respond, and the status codes with which the pages report it. */
const noProvider = { issuer: 'http://127.0.0.1:9', clientId: 'gateway', clientSecret: undefined, claim: 'email' }
const refusing: Readonly<Record<string, number>> = {
  '/operator/sign-in/provider': 503,
  '/operator/sign-in/answer': 401,
}

beforeAll(async () => {
  portal = await startPortal({}, undefined, undefined, noProvider)
  own = await portal.signedIn()
  foreign = await portal.signedIn(await aHolder(portal.ports, { credits: 7770 }))
  operator = await portal.operator()
  await operator.submit('/operator/connect/twilio', { carrier: 'two', 'secrets.sid': 'AC1', 'secrets.token': 't' })
  await reportCarriers(portal.ports, { id: 'p', host: 'alpha', pid: 7 }, [
    { carrier: 'one' as CarrierId, mode: 'running', window: 50, unanswered: 0, status: undefined },
  ])
  const sent = await portal.gateway.commands.sendMessages(portal.account, [{ text: 'Mine', recipients: [aNumber()] }])
  if (typeof sent === 'string' || 'overLimitSeconds' in sent) throw new Error('nothing was sent')
  const id = sent.flat().map((one) => ('id' in one ? String(one.id) : ''))[0] ?? ''
  const scheduled = secondsAfter(portal.clock.now(), 3600)
  const later = await portal.gateway.commands.sendMessages(portal.account, [
    { text: 'Mine', recipients: [aNumber()], scheduled },
  ])
  const waiting = typeof later === 'object' && 'flat' in later ? later.flat()[0] : undefined
  const template = await portal.gateway.commands.addTemplate(portal.account, { name: 'Mine', text: 'Mine' })
  const key = await portal.gateway.commands.issueKey(portal.account, { label: 'shop' })
  const added = await portal.gateway.commands.addWebhook(portal.account, { url: 'https://shop.example.com/events' })
  const smpp = await portal.gateway.commands.addSmppCredential(portal.account)
  if (typeof key === 'string' || typeof added === 'string' || typeof smpp === 'string') throw new Error('not set up')
  const credential = { own: String(smpp.credential.id), unknown: '999999' }
  const user = await portal.gateway.commands.inviteUser(portal.account, { email: 'ann@acme.example', role: 'sender' })
  if (typeof user === 'string') throw new Error(user)
  const rows = [{ row: 1, number: aNumber(), fields: ['Mine'] }]
  const drafts: string[] = []
  for (const key of ['a', 'b']) {
    const newSend = { columns: ['name'], text: 'Dear {name}', scheduled: undefined, key }
    drafts.push(String(await portal.gateway.commands.draftBulkSend(portal.account, newSend, [rows])))
  }
  await portal.gateway.commands.startBulkSend(portal.account, Number(drafts[1]) as BulkSendId, 0)
  await write(portal.ports, portal.account, '27820000077')
  await arrive(portal.ports, '27820000077', 'Mine')
  const webhook = { own: String(added.webhook.id), unknown: '999999' }
  examples = {
    '/inbox/:from': { own: '27820000077', unknown: '27820000078' },
    '/settings/keys/:id': { own: String(key.id), unknown: '999999' },
    '/settings/users/:id': { own: String(user.id), unknown: '999999' },
    '/send/:id': { own: drafts[0] ?? '', unknown: '999999' },
    '/send/:id/text': { own: drafts[0] ?? '', unknown: '999999' },
    '/send/:id/sent': { own: drafts[1] ?? '', unknown: '999999' },
    '/send/:id/results': { own: drafts[1] ?? '', unknown: '999999' },
    '/send/:id/refused': { own: drafts[0] ?? '', unknown: '999999' },
    '/settings/smpp/:id': credential,
    '/settings/smpp/:id/remove': credential,
    '/settings/webhooks/:id': webhook,
    '/settings/webhooks/:id/remove': webhook,
    '/statement/:month': { own: '2026-10', unknown: '2026-13', isOfEverybody: true },
    '/statement/:month/download': { own: '2026-10', unknown: '2026-13', isOfEverybody: true },
    '/send/:id/changed': { own: drafts[0] ?? '', unknown: '999999' },
    '/send/:id/columns': { own: drafts[0] ?? '', unknown: '999999' },
    '/templates/:id': { own: String(template), unknown: '999999' },
    '/messages/:id/change': { own: String(waiting && 'id' in waiting ? waiting.id : ''), unknown: '999999' },
    '/messages/:id': { own: id, unknown: '999999' },
    '/operator/messages/:id': { own: id, unknown: '999999' },
    '/operator/accounts/:id': { own: String(portal.account.id), unknown: '999999' },
    '/operator/carriers/:name': { own: 'one', unknown: 'nobody' },
    '/operator/carriers/:name/connection': { own: 'two', unknown: 'nobody' },
    '/operator/connect/:provider': { own: 'twilio', unknown: 'nobody' },
  }
})
afterAll(() => portal.close())

const pathOf = (path: string, which: 'own' | 'unknown'): string => {
  if (!path.includes(':')) return path
  const example = examples[path]
  // An example is required, because every page with a parameter must be tried with an object of another account.
  if (example === undefined) throw new Error(`${path} has no example`)
  return path.replace(/:\w+/, example[which])
}

/** Returns a visitor who may see the page. */
const whoSees = (path: string): Visitor => (pageOf(path)?.audience === 'operator' ? operator : own)
const pageOf = (path: string) => pages.find((page) => page.path === path)

const table = pages.map((page) => [page.path, page] as const)
const shownAsPages = table.filter(([, { isFile }]) => isFile !== true)
const guarded = table.filter(([, { audience }]) => audience !== 'anybody')
const ofOperators = table.filter(([, { audience }]) => audience === 'operator')
const ofHolders = table.filter(([, { audience }]) => audience !== 'operator')
const withName = ofHolders.filter(([path]) => path.includes(':'))
const withForm = ofHolders.filter(([, { submit }]) => submit !== undefined)
const operatorForms = ofOperators.filter(([, { submit }]) => submit !== undefined)

/** Returns the page, or the page to which it redirects. */
async function shownTo(visitor: Visitor, path: string): Promise<Shown> {
  const response = await visitor.get(pathOf(path, 'own'))
  const shown = response.to === undefined ? response : await visitor.get(response.to)
  expect(shown.status).toBe(refusing[path] ?? 200)
  return shown
}

const statusAndText = ({ status, text }: Shown) => [status, text]

test.each(guarded)(
  '%s redirects visitors who are not signed in to the sign-in page, and shows nothing',
  async (path) => {
    const stranger = portal.visitor()
    const shown = await stranger.get(pathOf(path, 'own'))
    expect([shown.status, shown.to]).toEqual([303, expect.stringMatching(/^(\/operator)?\/sign-in/)])
    for (const name of ['portal', 'portal-operator']) {
      stranger.cookie = `${name}=${'x'.repeat(43)}`
      expect((await stranger.get(pathOf(path, 'own'))).to).toMatch(/^(\/operator)?\/sign-in/)
    }
  },
)

test.each(ofOperators)(
  '%s is for no account holder, also not with the token of a session as an operator',
  async (path) => {
    const [, token = ''] = own.cookie?.split('=') ?? []
    const holder = portal.visitor()
    for (const cookie of [`portal=${token}`, `portal-operator=${token}`]) {
      holder.cookie = cookie
      const shown = await holder.get(pathOf(path, 'own'))
      expect([shown.status, shown.to]).toEqual([303, expect.stringMatching(/^\/operator\/sign-in/)])
    }
  },
)

test.each(guarded.filter(([, { audience }]) => audience === 'holder'))(
  '%s cannot be seen by an operator',
  async (path) => {
    const [, token = ''] = operator.cookie?.split('=') ?? []
    const stranger = portal.visitor()
    for (const cookie of [`portal=${token}`, `portal-operator=${token}`]) {
      stranger.cookie = cookie
      expect((await stranger.get(pathOf(path, 'own'))).to).toMatch(/^\/sign-in/)
    }
  },
)

describe('a form of an operator that does not come from a page of this portal does nothing', () => {
  test.each(operatorForms)('on %s: another host, no host, no token, a token of an account holder', async (path) => {
    const token =
      (await operator.get('/operator/sign-out')).html.querySelector('[name="token"]')?.getAttribute('value') ?? ''
    const foreignToken = (await own.get('/send')).html.querySelector('[name="token"]')?.getAttribute('value') ?? ''
    const attempts: readonly (readonly [fields: Record<string, string>, headers: Record<string, string>])[] = [
      [{ token }, { 'Sec-Fetch-Site': 'cross-site' }],
      [{ token }, { Origin: 'https://example.com' }],
      [{ token }, {}],
      [{}, sameOrigin],
      [{ token: foreignToken }, sameOrigin],
    ]
    for (const [fields, headers] of attempts) {
      const answer = await operator.post(pathOf(path, 'own'), fields, headers)
      expect([headers, answer.status, answer.text]).toEqual([headers, 403, expect.stringContaining('Nothing was done')])
    }
    expect((await operator.get('/operator')).status).toBe(200)
  })
})

test.each(shownAsPages)(
  '%s has headers that let no other page show it, and nothing run that is not ours',
  async (path) => {
    const { headers, html } = await shownTo(whoSees(path), path)
    expect(headers['content-security-policy']).toBe(
      "default-src 'none';script-src 'self';style-src 'self';img-src 'self';connect-src 'self';form-action 'self';base-uri 'none';frame-ancestors 'none'",
    )
    expect(headers).toMatchObject({ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' })
    expect(html.querySelectorAll('[style],[onclick],style,iframe').length).toBe(0)
    expect(html.querySelectorAll('script').map((script) => script.getAttribute('src'))).toEqual(['/assets/portal.js'])
  },
)

test.each(shownAsPages)(
  '%s can be read by a screen reader: one heading, labelled fields, captions, no id twice',
  async (path) => {
    const { html } = await shownTo(whoSees(path), path)
    expect(html.querySelectorAll('h1').length).toBe(1)
    expect(html.querySelector('title')?.textContent).toMatch(/.+ – SMS gateway/)
    const ids = html.querySelectorAll('[id]').map(({ id }) => id)
    expect(new Set(ids).size).toBe(ids.length)
    const fields = html.querySelectorAll('input:not([type="hidden"]),textarea,select')
    for (const field of fields) {
      const isLabelled = html.querySelector(`label[for="${field.id}"]`) !== null || field.closest('label') !== null
      expect([field.toString(), isLabelled]).toEqual([field.toString(), true])
    }
    for (const found of html.querySelectorAll('table')) expect(found.querySelector('caption')).not.toBeNull()
  },
)

test.each(shownAsPages)('every link of %s works', async (path) => {
  const visitor = whoSees(path)
  const { html } = await shownTo(visitor, path)
  for (const link of html.querySelectorAll('a[href^="/"]')) {
    const to = link.getAttribute('href') ?? ''
    const { status } = await visitor.get(to)
    expect([to, status < 400 || status === refusing[to.replace(/\?.*/, '')]]).toEqual([to, true])
  }
})

test.each(withName)(
  '%s shows nothing of another account: the response is the same as for an unknown object (P-10)',
  async (path) => {
    const [foreignPage, unknown] = [await foreign.get(pathOf(path, 'own')), await foreign.get(pathOf(path, 'unknown'))]
    expect(unknown.status).toBe(404)
    if (examples[path]?.isOfEverybody === true) expect(foreignPage.text).not.toMatch(/1\.0|99\.0|100\.0/)
    else expect(statusAndText(foreignPage)).toEqual(statusAndText(unknown))
    expect((await own.get(pathOf(path, 'own'))).status).toBe(200)
  },
)

test.each(withForm.filter(([path]) => path.includes(':')))(
  'a form of %s changes nothing that belongs to another account',
  async (path) => {
    const page = await foreign.get('/send')
    const token = page.html.querySelector('[name="token"]')?.getAttribute('value') ?? ''
    const [foreignPage, unknown] = [
      await foreign.post(pathOf(path, 'own'), { token }),
      await foreign.post(pathOf(path, 'unknown'), { token }),
    ]
    expect(foreignPage.status).toBe(404)
    expect(statusAndText(foreignPage)).toEqual(statusAndText(unknown))
  },
)

describe('a form that does not come from a page of this portal does nothing', () => {
  test.each(withForm)('on %s: another host, no host, no token, a token of another session', async (path) => {
    const to = pathOf(path, 'own')
    const token = (await own.get('/send')).html.querySelector('[name="token"]')?.getAttribute('value') ?? ''
    const foreignToken = (await foreign.get('/send')).html.querySelector('[name="token"]')?.getAttribute('value') ?? ''
    const attempts: readonly (readonly [fields: Record<string, string>, headers: Record<string, string>])[] = [
      [{ token }, { 'Sec-Fetch-Site': 'cross-site' }],
      [{ token }, { 'Sec-Fetch-Site': 'same-site' }],
      [{ token }, { 'Sec-Fetch-Site': 'none' }],
      [{ token }, { Origin: 'https://example.com' }],
      [{ token }, { Origin: 'null' }],
      [{ token }, {}],
      [{}, sameOrigin],
      [{ token: foreignToken }, sameOrigin],
    ]
    for (const [fields, headers] of attempts) {
      const answer = await own.post(to, fields, headers)
      expect([headers, answer.status, answer.text]).toEqual([headers, 403, expect.stringContaining('Nothing was done')])
    }
    expect((await own.get('/')).status).toBe(200)
  })

  test('without TLS, where a browser sends only Origin, the origin of this host is accepted', async () => {
    const visitor = portal.visitor()
    const answer = await visitor.post('/sign-in', {}, { Origin: portal.url })
    expect(answer.status).toBe(422)
  })
})

test('texts that people write are escaped on every page', async () => {
  const evil = `<script>alert(1)</script>"'><img src=x onerror=alert(1)>`
  const sent = await portal.gateway.commands.sendMessages(portal.account, [
    { text: evil, recipients: [{ number: '27820000009', reference: '<b>ref</b>' as never }] },
  ])
  if (typeof sent === 'string' || 'overLimitSeconds' in sent) throw new Error('nothing was sent')
  for (const path of ['/', '/messages', `/messages?q=${encodeURIComponent(evil)}`, '/messages?q=27820000009']) {
    const shown = await own.get(path)
    const { html } = shown.to === undefined ? shown : await own.get(shown.to)
    expect(html.querySelectorAll('main script, main img, main b').length).toBe(0)
    expect(html.toString()).toContain('&lt;')
  }
  const wrong = await own.submit('/send', { text: evil, numbers: evil, time: evil })
  expect([wrong.status, wrong.html.querySelectorAll('main script, main img').length]).toEqual([422, 0])
  const login = await portal.visitor().submit('/sign-in', { login: evil, password: 'x' })
  expect(login.html.querySelectorAll('main script, main img').length).toBe(0)
})

test('an unknown path is answered with an error page', async () => {
  for (const path of ['/nothing', '/send/', '/SEND', '/messages/1/2', '/assets/../package.json']) {
    expect([path, (await own.get(path)).status]).toEqual([path, 404])
  }
  expect((await own.get('/messages/0')).status).toBe(404)
  expect((await own.get('/messages/%')).status).toBeLessThan(501)
})

test.each(['/api/rest/v1/nothing', '/api/rest/', '/api/rest/v1/sms/outgoing/send'])(
  'the portal has no REST, and answers %s with the envelope of REST',
  async (path) => {
    const answer = await fetch(portal.url + path)
    expect(answer.status).toBe(404)
    expect(await answer.json()).toMatchObject({ statusCode: 404, errorCode: 'no-such-path' })
  },
)

test.each(['/api/nothing', '/api/auth.asp', '/api/rests/v1/nothing'])(
  'the portal answers %s, a path of another interface, with 404 in plain text',
  async (path) => {
    const answer = await fetch(portal.url + path)
    expect([answer.status, answer.headers.get('content-type')]).toEqual([404, 'text/plain; charset=utf-8'])
    expect(await answer.text()).toBe('Not found')
  },
)

test('a malformed HTTP request is answered in plain text, and below /api in the form of its interface', () => {
  const refusal = { status: 413, reason: 'The extensions of a chunk are too long.', method: 'GET' }
  const describe = describeMalformed({ now: () => instant(Date.UTC(2026, 10, 27)) })
  expect(describe({ ...refusal, path: '/send' })).toMatchObject({
    status: 413,
    body: expect.stringContaining(refusal.reason) as string,
  })
  expect(JSON.parse(describe({ ...refusal, path: '/api/rest/v1/x' }).body)).toMatchObject({ statusCode: 413 })
  expect(describe({ ...refusal, path: '/api/xmlgetstatus.asp' }).contentType).toBe('text/xml; charset=utf-8')
})
