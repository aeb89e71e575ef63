import { holderAccess } from '@gateway/core'
import { totpCode } from '@gateway/core/testing'
import { admissionGate, createLog, trustProxies } from '@gateway/server'
import request from 'supertest'
import { createPortalServer } from './index.ts'
import { password, startPortal, type Portal } from '../testing/start-portal.ts'

let portal: Portal
beforeEach(async () => {
  portal = await startPortal()
})
afterEach(() => portal.close())

test('login and password open the portal; signing out ends the session, also for a copied cookie', async () => {
  const visitor = await portal.signedIn()
  const stolen = portal.visitor()
  stolen.cookie = visitor.cookie
  expect((await stolen.get('/')).status).toBe(200)
  const out = await visitor.submit('/', {}, 'header form')
  expect([out.to, out.headers['set-cookie']]).toEqual(['/sign-in', expect.anything()])
  expect(visitor.cookie).toBe('portal=')
  for (const one of [stolen, visitor]) expect((await one.get('/')).to).toBe('/sign-in')
})

test('a form submitted after the session ended leads to a notice that nothing was sent, and back to its page', async () => {
  const visitor = await portal.signedIn()
  const form = await visitor.get('/send')
  const otherTab = portal.visitor()
  otherTab.cookie = visitor.cookie
  await otherTab.submit('/', {}, 'header form')
  const { to = '' } = await visitor.submit(form, { text: 'Hello', numbers: '27820000001' })
  const page = await visitor.get(to)
  expect(page.text).toContain('You were signed out before the form was sent. Nothing was sent, changed or charged.')
  expect((await visitor.submit(page, { login: portal.account.login, password })).to).toBe('/send')
  expect(await portal.gateway.queries.listBulkSends(portal.account, { limit: 1 })).toEqual([])
  // A GET request submits no data that could be lost, so no notice is shown.
  await visitor.submit('/', {}, 'header form')
  expect((await visitor.get((await visitor.get('/messages')).to ?? '')).text).not.toContain('You were signed out')
})

test('a planted session cookie is useless, because each log-in sets a new one', async () => {
  const victim = portal.visitor()
  const planted = `portal=${'a'.repeat(43)}`
  victim.cookie = planted
  await victim.submit('/sign-in', { login: portal.account.login, password })
  expect(victim.cookie).not.toBe(planted)
  expect((await victim.get('/')).status).toBe(200)
  const attacker = portal.visitor()
  attacker.cookie = planted
  expect((await attacker.get('/')).to).toBe('/sign-in')
  const again = await portal.signedIn()
  expect(again.cookie).not.toBe(victim.cookie)
})

test('errors are shown beside the field and at the top, and nobody is signed in', async () => {
  const visitor = portal.visitor()
  const wrong = await visitor.submit('/sign-in', { login: portal.account.login, password: 'guess' })
  expect([wrong.status, visitor.cookie]).toEqual([401, undefined])
  expect(wrong.html.querySelector('#problems a')?.getAttribute('href')).toBe('#field-login')
  expect(wrong.html.querySelector('#field-login')?.getAttribute('aria-invalid')).toBe('true')
  expect(wrong.html.querySelector('#field-login')?.getAttribute('value')).toBe(portal.account.login)
  expect(wrong.html.querySelector('#field-password')?.hasAttribute('value')).toBe(false)
  const nobody = await visitor.submit('/sign-in', { login: 'nobody', password: 'guess' })
  expect(nobody.text).toBe(wrong.text)
  expect((await visitor.submit('/sign-in', { login: ' ', password: 'x' })).text).toContain('Enter your login.')
  expect((await visitor.submit('/sign-in', { login: 'x', password: '' })).text).toContain('Enter your password.')
})

test('too many failed log-ins are refused with the time to wait (ruling 1.26)', async () => {
  const visitor = portal.visitor()
  for (let i = 0; i < 11; i++) await visitor.submit('/sign-in', { login: portal.account.login, password: `guess ${i}` })
  const refused = await visitor.submit('/sign-in', { login: portal.account.login, password })
  expect([refused.status, Number(refused.headers['retry-after'])]).toEqual([429, expect.any(Number) as number])
  expect(visitor.cookie).toBeUndefined()
})

test('a lock and a new password end open sessions at once', async () => {
  const visitor = await portal.signedIn()
  await portal.backOffice.commands.setPassword(portal.account.id, 'another horse')
  expect((await visitor.get('/')).to).toBe('/sign-in')
  await portal.backOffice.commands.setPassword(portal.account.id, password)
  const again = await portal.signedIn()
  await portal.backOffice.commands.lockAccount(portal.account.id)
  expect((await again.get('/')).to).toBe('/sign-in')
  const locked = await portal.visitor().submit('/sign-in', { login: portal.account.login, password })
  expect([locked.status, locked.text]).toEqual([403, expect.stringContaining('This account is locked')])
})

test('with a second factor the password alone does not sign in, and one code signs in once, however often it is sent', async () => {
  const visitor = await portal.signedIn()
  for (const typed of ['', 'wrong']) {
    const refused = await visitor.submit(
      '/settings/security',
      { 'factor-password': typed },
      'form:has([value="begin-factor"])',
    )
    expect([refused.status, refused.html.querySelector('code.secret')]).toEqual([422, null])
  }
  const begun = await visitor.submit(
    '/settings/security',
    { 'factor-password': password },
    'form:has([value="begin-factor"])',
  )
  const secret = (begun.html.querySelector('code.secret')?.textContent ?? '').replaceAll(' ', '')
  expect(begun.html.querySelector('svg.qr path')?.getAttribute('d')).toMatch(/^M/)
  const code = (later = 0) => totpCode(secret, Math.floor(portal.clock.now() / 30_000) + later)
  expect((await visitor.submit(begun, { code: code(5) })).status).toBe(422)
  const codes = await visitor.submit(begun, { code: code() })
  expect(codes.html.querySelectorAll('.codes code')).toHaveLength(10)
  expect((await visitor.get('/settings/security')).text).toContain('10 recovery codes are left')

  const other = portal.visitor()
  const codePage = await other.submit('/sign-in?to=%2Fmessages', { login: portal.account.login, password })
  expect([codePage.status, other.cookie, codePage.text]).toEqual([
    200,
    undefined,
    expect.stringContaining('Enter a code'),
  ])
  const wrong = await other.submit(codePage, { code: code() })
  expect([wrong.status, wrong.text]).toEqual([401, expect.stringContaining('wrong or was already used')])
  portal.clock.step(60)
  const twice = await Promise.all([1, 2].map(() => portal.visitor().submit(codePage, { code: code() })))
  expect(twice.map(({ to }) => to).sort()).toEqual(['/messages', undefined])
  expect((await other.submit(codePage, { challenge: 'forged', code: code(1) })).status).toBe(401)
  const recovered = portal.visitor()
  const recoveryCode = codes.html.querySelector('.codes code')?.textContent ?? ''
  expect((await recovered.submit(codePage, { code: recoveryCode })).to).toBe('/messages')
  expect((await recovered.get('/messages')).status).toBe(200)

  const removed = await visitor.submit(
    '/settings/security',
    { do: 'remove-factor', code: code(1) },
    '.panel:has([name="code"])',
  )
  expect(removed.to).toBe('/settings/security?done=removed')
  await portal.signedIn()
})

test('guesses of a code are refused after ten, with the time to wait', async () => {
  const begun = await portal.gateway.commands.beginSecondFactor(portal, { password, network: '192.0.2.0/24' })
  if (typeof begun === 'string' || !('secret' in begun)) throw new Error('the setup of a second factor was refused')
  const code = () => totpCode(begun.secret, Math.floor(portal.clock.now() / 30_000))
  await portal.gateway.commands.setSecondFactor(portal, begun.challenge, code())
  portal.clock.step(60)
  const visitor = portal.visitor()
  const codePage = await visitor.submit('/sign-in', { login: portal.account.login, password })
  const wrong = code() === '000000' ? '111111' : '000000'
  for (let i = 0; i < 10; i++) expect((await visitor.submit(codePage, { code: wrong })).status).toBe(401)
  const refused = await visitor.submit(codePage, { code: code() })
  expect([refused.status, Number(refused.headers['retry-after'])]).toEqual([429, expect.any(Number) as number])
  expect(visitor.cookie).toBeUndefined()
})

test('a person who needs a second factor and has none sets it up when signing in', async () => {
  const before = await portal.signedIn()
  await portal.backOffice.commands.requireAccountFactor(portal.account.id, true)
  expect((await before.get('/')).to).toBe('/sign-in')
  const visitor = portal.visitor()
  const codePage = await visitor.submit('/sign-in', { login: portal.account.login, password })
  const secret = (codePage.html.querySelector('code.secret')?.textContent ?? '').replaceAll(' ', '')
  const codes = await visitor.submit(codePage, { code: totpCode(secret, Math.floor(portal.clock.now() / 30_000)) })
  expect(codes.html.querySelectorAll('.codes code')).toHaveLength(10)
  expect((await visitor.get('/')).status).toBe(200)
  expect((await visitor.get('/settings/security')).text).toContain('cannot be removed')
})

test('a link shows a button, which signs in once', async () => {
  const offered = await portal.backOffice.commands.offerSignInLink(portal.account.id)
  if (typeof offered === 'string') throw new Error(offered)
  const path = `/link?token=${offered.token}`
  await portal.visitor().get(path)
  const visitor = portal.visitor()
  expect((await visitor.submit(path)).to).toBe('/')
  expect((await visitor.get('/')).status).toBe(200)
  const second = await portal.visitor().submit(path)
  expect([second.status, second.text]).toEqual([401, expect.stringContaining('was already used')])
})

test('signing in leads back to the requested page, and never to another host', async () => {
  const led = await portal.visitor().get('/messages?q=2782')
  expect(led.to).toBe('/sign-in?to=%2Fmessages%3Fq%3D2782')
  for (const [to, expected] of [
    ['/messages?q=2782', '/messages?q=2782'],
    ['//example.com', '/'],
    ['/\\example.com', '/'],
    ['https://example.com/', '/'],
    ['javascript:alert(1)', '/'],
  ]) {
    const path = `/sign-in?to=${encodeURIComponent(to ?? '')}`
    const entered = await portal.visitor().submit(path, { login: portal.account.login, password })
    expect([to, entered.to]).toEqual([to, expected])
  }
})

test('over TLS the cookie is bound to this host and is never sent over an unencrypted connection', async () => {
  const log = createLog({ level: 'silent', name: 'portal' })
  const app = createPortalServer(portal.gateway, {
    ...{ clock: portal.clock, holders: holderAccess(portal.ports, portal.gateway) },
    ...{ log, gate: admissionGate(10) },
  })
  trustProxies(app, ['127.0.0.0/8', '::1/128', '::ffff:127.0.0.0/104'])
  const signIn = (headers: Record<string, string>) =>
    request(app)
      .post('/sign-in')
      .set({ 'Sec-Fetch-Site': 'same-origin', ...headers })
      .type('form')
      .send({ login: portal.account.login, password })
  const overTls = await signIn({ 'X-Forwarded-Proto': 'https' })
  const [cookie = ''] = overTls.headers['set-cookie'] as unknown as string[]
  expect(cookie).toMatch(/^__Host-portal=[\w-]{43}; Path=\/; HttpOnly; Secure; SameSite=Lax$/)
  const plain = await signIn({})
  expect(plain.headers['set-cookie']).toEqual([
    expect.stringMatching(/^portal=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax$/),
  ])
  // A cookie that could be planted over an unencrypted connection is ignored over TLS.
  const planted = await request(app)
    .get('/')
    .set({ 'X-Forwarded-Proto': 'https', Cookie: cookie.replace('__Host-', '') })
  expect(planted.headers.location).toBe('/sign-in')
})
