import { actingSeconds } from '@gateway/core/people'
import { startPortal, type Portal, type Visitor } from '../../../testing/start-portal.ts'

let portal: Portal
let support: Visitor
beforeEach(async () => {
  portal = await startPortal({ credits: 1234 })
  support = await portal.operator('support')
})
afterEach(() => portal.close())

const look = () => support.submit(`/operator/accounts/${portal.account.id}`, {}, 'form:has([value="act-as"])')
const banner = async (path = '/') => (await support.get(path)).html.querySelector('.acting')?.textContent ?? ''
const changes = async () =>
  (await portal.backOffice.queries.listChanges({}, 10)).map(({ begun, ended }) => [
    JSON.parse(begun.record) as unknown,
    JSON.parse(ended?.record ?? 'null') as unknown,
  ])

test('an operator with the role support views the pages of an account, with a banner on each, and stops', async () => {
  expect((await look()).to).toBe('/')
  const first = await support.get('/')
  expect(first.html.querySelector('#balance')?.textContent).toContain('123.4')
  for (const path of ['/', '/messages', '/settings/keys', '/send'])
    expect([path, await banner(path)]).toEqual([path, expect.stringContaining('you are viewing account 1')])
  expect((await support.get('/operator')).status).toBe(200)
  const stopped = await support.submit(first, {}, '.acting form')
  expect(stopped.to).toBe('/operator/accounts/1')
  expect((await support.get('/')).to).toBe('/sign-in')
  const by = { by: 'operator-1', from: '127.0.0.1', account: portal.account.id }
  const until = portal.clock.now() + actingSeconds * 1000
  expect(await changes()).toEqual([
    [{ ...by, action: 'endActingAs' }, { outcome: 'done' }],
    [{ ...by, action: 'actAs' }, { outcome: { until } }],
  ])
  expect(await portal.backOffice.queries.verifyAuditLog()).toMatchObject({ broken: undefined })
})

test('viewing ends after half an hour, even while it is in use', async () => {
  await look()
  portal.clock.step(actingSeconds / 2)
  expect(await banner()).not.toBe('')
  portal.clock.step(actingSeconds / 2)
  expect((await support.get('/')).to).toBe('/sign-in')
  expect((await support.get('/operator')).status).toBe(200)
})

test('viewing ends with the session of the operator: by signing out, which is recorded, and by a lock', async () => {
  await look()
  const copied = portal.visitor()
  copied.cookie = support.cookie
  await support.submit('/operator', {}, 'header form')
  expect((await copied.get('/')).to).toBe('/sign-in')
  expect(await changes()).toMatchObject([
    [{ action: 'endActingAs' }, { outcome: 'done' }],
    [{ action: 'actAs' }, {}],
  ])
  const other = await portal.operator('support')
  await other.submit('/operator/accounts/1', {}, 'form:has([value="act-as"])')
  const [operator] = (await portal.backOffice.queries.listOperators()).filter(({ name }) => name === 'operator-2')
  await portal.backOffice.commands.lockOperator(operator?.id as never)
  expect((await other.get('/')).to).toBe('/sign-in')
})

test('a session of an account holder in the same browser is suspended meanwhile and cannot change anything', async () => {
  const holder = await portal.signedIn()
  await look()
  const both = portal.visitor()
  both.cookie = `${holder.cookie}; ${support.cookie}`
  const shown = await both.get('/settings/keys')
  expect(shown.html.querySelectorAll('main form')).toHaveLength(0)
  const token = shown.html.querySelector('[name="token"]')?.getAttribute('value') ?? ''
  const refused = await both.post('/settings/keys', { token, label: 'x', operation: crypto.randomUUID() })
  expect(refused.status).toBe(403)
  expect(await portal.gateway.queries.listKeys(portal.account)).toEqual([])
})

test('a locked account can be viewed, an unknown one cannot', async () => {
  await portal.backOffice.commands.lockAccount(portal.account.id)
  await look()
  expect(await banner()).toContain('account 1')
  const token = (await support.get('/operator')).html.querySelector('[name="token"]')?.getAttribute('value') ?? ''
  expect((await support.post('/operator/accounts/99', { token, act: 'act-as' })).status).toBe(404)
})
