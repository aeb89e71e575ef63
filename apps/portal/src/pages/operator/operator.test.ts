import { randomUUID } from 'node:crypto'
import { aBind, aNumber, aProcess, totpCode, reportCarriers } from '@gateway/core/testing'
import type { AccountId } from '@gateway/core/accounts'
import type { CarrierId } from '@gateway/core/dispatch'
import { password, startPortal, type Portal, type Visitor } from '../../../testing/start-portal.ts'

let portal: Portal
let admin: Visitor
let support: Visitor
let accountPath: string
beforeEach(async () => {
  portal = await startPortal()
  admin = await portal.operator('admin')
  support = await portal.operator('support')
  accountPath = `/operator/accounts/${portal.account.id}`
})
afterEach(() => portal.close())

const balance = async () => (await portal.backOffice.queries.findAccount(portal.account.id))?.balance
/** Returns the form of a page whose `act` field has this value. */
const act = async (visitor: Visitor, path: string, name: string, fill: Readonly<Record<string, string>> = {}) => {
  const token = (await visitor.get(path)).html.querySelector('[name="token"]')?.getAttribute('value') ?? ''
  return visitor.post(path, { token, act: name, operation: randomUUID(), ...fill })
}
const changes = async () => portal.backOffice.queries.listChanges({}, 50)

test('a wrong name and a wrong password look the same; signing out also ends the session for a copied cookie', async () => {
  const visitor = portal.visitor()
  const wrong = await visitor.submit('/operator/sign-in', { login: 'operator-1', password: 'guess' })
  const nobody = await visitor.submit('/operator/sign-in', { login: 'nobody', password })
  expect([wrong.status, visitor.cookie, nobody.text]).toEqual([401, undefined, wrong.text])
  expect((await visitor.submit('/operator/sign-in', { login: portal.account.login, password })).status).toBe(401)
  const stolen = portal.visitor()
  stolen.cookie = admin.cookie
  expect((await stolen.get('/operator')).status).toBe(200)
  const out = await admin.submit('/operator', {}, 'header form')
  expect(out.to).toBe('/operator/sign-in')
  expect((await stolen.get('/operator')).to).toBe('/operator/sign-in')
})

test('signing in leads to the requested page, but never to another host', async () => {
  const visitor = portal.visitor()
  const to = (await visitor.get('/operator/audit?by=ann')).to ?? ''
  expect((await visitor.submit(to, { login: 'operator-1', password })).to).toBe('/operator/audit?by=ann')
  for (const evil of [
    '//evil.example',
    'https://evil.example',
    '/\\evil.example',
    '/send',
    '/operator//evil.example@x',
  ]) {
    const signedIn = await portal.visitor().submit(`/operator/sign-in?to=${encodeURIComponent(evil)}`, {
      ...{ login: 'operator-1', password },
    })
    expect(signedIn.to).toMatch(/^\/operator/)
  }
})

test('a lock takes effect on the account holder at once, and is recorded under the name of the operator', async () => {
  const holder = await portal.signedIn()
  const locked = await act(support, accountPath, 'lock')
  expect([locked.status, locked.text]).toEqual([200, expect.stringContaining('The account is locked')])
  expect((await holder.get('/')).to).toBe('/sign-in')
  await act(support, accountPath, 'unlock')
  await portal.signedIn()
  const [unlock, lock] = (await changes()).map(({ begun }) => JSON.parse(begun.record) as object)
  expect(lock).toMatchObject({ by: 'operator-2', action: 'lockAccount', account: portal.account.id })
  expect(unlock).toMatchObject({ by: 'operator-2', action: 'unlockAccount' })
  expect(lock).toHaveProperty('from', expect.stringMatching(/127\.0\.0\.1/))
})

test('an admin adds and takes credits once for each form, and only with a reason', async () => {
  const before = (await balance()) ?? 0
  const added = await act(admin, accountPath, 'top-up', { amount: '12.5', why: 'invoice 7' })
  expect(added.text).toContain('12.5 credits were added')
  expect(await balance()).toBe(before + 125)
  expect((await act(admin, accountPath, 'top-up', { amount: '-12.5', why: 'mistake' })).text).toContain('were taken')
  for (const [fields, problem] of [
    [{ amount: '5', why: ' ' }, 'Enter a reason'],
    [{ amount: 'much', why: 'x' }, 'Enter how many credits'],
    [{ amount: '0', why: 'x' }, 'Enter how many credits'],
    [{ amount: '-999999999', why: 'x' }, 'The balance would be negative'],
  ] as const) {
    const refused = await act(admin, accountPath, 'top-up', fields)
    expect([refused.status, refused.text]).toEqual([422, expect.stringContaining(problem)])
  }
  expect(await balance()).toBe(before)
  expect((await portal.backOffice.queries.verifyLedger()).differences).toEqual([])
})

test('a form for credits that is submitted twice, or again later, takes effect once', async () => {
  const before = (await balance()) ?? 0
  const page = await admin.get(accountPath)
  const form = '.panel:has([name="amount"]) form'
  const send = () => admin.submit(page, { amount: '5', why: 'invoice' }, form)
  const answers = await Promise.all([send(), send()])
  expect(answers.map(({ status }) => status)).toEqual([200, 200])
  expect((await send()).text).toContain('The change was made once.')
  expect(await balance()).toBe(before + 50)
})

test('support sees no form for money or people, and a form that it submits anyway does nothing', async () => {
  const before = await balance()
  expect((await support.get(accountPath)).text).not.toContain('Add or take credits')
  for (const [path, name, fields] of [
    [accountPath, 'top-up', { amount: '5', why: 'x' }],
    [accountPath, 'issue-key', { label: 'x' }],
    [accountPath, 'link', {}],
    ['/operator/operators', 'add', { name: 'eve', role: 'admin', password: 'long enough' }],
    ['/operator/operators', 'support', { operator: '1' }],
  ] as const) {
    const refused = await act(support, path, name, fields)
    expect([name, refused.status, refused.text]).toEqual([
      name,
      403,
      expect.stringContaining('Your role may not do this'),
    ])
  }
  expect(await balance()).toBe(before)
  expect(await portal.backOffice.queries.listApiKeys(portal.account.id)).toEqual([])
  expect(await portal.backOffice.queries.listOperators()).toHaveLength(2)
  expect(await changes()).toEqual([])
})

test('a key is shown once and opens the account; a revoked one does not', async () => {
  const issued = await act(admin, accountPath, 'issue-key', { label: '<b>crm</b>' })
  const key = issued.html.querySelector('.notice code')?.textContent ?? ''
  expect(issued.html.querySelectorAll('main b').length).toBe(0)
  const opens = () => portal.gateway.commands.authenticate({ apiKey: key, network: '127.0.0.0/24' })
  expect(await opens()).toMatchObject({ id: portal.account.id })
  expect((await admin.get(accountPath)).text).not.toContain(key)
  await act(support, accountPath, 'revoke-key', { key: '1' })
  expect(await opens()).toBe('wrong-credentials')
  expect((await act(admin, accountPath, 'revoke-key', { key: '99' })).status).toBe(404)
})

test('a form for a key that is submitted twice makes one key', async () => {
  const page = await admin.get(accountPath)
  const send = () => admin.submit(page, { label: 'crm' }, '.panel:has([name="label"]) form:last-of-type')
  const answers = await Promise.all([send(), send()])
  expect(answers.filter(({ text }) => text.includes('one key was issued')).length).toBe(1)
  expect(await portal.backOffice.queries.listApiKeys(portal.account.id)).toHaveLength(1)
})

test('a message of any account is found by number and id; its text is not shown', async () => {
  const sent = await portal.gateway.commands.sendMessages(portal.account, [
    { text: 'Secret words', recipients: [aNumber('27825550101')] },
  ])
  if (typeof sent === 'string' || 'overLimitSeconds' in sent) throw new Error('nothing was sent')
  const found = await support.get('/operator/messages?q=%2B27825550101')
  expect(found.text).toContain('27825550101')
  const { to = '' } = await support.get('/operator/messages?q=1')
  expect(to).toBe('/operator/messages/1')
  const story = await support.get(to)
  expect(story.text).toContain('waits for a dispatcher')
  expect(story.text).toContain('no dispatcher')
  expect(story.text + found.text).not.toContain('Secret words')
  expect((await support.get('/operator/messages?q=nothing-there')).text).toContain('Nothing was found')
})

test('a number is blocked and unblocked', async () => {
  const blocked = await act(support, '/operator/numbers', 'block', { number: '+27825550101', reason: 'blacklist' })
  expect(blocked.text).toContain('27825550101 is blocked')
  const [quote] = await quoteTo('27825550101')
  expect(quote).toBe('blacklisted')
  await act(support, '/operator/numbers', 'unblock', { number: '27825550101', reason: 'blacklist' })
  expect(await quoteTo('27825550101')).not.toContain('blacklisted')
  expect((await act(support, '/operator/numbers', 'block', { number: 'x', reason: 'blacklist' })).status).toBe(422)
})

async function quoteTo(number: string) {
  const sent = await portal.gateway.commands.sendMessages(portal.account, [{ text: 'Hello', recipients: [number] }])
  if (typeof sent === 'string' || 'overLimitSeconds' in sent) throw new Error('nothing was sent')
  return sent.flat().map((one) => ('refused' in one ? one.refused : JSON.stringify(one)))
}

test('the first page reports that no dispatcher is running and that a carrier is not bound', async () => {
  expect((await support.get('/operator')).text).toContain('No dispatcher runs')
  const links = [{ role: 'transceiver', boundSince: undefined, inUse: 0 }]
  const status = {
    ...{ window: 50, links, perSecond: undefined, isThrottled: false, waiting: 0, lastError: '<i>refused</i>' },
    ...{ receipts: { received: 0, missed: 0, form: undefined }, unreadable: 0, circuit: undefined },
  }
  await reportCarriers(portal.ports, { id: 'p', host: 'alpha', pid: 7 }, [
    { carrier: 'one' as CarrierId, mode: 'running', window: 50, unanswered: 0, status },
  ])
  expect((await support.get('/operator')).text).toContain('The carrier one is not bound at alpha')
  const shown = await support.get('/operator/carriers/one')
  expect(shown.html.querySelectorAll('main i').length).toBe(0)
  expect(shown.text).not.toContain('Pause or drain')
  const paused = await act(admin, '/operator/carriers/one', '', { mode: 'paused' })
  expect(paused.to).toBe('/operator/carriers/one?done=1')
  expect((await admin.get('/operator/carriers/one')).text).toContain('It is paused since')
  expect((await portal.ports.fleet.state()).paused).toMatchObject([{ carrier: 'one', mode: 'paused' }])
})

test('an admin adds, changes and locks other operators, which ends the session of a locked one, but cannot change themselves', async () => {
  await act(admin, '/operator/operators', 'add', { name: 'eve', role: 'support', password: 'long enough' })
  const eve = portal.visitor()
  expect((await eve.submit('/operator/sign-in', { login: 'Eve', password: 'long enough' })).to).toBe('/operator')
  await act(admin, '/operator/operators', 'admin', { operator: '3' })
  expect((await eve.get('/operator')).html.querySelector('header')?.textContent).toContain('eve, admin')
  await act(admin, '/operator/operators', 'lock', { operator: '3' })
  expect((await eve.get('/operator')).to).toBe('/operator/sign-in')
  expect((await act(admin, '/operator/operators', 'lock', { operator: '1' })).status).toBe(404)
  const refused = await act(admin, '/operator/operators', 'add', {
    name: 'EVE',
    role: 'admin',
    password: 'long enough',
  })
  expect([refused.status, refused.text]).toEqual([422, expect.stringContaining('There is an operator of this name')])
})

test('an operator sets up a second factor and changes the password; an admin removes a lost second factor', async () => {
  const begun = await support.submit(
    '/operator/security',
    { 'factor-password': password },
    'form:has([value="begin-factor"])',
  )
  const secret = (begun.html.querySelector('code.secret')?.textContent ?? '').replaceAll(' ', '')
  await support.submit(begun, { code: totpCode(secret, Math.floor(portal.clock.now() / 30_000)) })
  const visitor = portal.visitor()
  const step = await visitor.submit('/operator/sign-in', { login: 'operator-2', password })
  expect(step.text).toContain('Enter a code')
  await act(admin, '/operator/operators', 'reset-factor', { operator: '2' })
  expect((await visitor.submit('/operator/sign-in', { login: 'operator-2', password })).to).toBe('/operator')
  const newPassword = 'battery staple'
  const changed = await support.submit('/operator/security', { password, wanted: newPassword, again: newPassword })
  expect(changed.to).toBe('/operator/security?done=password')
  expect((await support.get('/operator')).status).toBe(200)
  expect((await visitor.get('/operator')).to).toBe('/operator/sign-in')
})

test('an admin can require a second factor of an account, support cannot', async () => {
  expect((await act(support, accountPath, 'require-factor')).status).toBe(403)
  expect((await act(admin, accountPath, 'require-factor')).text).toContain('It is required.')
  expect((await act(admin, accountPath, 'link')).text).toContain('A sign-in link cannot be made')
  await act(admin, accountPath, 'spare-factor')
  await portal.signedIn()
})

test('the audit page lists changes with the values before and after, and verifies the log', async () => {
  await act(support, accountPath, 'lock')
  await act(admin, accountPath, 'top-up', { amount: '5', why: '<img src=x>' })
  const page = await support.get('/operator/audit')
  expect(page.text).toContain(`Lock the account1 ${portal.account.login}locked no to yes`)
  expect(page.text).toContain(
    `Add or take credits1 ${portal.account.login}credits 5.0, why <img src=x>balance 100.0 to 105.0`,
  )
  expect(page.html.querySelectorAll('main img').length).toBe(0)
  expect((await support.get('/operator/audit?by=operator-1')).text).not.toContain('Lock the account')
  const verified = await support.submit('/operator/audit', {}, 'form.actions')
  expect(verified.text).toMatch(/All 4 entries are intact/)
})

test('the routes page shows which route a number takes, and why not another', async () => {
  const route = (name: string, prefixes: readonly string[], accounts: readonly AccountId[] = []) => ({
    ...{ name, prefixes, accounts, senders: [] },
    carriers: [{ carrier: name as CarrierId, priority: 1, weight: 1 }],
  })
  expect((await support.get('/operator/routes?number=27825550101')).text).toContain('any carrier can take the message')
  await portal.ports.routes.publish([
    route('own', ['27'], [portal.account.id]),
    route('south', ['27']),
    route('rest', []),
  ])
  const other = await support.get('/operator/routes?number=%2B27825550101')
  expect(other.text).toContain('A message to 27825550101 takes the route south')
  expect(other.text).toContain('the route is for other accounts')
  const own = await support.get(`/operator/routes?number=27825550101&account=${portal.account.id}`)
  expect(own.text).toContain('takes the route own')
  expect((await support.get('/operator/routes?number=447700900123')).text).toContain('takes the route rest')
  expect((await support.get('/operator/routes?number=x')).status).toBe(422)
})

test('the page of routes says when messages go to the next priority because the carriers are full', async () => {
  const over = (carrier: string, priority: number) => ({ carrier: carrier as CarrierId, priority, weight: 1 })
  const route = { prefixes: [], accounts: [], senders: [], carriers: [over('cheap', 1), over('dear', 2)] }
  await portal.ports.routes.publish([
    { ...route, name: 'patient', prefixes: ['27'], overflow: { single: 600, bulk: 1200 } },
    { ...route, name: 'alone', prefixes: ['44'], carriers: [over('cheap', 1)] },
    { ...route, name: 'rest' },
  ])
  const { html } = await support.get('/operator/routes')
  const cells = html.querySelectorAll('td[data-head="To the next priority if full"]').map((cell) => cell.textContent)
  expect(cells).toEqual(['single sends after 600 s, bulk after 1\u202f200 s', '', 'single sends after 2 s, bulk never'])
})

test('accounts are found by a part of login, name or e-mail address, and lists name them beside their ids', async () => {
  const { commands } = portal.backOffice
  const shop = await commands.openAccount({ login: 'corner-shop', firstName: 'Mary', surname: 'Quince' })
  await commands.openAccount({ login: 'corner-cafe' })
  const path = `/operator/accounts/${shop}`
  expect((await support.get('/operator/accounts?q=corner')).text).toMatch(/corner-shop.*corner-cafe/)
  const named = await support.get('/operator/accounts?q=y+qui')
  expect(named.html.querySelectorAll('tbody tr')).toHaveLength(1)
  expect(named.text).toContain('corner-shop')
  expect((await support.get('/operator/accounts?q=corner-shop')).to).toBe(path)
  expect((await support.get('/operator/accounts?q=nobody')).text).toContain('No account has nobody.')
  await act(admin, path, 'top-up', { amount: '5', why: 'paid' })
  expect((await support.get('/operator/audit')).text).toContain(`${shop} corner-shop`)
})

test('an admin sets prices and limits of an account and removes them again', async () => {
  await act(admin, accountPath, 'price', { prefix: '27', price: '0.7' })
  expect(await portal.backOffice.queries.listPrices(portal.account.id)).toEqual([{ prefix: '27', price: 7 }])
  for (const fields of [
    { prefix: 'x', price: '1' },
    { prefix: '27', price: 'much' },
    { prefix: '27', price: '-1' },
    { prefix: '44', price: '' },
  ]) {
    expect([fields, (await act(admin, accountPath, 'price', fields)).status]).toEqual([fields, 422])
  }
  await act(admin, accountPath, 'price', { prefix: '27', price: '' })
  expect(await portal.backOffice.queries.listPrices(portal.account.id)).toEqual([])
  await act(admin, accountPath, 'limits', { requests: '5', recipients: '' })
  const limits = async () => (await portal.backOffice.queries.findAccount(portal.account.id))?.account
  expect(await limits()).toMatchObject({ requestsPerSecond: 5, recipientsPerSecond: undefined })
  expect((await act(admin, accountPath, 'limits', { requests: '0', recipients: '1e3' })).status).toBe(422)
  await act(admin, accountPath, 'limits', { requests: '', recipients: '' })
  expect((await limits())?.requestsPerSecond).toBeUndefined()
  for (const name of ['price', 'limits']) {
    expect([name, (await act(support, accountPath, name, { prefix: '27', price: '1', requests: '1' })).status]).toEqual(
      [name, 403],
    )
  }
})

test('the SMPP page lists credentials and binds of all accounts, and what waits for their clients', async () => {
  const { text: empty } = await support.get('/operator/smpp')
  expect(empty).toContain('No account has a credential.')
  const added = await portal.backOffice.commands.addSmppCredential(portal.account.id)
  if (typeof added === 'string') throw new Error(added)
  const { id, systemId } = added.credential
  const bind = aBind(aProcess())
  await portal.ports.smppBinds.open(id, bind)
  await portal.ports.smppBinds.report(bind.process, [
    { id: bind.id, lastError: 'RINVDCS', strayTexts: 7, submissions: 9 },
  ])
  const { text, html } = await support.get('/operator/smpp')
  expect(text).toContain('Receipts waiting')
  const rows = html.querySelectorAll('tbody tr').map((row) => row.textContent)
  expect(rows).toEqual([
    expect.stringMatching(`${systemId}.*${bind.remote}.*97RINVDCS`),
    expect.stringMatching(`${systemId}.*gsm.*ascii`),
  ])
})
