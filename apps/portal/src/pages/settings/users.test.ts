import { password, startPortal, type Portal, type Shown } from '../../../testing/start-portal.ts'

let portal: Portal
beforeEach(async () => {
  portal = await startPortal()
})
afterEach(() => portal.close())

const linkIn = ({ html }: Shown): string => html.querySelector('main a.secret')?.getAttribute('href') ?? ''
const email = 'ann@acme.example'

test('an owner invites a person, who uses the link once to choose a password, and signs in', async () => {
  const owner = await portal.signedIn()
  const invited = await owner.submit('/settings/users', { email, role: 'reader' })
  const link = linkIn(invited)
  expect((await owner.get('/settings/users')).text).toContain('ann@acme.example')
  expect((await owner.get('/settings/users')).html.toString()).not.toContain(link.split('=')[1])

  const ann = portal.visitor()
  expect((await ann.get(link)).text).toContain('You sign in as ann@acme.example')
  expect((await ann.submit(link, { password, again: 'another' })).status).toBe(422)
  expect((await ann.submit(link, { password: 'short', again: 'short' })).text).toContain('at least 10 characters')
  expect((await ann.submit(link, { password, again: password })).text).toContain('Your password is set')
  const [chosen, refused] = await portal.backOffice.queries.listChanges({ by: `user ${email}` }, 2)
  expect([chosen, refused].map((one) => JSON.parse(one?.ended?.record ?? '') as unknown)).toEqual([
    { outcome: 'set' },
    { outcome: 'too-short' },
  ])
  expect((await ann.get(link)).text).toContain('was already used')
  expect((await ann.submit('/sign-in', { login: email.toUpperCase(), password })).to).toBe('/')
  const first = await ann.get('/')
  expect(first.html.querySelector('header')?.textContent).toContain(email)
  expect(first.html.querySelectorAll('nav a').map((one) => one.textContent.trim())).not.toContain('Send')
})

test('a changed role, a lock and a removal apply at once to open sessions', async () => {
  const owner = await portal.signedIn()
  const ann = await portal.signedInAs('reader')
  const id = (await portal.gateway.queries.listUsers(portal.account))[0]?.id
  const page = `/settings/users/${id}`
  expect((await ann.get('/send')).html.querySelector('main form')).toBeNull()
  await owner.submit(page, { role: 'sender' }, 'form:has([value="role"])')
  expect((await ann.get('/send')).html.querySelector('main form')).not.toBeNull()
  await owner.submit(page, { do: 'lock' }, 'form.actions')
  expect((await ann.get('/')).to).toBe('/sign-in')
  await owner.submit(page, { do: 'unlock' }, 'form.actions')
  expect((await owner.submit(page, { do: 'remove' }, 'form.actions')).to).toBe('/settings/users?done=removed')
  expect((await owner.get(page)).status).toBe(404)
})

test('users cannot change or remove themselves, and an address cannot be invited twice', async () => {
  const owner = await portal.signedInAs('owner')
  const id = (await portal.gateway.queries.listUsers(portal.account))[0]?.id
  expect((await owner.get(`/settings/users/${id}`)).status).toBe(404)
  const again = await owner.submit('/settings/users', { email: 'owner-1@ACME.example', role: 'reader' })
  expect([again.status, again.text]).toEqual([422, expect.stringContaining('This address is in use already')])
})

test('signing in does not reveal whether an address belongs to a user', async () => {
  await portal.signedInAs('reader')
  const answers = []
  for (const login of ['reader-1@acme.example', 'nobody@acme.example']) {
    const { status, text } = await portal.visitor().submit('/sign-in', { login, password: 'a wrong password' })
    answers.push({ status, text })
  }
  expect(answers[1]).toEqual(answers[0])
})

test('changes by a user are in the audit log with name and address, and the log verifies', async () => {
  const owner = await portal.signedInAs('owner')
  await owner.submit('/settings/keys', { label: 'shop' })
  await owner.submit('/opt-outs', { number: '27825550101' })
  const changes = await portal.backOffice.queries.listChanges({ by: 'user owner-1@acme.example' }, 10)
  expect(changes.map(({ begun }) => JSON.parse(begun.record) as unknown)).toEqual([
    expect.objectContaining({ action: 'addOptOut', from: '127.0.0.1', account: portal.account.id }),
    expect.objectContaining({ action: 'issueKey', given: { label: 'shop' } }),
  ])
  expect(await portal.backOffice.queries.verifyAuditLog()).toMatchObject({ broken: undefined })
})

test('a user has a second factor and sessions of their own', async () => {
  const [ann, own] = [await portal.signedInAs('sender'), await portal.signedIn()]
  const page = await ann.get('/settings/security')
  expect(page.html.querySelectorAll('tbody tr')).toHaveLength(1)
  const begun = await ann.submit(page, { 'factor-password': password }, 'form:has([value="begin-factor"])')
  expect(begun.html.querySelector('svg.qr')).not.toBeNull()
  const changed = { password, wanted: 'another horse', again: 'another horse' }
  expect((await ann.submit('/settings/security', changed)).to).toBe('/settings/security?done=password')
  expect((await own.get('/')).status).toBe(200)
})
