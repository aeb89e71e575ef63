import { holderAccess, operatorAccess } from '@gateway/core'
import { totpCode } from '@gateway/core/testing'
import { admissionGate, createLog, trustProxies } from '@gateway/server'
import request from 'supertest'
import { createPortalServer } from '../../index.ts'
import { startPortal, type Portal, type Visitor } from '../../../testing/start-portal.ts'
import { client, startProvider, type LocalProvider } from '../../../testing/start-provider.ts'

let provider: LocalProvider
let portal: Portal
let further = ''
beforeAll(async () => {
  provider = await startProvider(() => [`${portal.url}/operator/sign-in/answer`, further])
})
afterAll(() => provider.close())
beforeEach(async () => {
  portal = await startPortal({}, undefined, undefined, { issuer: provider.issuer, ...client, claim: 'email' })
  await portal.backOffice.commands.addOperator({ name: 'ann@acme.example', role: 'admin' }, 'battery staple 7')
  Object.assign(provider, { isForged: false, person: { email: 'Ann@acme.example', email_verified: true } })
})
afterEach(() => portal.close())

/** Returns the address to which the provider redirects back, after a request to it with `changed` parameters. */
async function sentBack(visitor: Visitor, changed: Record<string, string> = {}, from = ''): Promise<URL> {
  const led = await visitor.get(`/operator/sign-in/provider${from}`)
  const address = new URL(led.to ?? '')
  for (const [name, value] of Object.entries(changed)) address.searchParams.set(name, value)
  return provider.visit(address.href)
}
const pathOf = ({ pathname, search }: URL): string => pathname + search

test('a provider signs in the operator whose name is the verified e-mail address, and leads to the requested page', async () => {
  const visitor = portal.visitor()
  const response = await visitor.get('/operator/sign-in?to=%2Foperator%2Faudit')
  const link = response.html.querySelector('main a.button')
  expect(link?.textContent).toBe(`Sign in with ${new URL(provider.issuer).host}`)
  const led = await visitor.get(link?.getAttribute('href') ?? '')
  expect(Object.fromEntries(new URL(led.to ?? '').searchParams)).toMatchObject({
    ...{ response_type: 'code', client_id: 'gateway', code_challenge_method: 'S256' },
    redirect_uri: `${portal.url}/operator/sign-in/answer`,
  })
  expect(String(led.headers['set-cookie'])).toMatch(
    /^portal-attempt=[\w-]{43}; Max-Age=600; Path=\/; Expires=[^;]+; HttpOnly; SameSite=Lax$/,
  )
  const entered = await visitor.get(pathOf(await provider.visit(led.to ?? '')))
  expect([entered.status, entered.to]).toEqual([303, '/operator/audit'])
  expect(String(entered.headers['set-cookie'])).toContain('portal-attempt=; ')
  expect((await visitor.get('/operator')).status).toBe(200)
})

test('the redirect back signs in once, and only in the browser that started the sign-in', async () => {
  const [attacker, victim] = [portal.visitor(), portal.visitor()]
  const answer = pathOf(await sentBack(attacker))
  for (const cookie of [undefined, `portal-attempt=${'a'.repeat(43)}`]) {
    victim.cookie = cookie
    const refused = await victim.get(answer)
    expect([refused.status, refused.text]).toEqual([401, expect.stringContaining('not started in this browser')])
    expect((await victim.get('/operator')).to).toBe('/operator/sign-in')
  }
  const own = attacker.cookie
  expect((await attacker.get(answer)).to).toBe('/operator')
  const again = portal.visitor()
  again.cookie = own
  expect([(await again.get(answer)).status, (await again.get('/operator')).to]).toEqual([401, '/operator/sign-in'])
})

test('a planted session cookie is useless after the sign-in, which sets a new one', async () => {
  const visitor = portal.visitor()
  const answer = pathOf(await sentBack(visitor))
  const planted = `portal-operator=${'a'.repeat(43)}`
  visitor.cookie = `${visitor.cookie}; ${planted}`
  await visitor.get(answer)
  expect(visitor.cookie).toMatch(/^portal-operator=(?!a{43})[\w-]{43}$/)
  const attacker = portal.visitor()
  attacker.cookie = planted
  expect((await attacker.get('/operator')).to).toBe('/operator/sign-in')
})

test.each([
  ['another nonce', { nonce: 'another' }, {}],
  ['the challenge of another verifier', { code_challenge: 'a'.repeat(43) }, {}],
  ['another issuer beside the code', {}, { iss: 'https://evil.example' }],
  ['another code', {}, { code: 'guessed' }],
])('%s is refused', async (_what, parameters, answered) => {
  const visitor = portal.visitor()
  const back = await sentBack(visitor, parameters)
  for (const [name, value] of Object.entries(answered)) back.searchParams.set(name, value)
  const refused = await visitor.get(pathOf(back))
  expect([refused.status, refused.text]).toEqual([401, expect.stringContaining('could not be verified')])
  expect((await visitor.get('/operator')).to).toBe('/operator/sign-in')
})

test('a token with a foreign signature is refused', async () => {
  provider.isForged = true
  const visitor = portal.visitor()
  const refused = await visitor.get(pathOf(await sentBack(visitor)))
  expect([refused.status, refused.text]).toEqual([401, expect.stringContaining('could not be verified')])
})

test('a changed state is refused and does not lead to another host', async () => {
  const visitor = portal.visitor()
  const back = await sentBack(visitor)
  const [digest = ''] = (back.searchParams.get('state') ?? '').split('.')
  for (const state of ['', 'x', `${digest}.${Buffer.from('//evil.example').toString('base64url')}`]) {
    back.searchParams.set('state', state)
    const other = portal.visitor()
    other.cookie = visitor.cookie
    expect((await other.get(pathOf(back))).text).toContain('not started in this browser')
  }
  const away = await sentBack(visitor, {}, '?to=%2F%2Fevil.example')
  expect((await visitor.get(pathOf(away))).to).toBe('/operator')
})

test.each([
  ['an unknown name', { email: 'bob@acme.example', email_verified: true }, 'you are bob@acme.example. No operator'],
  ['an address that is not verified', { email: 'ann@acme.example', email_verified: false }, 'has not verified'],
  ['an address without a statement whether it is verified', { email: 'ann@acme.example' }, 'has not verified'],
  ['no address', { email_verified: true }, 'does not send the claim'],
  [
    'letters that only look like those of the name',
    { email: 'ann@a\u212Ame.example', email_verified: true },
    'No operator',
  ],
  ['a cancelled sign-in', undefined, 'denied the sign-in'],
])('%s does not sign in and creates no operator', async (_what, person, expected) => {
  await portal.backOffice.commands.addOperator({ name: 'ann@akme.example', role: 'admin' }, 'battery staple 7')
  const before = await portal.backOffice.queries.listOperators()
  provider.person = person
  const visitor = portal.visitor()
  const refused = await visitor.get(pathOf(await sentBack(visitor)))
  expect(refused.text).toContain(expected)
  expect([(await visitor.get('/operator')).to, await portal.backOffice.queries.listOperators()]).toEqual([
    '/operator/sign-in',
    before,
  ])
})

test('a locked operator gets the same answer as a stranger', async () => {
  const [operator] = await portal.backOffice.queries.listOperators()
  if (operator !== undefined) await portal.backOffice.commands.lockOperator(operator.id)
  const visitor = portal.visitor()
  const refused = await visitor.get(pathOf(await sentBack(visitor)))
  expect([refused.status, refused.text]).toEqual([403, expect.stringContaining('No operator of this name may sign in')])
})

test('the provider replaces only the password: an operator with a second factor is asked for its code', async () => {
  const [operator] = await portal.backOffice.queries.listOperators()
  if (operator === undefined) throw new Error('no operator')
  const begun = await portal.backOffice.commands.beginOperatorFactor(operator, {
    ...{ password: 'battery staple 7', network: '192.0.2.0/24', address: '192.0.2.7' },
  })
  if (typeof begun === 'string' || !('secret' in begun)) throw new Error('not begun')
  const code = () => totpCode(begun.secret, Math.floor(portal.clock.now() / 30_000))
  await portal.backOffice.commands.setOperatorFactor(operator, begun.challenge, code())
  portal.clock.step(60)
  const visitor = portal.visitor()
  const response = await visitor.get(pathOf(await sentBack(visitor, {}, '?to=%2Foperator%2Faudit')))
  expect(response.text).toContain('Enter a code')
  expect((await visitor.get('/operator')).to).toBe('/operator/sign-in')
  expect((await visitor.submit(response, { code: code() })).to).toBe('/operator/audit')
})

test('behind a TLS proxy the redirect back uses TLS, and both cookies are secure', async () => {
  const { ports, gateway, clock } = portal
  const app = createPortalServer(gateway, {
    ...{ clock, holders: holderAccess(ports, gateway), operators: operatorAccess(ports), gate: admissionGate(10) },
    ...{
      log: createLog({ level: 'silent', name: 'portal' }),
      oidc: { ...client, issuer: provider.issuer, claim: 'sub' },
    },
  })
  trustProxies(app, ['127.0.0.0/8', '::1/128', '::ffff:127.0.0.0/104'])
  const get = (path: string, cookie = '') =>
    request(app).get(path).set({ 'X-Forwarded-Proto': 'https', Host: 'sms.acme.example', Cookie: cookie })
  await portal.backOffice.commands.addOperator({ name: 'ann-7', role: 'admin' }, 'battery staple 7')
  provider.person = { sub: 'ann-7' }
  further = 'https://sms.acme.example/operator/sign-in/answer'
  const led = await get('/operator/sign-in/provider')
  expect(new URL(led.headers['location'] ?? '').searchParams.get('redirect_uri')).toBe(further)
  const [attempt = ''] = led.headers['set-cookie'] as unknown as string[]
  expect(attempt).toMatch(/^__Host-portal-attempt=.*; HttpOnly; Secure; SameSite=Lax$/)
  const back = pathOf(await provider.visit(led.headers['location'] ?? ''))
  const entered = await get(back, attempt.split(';')[0])
  expect([entered.headers['location'], String(entered.headers['set-cookie'])]).toEqual([
    '/operator',
    expect.stringMatching(
      /^__Host-portal-operator=[\w-]{43}; Path=\/; HttpOnly; Secure; SameSite=Lax,__Host-portal-attempt=;/,
    ),
  ])
})

test('another claim can be the name; an unreachable provider is reported and tried again', async () => {
  const settings = { ...client, claim: 'preferred_username' }
  const named = await startPortal({}, undefined, undefined, { issuer: provider.issuer, ...settings })
  const before = portal
  portal = named
  try {
    await named.backOffice.commands.addOperator({ name: 'ann', role: 'support' }, 'battery staple 7')
    provider.person = { preferred_username: 'ann' }
    const visitor = named.visitor()
    expect((await visitor.get(pathOf(await sentBack(visitor)))).to).toBe('/operator')
  } finally {
    portal = before
    await named.close()
  }
  const lost = await startPortal({}, undefined, undefined, { issuer: 'http://127.0.0.1:9', ...settings })
  try {
    for (let i = 0; i < 2; i++) {
      const refused = await lost.visitor().get('/operator/sign-in/provider')
      expect([refused.status, refused.text]).toEqual([503, expect.stringContaining('cannot be reached')])
    }
  } finally {
    await lost.close()
  }
})

test('a provider that becomes unreachable during the sign-in is reported', async () => {
  const leaving = await startProvider(() => [`${short.url}/operator/sign-in/answer`])
  const short = await startPortal({}, undefined, undefined, { issuer: leaving.issuer, ...client, claim: 'email' })
  try {
    leaving.person = { email: 'ann@acme.example', email_verified: true }
    const visitor = short.visitor()
    const led = await visitor.get('/operator/sign-in/provider')
    const back = await leaving.visit(led.to ?? '')
    await leaving.close()
    const refused = await visitor.get(pathOf(back))
    expect([refused.status, refused.text]).toEqual([503, expect.stringContaining('cannot be reached')])
  } finally {
    await short.close()
    await leaving.close()
  }
})

test('without a provider, its button and its pages do not exist', async () => {
  const plain = await startPortal()
  try {
    const visitor = plain.visitor()
    expect((await visitor.get('/operator/sign-in')).html.querySelector('main a.button')).toBeNull()
    for (const page of ['provider', 'answer?code=x&state=y'])
      expect((await visitor.get(`/operator/sign-in/${page}`)).status).toBe(404)
  } finally {
    await plain.close()
  }
})
