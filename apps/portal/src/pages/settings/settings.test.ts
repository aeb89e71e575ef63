import { aHolder, password, startPortal, type Portal, type Visitor } from '../../../testing/start-portal.ts'

let portal: Portal
let visitor: Visitor
beforeEach(async () => {
  portal = await startPortal()
  visitor = await portal.signedIn()
})
afterEach(() => portal.close())

const opens = async (key: string): Promise<boolean> =>
  typeof (await portal.gateway.commands.authenticate({ apiKey: key, network: '192.0.2.0/24' })) === 'object'

test('a form for a key that is submitted twice at the same time makes one key; without its id it makes none', async () => {
  const form = await visitor.get('/settings/keys')
  const made = await Promise.all([1, 2, 3].map(() => visitor.submit(form, { label: 'shop' })))
  expect(made.filter(({ html }) => html.querySelector('code.secret') !== null).length).toBe(1)
  expect(made.filter(({ to }) => to === '/settings/keys?done=repeated').length).toBe(2)
  expect((await visitor.submit(form, { label: 'shop', operation: 'x' })).status).toBe(404)
  expect(await portal.gateway.queries.listKeys(portal.account)).toHaveLength(1)
})

test('a new key is shown once, opens the account, and stops working when it is revoked', async () => {
  const made = await visitor.submit('/settings/keys', { label: 'shop' })
  const key = made.html.querySelector('code.secret')?.textContent ?? ''
  expect(await opens(key)).toBe(true)
  const listed = await visitor.get('/settings/keys')
  expect(listed.html.toString()).not.toContain(key)
  expect(listed.text).toContain('shop')
  const asks = listed.html.querySelector('td a')?.getAttribute('href') ?? ''
  expect((await visitor.submit(asks)).to).toBe('/settings/keys?done=revoked')
  expect(await opens(key)).toBe(false)
  expect((await visitor.get('/settings/keys')).text).toContain('revoked')
})

test.each([
  ['', 'Enter a label'],
  ['x'.repeat(61), 'up to 60 characters'],
])('no key is made with an unusable label: %j', async (label, problem) => {
  const shown = await visitor.submit('/settings/keys', { label })
  expect([shown.status, shown.text]).toEqual([422, expect.stringContaining(problem)])
  expect(await portal.gateway.queries.listKeys(portal.account)).toEqual([])
})

test('a new password signs out all other sessions, but not the one that changed it', async () => {
  const other = await portal.signedIn()
  const newPassword = 'battery staple'
  const fill = { password, wanted: newPassword, again: newPassword }
  expect((await visitor.submit('/settings/security', fill)).to).toBe('/settings/security?done=password')
  expect((await visitor.get('/')).status).toBe(200)
  expect((await other.get('/')).to).toBe('/sign-in')
  const { login } = portal.account
  expect((await portal.visitor().submit('/sign-in', { login, password })).status).toBe(401)
  expect((await portal.visitor().submit('/sign-in', { login, password: newPassword })).to).toBe('/')
})

test.each([
  [{ password: '', wanted: 'battery staple', again: 'battery staple' }, 'Enter your current password.'],
  [{ password: 'wrong', wanted: 'battery staple', again: 'battery staple' }, 'This is not your password.'],
  [{ password, wanted: 'battery staple', again: 'battery stable' }, 'The two new passwords differ'],
  [{ password, wanted: 'short', again: 'short' }, 'at least 10 characters'],
])('the password is not changed by %j', async (fill, problem) => {
  const shown = await visitor.submit('/settings/security', fill)
  expect([shown.status, shown.text]).toEqual([422, expect.stringContaining(problem)])
  expect(shown.html.querySelectorAll('input[type="password"][value]')).toEqual([])
  await portal.signedIn()
})

test('the other sessions of the account are listed and ended, but never those of another account', async () => {
  const [other, stranger] = [await portal.signedIn(), await portal.signedIn(await aHolder(portal.ports))]
  const page = await visitor.get('/settings/security')
  expect(page.html.querySelectorAll('tbody tr').length).toBe(2)
  expect(page.text).toContain('(this one)')
  expect((await visitor.submit(page, {}, '.panel form')).to).toBe('/settings/security?done=ended')
  expect((await other.get('/')).to).toBe('/sign-in')
  for (const one of [visitor, stranger]) expect((await one.get('/')).status).toBe(200)
})

test('a webhook is added with its secret shown once, tested, paused, resumed and removed', async () => {
  const url = 'https://shop.example.com/events'
  const added = await visitor.submit('/settings/webhooks', { url, events: ['reply.received', 'optout.added'] })
  const secret = added.html.querySelector('code.secret')?.textContent ?? ''
  expect(secret).toMatch(/^whsec_/)
  const [webhook] = await portal.gateway.queries.listWebhooks(portal.account)
  expect(webhook).toMatchObject({ url, events: ['reply.received', 'optout.added'], withText: false })
  const path = `/settings/webhooks/${webhook?.id}`
  const page = await visitor.get(path)
  expect(page.html.toString()).not.toContain(secret)
  expect(page.text).toContain('No request has been made yet.')
  expect((await visitor.submit(page, { do: 'test' })).to).toBe(`${path}?done=tested`)
  expect((await visitor.submit(page, { do: 'pause' })).to).toBe(`${path}?done=paused`)
  expect((await visitor.get(path)).html.querySelector('h1 .state')?.textContent).toBe('paused')
  expect((await visitor.submit(page, { do: 'resume' })).to).toBe(`${path}?done=active`)
  expect((await visitor.submit(`${path}/remove`)).to).toBe('/settings/webhooks?done=removed')
  expect(await portal.gateway.queries.listWebhooks(portal.account)).toEqual([])
})

test('each request to a webhook is listed with its response, and events that were given up are sent again', async () => {
  const added = await portal.gateway.commands.addWebhook(portal.account, { url: 'https://shop.example.com/events' })
  if (typeof added === 'string') throw new Error(added)
  const { webhooks } = portal.ports
  const path = `/settings/webhooks/${added.webhook.id}`
  await visitor.submit(path, { do: 'test' })
  const [list] = await webhooks.claim({ listsMax: 1, perWebhookMax: 1, rooms: new Map(), leaseSeconds: 60 })
  if (list === undefined) throw new Error('no test was pushed')
  const answered = { outcome: 'answered', status: 500, beginning: '<b>no</b>', milliseconds: 31 } as const
  const answer = { ...answered, retryAfterSeconds: undefined }
  const at = portal.clock.now()
  await webhooks.record([{ list: list.id, tries: list.tries, at, answer, verdict: 'dead', next: undefined }])
  const page = await visitor.get(path)
  expect(page.text).toContain('Requests given up1')
  expect(page.html.querySelector('details .text')?.innerHTML).toBe('&lt;b>no&lt;/b>')
  expect((await visitor.submit(page, { do: 'replay' })).to).toBe(`${path}?done=replaying`)
  expect((await visitor.submit(page, { do: 'replay' })).to).toBe(`${path}?done=running`)
})

test.each([
  [{ url: 'nothing', events: ['reply.received'] }, 'The address must be a URL'],
  [{ url: 'http://shop.example.com/', events: ['reply.received'] }, 'The address must be'],
  [{ url: 'https://shop.example.com/', events: [] }, 'Choose at least one event.'],
])('an invalid webhook is refused with a reason: %j', async (fill, problem) => {
  const shown = await visitor.submit('/settings/webhooks', fill)
  expect([shown.status, shown.text]).toEqual([422, expect.stringContaining(problem)])
  expect(shown.html.querySelector('#field-url')?.getAttribute('value')).toBe(fill.url)
  expect(await portal.gateway.queries.listWebhooks(portal.account)).toEqual([])
})

test('an SMPP credential is made, gets another password, and is removed; its passwords are shown once', async () => {
  const made = await visitor.submit('/settings/smpp', {})
  const first = made.html.querySelector('code.secret')?.textContent ?? ''
  const [credential] = await portal.gateway.queries.listSmppCredentials(portal.account)
  if (credential === undefined) throw new Error('no credential was made')
  const opens = async (secret: string): Promise<boolean> => {
    const attempt = { systemId: credential.systemId, password: secret, network: '192.0.2.0/24', address: '192.0.2.7' }
    return typeof (await portal.gateway.commands.authenticateBind({ ...attempt, comesFrom: () => true })) === 'object'
  }
  expect(await opens(first)).toBe(true)
  const listed = await visitor.get('/settings/smpp')
  expect(listed.text).toContain(credential.systemId)
  expect(listed.text).not.toContain(first)

  const rotated = await visitor.submit(`/settings/smpp/${credential.id}`, {}, 'form:has([value="rotate"])')
  const second = rotated.html.querySelector('code.secret')?.textContent ?? ''
  expect([await opens(first), await opens(second)]).toEqual([false, true])
  expect((await visitor.submit(`/settings/smpp/${credential.id}/remove`)).to).toBe('/settings/smpp?done=removed')
  expect(await portal.gateway.queries.listSmppCredentials(portal.account)).toEqual([])
})

test('an owner changes what a credential means by its alphabets, and sees the problem of a wrong field', async () => {
  await portal.gateway.commands.addSmppCredential(portal.account)
  const [credential] = await portal.gateway.queries.listSmppCredentials(portal.account)
  const path = `/settings/smpp/${credential?.id ?? 0}`
  const fields = { do: 'change', alphabet0: 'latin1', alphabet1: 'gsm', idempotent: 'yes', country: '27' }
  const wrong = { ...fields, from: 'somewhere', offset: '2', country: '999' }
  const refused = await visitor.submit(path, wrong)
  expect([refused.status, refused.html.querySelectorAll('.problem').length]).toEqual([422, 2])
  expect((await visitor.submit(path, { ...fields, country: '999' })).text).toContain(
    'No country has this calling code.',
  )
  const changed = await visitor.submit(path, { ...fields, from: '192.0.2.0/24, 2001:db8::/32', offset: '+02:00' })
  expect(changed.to).toBe(`${path}?done=changed`)
  expect(await portal.gateway.queries.listSmppCredentials(portal.account)).toMatchObject([
    {
      ...{ alphabet0: 'latin1', alphabet1: 'gsm', isIdempotent: true, country: '27', receiptOffsetMinutes: 120 },
      from: ['192.0.2.0/24', '2001:db8::/32'],
    },
  ])
  expect((await visitor.get(path)).text).toContain('Latin-1')
})

test('an owner chooses who gets the replies', async () => {
  await portal.gateway.commands.addSmppCredential(portal.account)
  const replies = { do: 'replies', by: 'polling' }
  expect((await visitor.submit('/settings/smpp', replies, 'form:has([value="replies"])')).to).toBe(
    '/settings/smpp?done=replies',
  )
  expect(await portal.gateway.queries.repliesBy(portal.account)).toBe('polling')
})
