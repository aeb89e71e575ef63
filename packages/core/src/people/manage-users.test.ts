import { memoryPorts, steppingClock } from '@gateway/core/testing'
import { createBackOffice } from '../back-office.ts'
import { createGateway } from '../gateway.ts'
import { invitationSeconds } from './manage-users.ts'
import { sessionBounds } from './sessions.ts'

const [password, other] = ['correct horse', 'battery staple']
const from = { network: '192.0.2.0/24', address: '192.0.2.7' }
const browser = { agent: 'Firefox', address: '192.0.2.7' }
const email = 'ann@acme.example'

async function setUp() {
  const clock = steppingClock()
  const ports = memoryPorts({ clock })
  const [gateway, backOffice] = [createGateway(ports), createBackOffice(ports)]
  const id = await backOffice.commands.openAccount({ login: 'acme', password: other })
  const found = typeof id === 'string' ? undefined : await ports.accounts.find(id)
  if (found === undefined) throw new Error('no account')
  const { account } = found
  const invite = async (address = email) => {
    const invited = await gateway.commands.inviteUser(account, { email: address, role: 'sender' })
    if (typeof invited === 'string') throw new Error(invited)
    return invited
  }
  const enter = (user: string, secret: string) => gateway.commands.signIn({ user, password: secret, ...from }, browser)
  const signIn = async (user = email, secret = password) => {
    const opened = await enter(user, secret)
    const signedIn =
      typeof opened === 'object' && 'token' in opened && (await gateway.commands.useSession(opened.token))
    if (signedIn === false || signedIn === undefined) throw new Error('not signed in')
    return signedIn
  }
  return { clock, ports, gateway, backOffice, account, invite, enter, signIn }
}

test('an invited person chooses a password by the link, once, and signs in by e-mail address in any letter case', async () => {
  const { gateway, account, invite, enter, signIn } = await setUp()
  const { id, token } = await invite()
  expect(await enter(email, password)).toBe('wrong-credentials')
  expect(await gateway.commands.acceptInvitation(token, 'short')).toBe('too-short')
  expect(await gateway.commands.acceptInvitation(token, 'Password123')).toBe('too-common')
  expect(await gateway.commands.acceptInvitation(token, email.toUpperCase())).toBe('too-common')
  expect(await gateway.queries.findInvited(token)).toMatchObject({ id, email })
  expect(await gateway.commands.acceptInvitation(token, password)).toBe('set')
  expect(await gateway.commands.acceptInvitation(token, other)).toBe('over')
  expect(await signIn('ANN@acme.example')).toMatchObject({ account, user: { id, role: 'sender' } })
  expect(await signIn('acme', other)).toMatchObject({ account, user: undefined })
  expect(await enter(email, other)).toBe('wrong-credentials')
})

test('a link ends after three days, or when the next one is created', async () => {
  const { clock, gateway, account, invite } = await setUp()
  const { id, token } = await invite()
  const renewed = await gateway.commands.renewUserLink(account, id)
  expect(await gateway.queries.findInvited(token)).toBeUndefined()
  if (typeof renewed === 'string') throw new Error(renewed)
  clock.step(invitationSeconds + 1)
  expect(await gateway.commands.acceptInvitation(renewed.token, password)).toBe('over')
})

test.each(['', 'ann', 'ann@acme', '@acme.example', 'ann@b@acme.example', 'an n@acme.example', 'é@acme.example'])(
  'nobody is invited as %j',
  async (wrong) => {
    const { gateway, account } = await setUp()
    expect(await gateway.commands.inviteUser(account, { email: wrong, role: 'owner' })).toBe('invalid-email')
  },
)

test('no interface accepts the password of a user, even right after the user signed in at the portal', async () => {
  const { gateway, invite, signIn, enter } = await setUp()
  const { token } = await invite()
  await gateway.commands.acceptInvitation(token, password)
  const authenticate = () => gateway.commands.authenticate({ pair: { user: email, password }, ...from })
  const [atOnce, entered] = await Promise.all([authenticate(), enter(email, password)])
  expect([atOnce, typeof entered]).toEqual(['wrong-credentials', 'object'])
  await signIn()
  expect(await authenticate()).toBe('wrong-credentials')
})

test("a name that is an account login and a user's e-mail address belongs to the account", async () => {
  const { backOffice, gateway, invite, signIn } = await setUp()
  const { token } = await invite()
  await gateway.commands.acceptInvitation(token, password)
  await backOffice.commands.openAccount({ login: email, password: other })
  expect(await signIn(email, other)).toMatchObject({ account: { login: email }, user: undefined })
})

test('a password change by a user ends all other sessions of that user and none of others', async () => {
  const { gateway, invite, signIn, enter, ports } = await setUp()
  const { token } = await invite()
  await gateway.commands.acceptInvitation(token, password)
  const [user, own] = [await signIn(), await signIn('acme', other)]
  const pair = { user: email, password, ...from }
  expect(await gateway.commands.changePassword({ ...pair, password: 'wrong' }, 'another horse', browser)).toBe(
    'wrong-credentials',
  )
  expect(await gateway.commands.changePassword(pair, 'another horse', browser)).toHaveProperty('token')
  expect((await gateway.queries.listSessions(user)).map(({ id }) => id)).not.toContain(user.session.id)
  expect((await gateway.queries.listSessions(own)).map(({ id }) => id)).toEqual([own.session.id])
  expect(await enter(email, password)).toBe('wrong-credentials')
  expect((await ports.accounts.readLogin('acme'))?.password).toBeDefined()
  await signIn('acme', other)
})

test('a locked user gets the refusal of a wrong name or password, and failures count (ruling 1.26)', async () => {
  const { backOffice, gateway, account, invite, enter } = await setUp()
  const { id, token } = await invite()
  await gateway.commands.acceptInvitation(token, password)
  expect(await backOffice.commands.lockUser(account.id, id)).toBe(true)
  expect(await enter(email, password)).toBe('wrong-credentials')
  await backOffice.commands.unlockUser(account.id, id)
  for (let i = 0; i < 11; i++) await enter(email, `guess ${i}`)
  expect(await enter(email, password)).toEqual({ retryAfterSeconds: expect.any(Number) as number })
})

test('restrictions of an account to networks apply to its users too', async () => {
  const { backOffice, gateway, account, invite, enter } = await setUp()
  const { token } = await invite()
  await gateway.commands.acceptInvitation(token, password)
  await backOffice.commands.changeAccount(account.id, { from: ['198.51.100.0/24'] })
  expect(await enter(email, password)).toBe('wrong-credentials')
})

test('closing an account removes its users', async () => {
  const { backOffice, gateway, account, invite, enter } = await setUp()
  const { token } = await invite()
  await gateway.commands.acceptInvitation(token, password)
  await backOffice.commands.closeAccount(account.id)
  expect(await gateway.queries.listUsers(account)).toEqual([])
  expect(await enter(email, password)).toBe('wrong-credentials')
})

test('the hash of an older version is replaced when the user signs in; other sessions stay, and the account keeps its hash', async () => {
  const { gateway, ports, account, invite, signIn } = await setUp()
  const { id, token } = await invite()
  await gateway.commands.acceptInvitation(token, password)
  const old = await ports.secrets.hashPassword(password)
  await ports.people.users.setPassword(account.id, id, old)
  const session = { hash: ports.secrets.hashKey('open'), agent: '', address: '', secondFactor: false }
  await ports.people.sessions.open({ account: account.id, user: id }, old, session, sessionBounds)
  expect((await signIn()).user?.id).toBe(id)
  const now = (await ports.people.users.byEmail(email))?.password
  expect(now).toBeDefined()
  expect(now === undefined || ports.secrets.isWeakForSignIn(now)).toBe(false)
  expect(await gateway.commands.useSession('open')).toBeDefined()
  expect((await signIn()).user?.id).toBe(id)
  expect((await ports.people.users.byEmail(email))?.password).toBe(now)

  const before = (await ports.accounts.readLogin('acme'))?.password
  expect((await signIn('acme', other)).account.id).toBe(account.id)
  expect((await ports.accounts.readLogin('acme'))?.password).toBe(before)
  expect(before === undefined || ports.secrets.isWeakForSignIn(before)).toBe(true)
})
