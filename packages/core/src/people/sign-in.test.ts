import { memoryPorts, steppingClock } from '@gateway/core/testing'
import { createBackOffice } from '../back-office.ts'
import { createGateway } from '../gateway.ts'
import { sessionBounds } from './sessions.ts'
import { linkSeconds } from './sign-in.ts'

const password = 'correct horse'
const pair = { user: 'acme', password, network: '192.0.2.0/24', address: '192.0.2.7' }
const browser = { agent: 'Firefox', address: '192.0.2.7' }

async function setUp() {
  const clock = steppingClock()
  const ports = memoryPorts({ clock })
  const backOffice = createBackOffice(ports)
  const id = await backOffice.commands.openAccount({ login: 'acme', password })
  if (typeof id === 'string') throw new Error(id)
  const gateway = createGateway(ports)
  const signIn = async () => {
    const opened = await gateway.commands.signIn(pair, browser)
    if (typeof opened === 'string' || !('token' in opened)) throw new Error('not signed in')
    return opened.token
  }
  const isSignedIn = async (token: string, use = true) =>
    (await (use ? gateway.commands.useSession(token) : gateway.queries.findSession(token))) !== undefined
  const pass = (seconds: number) => clock.step(seconds)
  return { id, backOffice, gateway, signIn, isSignedIn, pass, ports }
}

test('login and password open a session with a token of its own', async () => {
  const { id, gateway, signIn } = await setUp()
  const [one, other] = [await signIn(), await signIn()]
  expect(one).not.toBe(other)
  expect(await gateway.commands.useSession(one)).toMatchObject({ account: { id }, balance: 0, session: browser })
  expect(await gateway.commands.useSession(`${one}x`)).toBeUndefined()
})

test('wrong credentials open no session, and too many failures are reported (ruling 1.26)', async () => {
  const { gateway } = await setUp()
  expect(await gateway.commands.signIn({ ...pair, password: 'wrong' }, browser)).toBe('wrong-credentials')
  expect(await gateway.commands.signIn({ ...pair, user: 'nobody' }, browser)).toBe('wrong-credentials')
  for (let i = 0; i < 12; i++) await gateway.commands.signIn({ ...pair, password: `guess ${i}` }, browser)
  expect(await gateway.commands.signIn(pair, browser)).toEqual({ retryAfterSeconds: expect.any(Number) as number })
})

test('only the right password reveals that an account is locked; its sessions end', async () => {
  const { id, backOffice, gateway, signIn, isSignedIn } = await setUp()
  const token = await signIn()
  await backOffice.commands.lockAccount(id)
  expect(await isSignedIn(token)).toBe(false)
  expect(await gateway.commands.signIn(pair, browser)).toBe('account-locked')
  expect(await gateway.commands.signIn({ ...pair, password: 'wrong' }, browser)).toBe('wrong-credentials')
})

test('a session ends after an idle hour, and after twelve hours of use', async () => {
  const { signIn, isSignedIn, pass } = await setUp()
  const [used, idle] = [await signIn(), await signIn()]
  const step = sessionBounds.idleSeconds - 10
  for (let at = step; at < sessionBounds.secondsMax; at += step) {
    pass(step)
    expect(await isSignedIn(idle, false)).toBe(at === step)
    expect(await isSignedIn(used)).toBe(true)
  }
  pass(step)
  expect(await isSignedIn(used)).toBe(false)
})

test('a session is not valid from a network from which the password may not be used', async () => {
  const { id, ports, gateway, signIn } = await setUp()
  const token = await signIn()
  await ports.accounts.change(id, { from: ['203.0.113.0/24'] })
  expect(await gateway.commands.useSession(token, () => false)).toBeUndefined()
  expect(await gateway.commands.useSession(token, () => true)).toBeDefined()
})

test('a new password needs the old one and ten characters; it ends all sessions except the present one', async () => {
  const { gateway, signIn, isSignedIn } = await setUp()
  const token = await signIn()
  expect(await gateway.commands.changePassword({ ...pair, password: 'wrong' }, 'another horse', browser)).toBe(
    'wrong-credentials',
  )
  expect(await gateway.commands.changePassword(pair, 'short', browser)).toBe('too-short')
  expect(await gateway.commands.changePassword(pair, ' '.repeat(12), browser)).toBe('invalid-password')
  expect(await gateway.commands.changePassword(pair, 'Password123', browser)).toBe('too-common')
  expect(await isSignedIn(token)).toBe(true)
  const changed = await gateway.commands.changePassword(pair, 'another horse', browser)
  if (typeof changed === 'string' || !('token' in changed)) throw new Error('not changed')
  expect([await isSignedIn(token), await isSignedIn(changed.token)]).toEqual([false, true])
  expect(await gateway.commands.signIn(pair, browser)).toBe('wrong-credentials')
})

test('a link signs in once, within an hour', async () => {
  const { id, backOffice, gateway, pass } = await setUp()
  const offer = async () => {
    const offered = await backOffice.commands.offerSignInLink(id)
    return typeof offered === 'string' ? offered : offered.token
  }
  const [link, late] = [await offer(), await offer()]
  const opened = await gateway.commands.signInByLink(link, browser)
  expect(opened).toMatchObject({ token: expect.any(String) as string })
  expect(await gateway.commands.signInByLink(link, browser)).toBe('wrong-credentials')
  pass(linkSeconds)
  expect(await gateway.commands.signInByLink(late, browser)).toBe('wrong-credentials')
  expect(await backOffice.commands.offerSignInLink((id + 1) as never)).toBe('no-such-account')
})

test('an account lists and ends only its own sessions and keys', async () => {
  const { id, backOffice, gateway, ports, signIn, isSignedIn } = await setUp()
  const token = await signIn()
  const own = await gateway.commands.useSession(token)
  const strangerId = await backOffice.commands.openAccount({ login: 'stranger' })
  const stranger = typeof strangerId === 'number' ? await ports.accounts.find(strangerId) : undefined
  const key = await backOffice.commands.issueApiKey(id)
  if (own === undefined || stranger === undefined || typeof key === 'string') throw new Error('not set up')
  expect(await gateway.commands.endSession(stranger, own.session.id)).toBe(false)
  expect(await gateway.commands.revokeKey(stranger.account, key.id)).toBe('no-such-key')
  expect(await isSignedIn(token)).toBe(true)
  expect(await gateway.commands.revokeKey(own.account, key.id)).toBe('revoked')
  await signIn()
  expect(await gateway.commands.endOtherSessions(own, own.session.id)).toBe(1)
  expect((await gateway.queries.listSessions(own)).map((session) => session.id)).toEqual([own.session.id])
})
