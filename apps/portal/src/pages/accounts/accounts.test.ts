import { aHolder, startPortal, type Portal, type Visitor } from '../../../testing/start-portal.ts'
import type { Account } from '@gateway/core/accounts'

let portal: Portal
let visitor: Visitor
let sub: Account
beforeEach(async () => {
  portal = await startPortal()
  sub = await aHolder(portal.ports, { parent: portal.account.id, credits: 50, firstName: 'Shop', surname: 'One' })
  visitor = await portal.signedIn()
})
afterEach(() => portal.close())

const balances = () => Promise.all([portal.account, sub].map(({ id }) => portal.gateway.queries.creditBalance(id)))

test('a main account sees its sub accounts and moves credits once, however often the form is submitted', async () => {
  const page = await visitor.get('/accounts')
  expect(page.text).toContain('Shop One')
  const fill = { to: String(sub.id), quantity: '20' }
  expect((await visitor.submit(page, fill)).to).toBe('/accounts?done=moved')
  expect((await visitor.submit(page, fill)).to).toBe('/accounts?done=moved')
  expect(await balances()).toEqual([800, 250])
})

test.each([
  ['0', 'Enter a whole number'],
  ['1.5', 'Enter a whole number'],
  ['1000', 'does not have that many credits'],
])('a transfer of %s credits is refused with a reason', async (quantity, problem) => {
  const shown = await visitor.submit('/accounts', { to: String(sub.id), quantity })
  expect([shown.status, shown.text]).toEqual([422, expect.stringContaining(problem)])
  expect(await balances()).toEqual([1000, 50])
})

test('an account of another customer can neither give nor get credits', async () => {
  const stranger = await aHolder(portal.ports)
  for (const fill of [
    { from: String(stranger.id), to: String(portal.account.id), quantity: '1' },
    { from: String(portal.account.id), to: String(stranger.id), quantity: '1' },
  ])
    expect((await visitor.submit('/accounts', fill)).status).toBe(422)
  expect(await portal.gateway.queries.creditBalance(stranger.id)).toBe(1000)
})

test('a sub account has no page of accounts', async () => {
  const own = await portal.signedIn(sub)
  const home = await own.get('/')
  expect(home.html.querySelector('nav a[href="/accounts"]')).toBeNull()
  const token = home.html.querySelector('[name="token"]')?.getAttribute('value') ?? ''
  expect((await own.get('/accounts')).status).toBe(404)
  const response = await own.post('/accounts', {
    token,
    from: String(sub.id),
    to: String(portal.account.id),
    quantity: '1',
  })
  expect([response.status, await balances()]).toEqual([404, [1000, 50]])
})
