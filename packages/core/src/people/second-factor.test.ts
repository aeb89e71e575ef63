import { memoryPorts, steppingClock, totpCode } from '@gateway/core/testing'
import { createBackOffice } from '../back-office.ts'
import { createGateway } from '../gateway.ts'
import type { CodeRequest } from './sign-in-steps.ts'

const password = 'correct horse'
const pair = { user: 'acme', password, network: '192.0.2.0/24', address: '192.0.2.7' }
const browser = { agent: 'Firefox', address: '192.0.2.7' }

const codeAt = (secret: string, now: number, later = 0) => totpCode(secret, Math.floor(now / 30_000) + later)

async function setUp(hasFactor = true) {
  const clock = steppingClock()
  const ports = memoryPorts({ clock })
  const backOffice = createBackOffice(ports)
  const gateway = createGateway(ports)
  const id = await backOffice.commands.openAccount({ login: 'acme', password })
  const found = typeof id === 'string' ? undefined : await backOffice.queries.findAccount(id)
  if (found === undefined) throw new Error('no account')
  const { account } = found
  let [secret, recoveryCodes]: [string, readonly string[]] = ['', []]
  if (hasFactor) {
    const begun = await gateway.commands.beginSecondFactor({ account }, pair)
    if (typeof begun === 'string' || !('secret' in begun)) throw new Error('the setup of a second factor was refused')
    secret = begun.secret
    const set = await gateway.commands.setSecondFactor({ account }, begun.challenge, codeAt(secret, clock.now()))
    if (typeof set === 'string' || !('recoveryCodes' in set)) throw new Error('not set')
    recoveryCodes = set.recoveryCodes
    clock.step(60)
  }
  const requestCode = async (): Promise<CodeRequest> => {
    const opened = await gateway.commands.signIn(pair, browser)
    if (typeof opened === 'string' || !('challenge' in opened)) throw new Error(JSON.stringify(opened))
    return opened
  }
  const signIn = async (code: string) => gateway.commands.signInWithCode((await requestCode()).challenge, code, browser)
  const code = (later = 0) => codeAt(secret, clock.now(), later)
  const wrong = () => (code() === '000000' ? '111111' : '000000')
  return { ports, clock, backOffice, gateway, account, secret, recoveryCodes, requestCode, signIn, code, wrong }
}

test('the password alone opens no session; with a code of the app, also typed with spaces, it does', async () => {
  const { gateway, signIn, code, wrong } = await setUp()
  expect(await signIn(wrong())).toBe('wrong-code')
  const opened = await signIn(`${code().slice(0, 3)} ${code().slice(3)}`)
  expect(
    typeof opened === 'object' && 'token' in opened && (await gateway.commands.useSession(opened.token)),
  ).toBeTruthy()
})

test('a code is accepted once: of concurrent sign-ins one succeeds, and earlier codes are refused afterwards', async () => {
  const { requestCode, gateway, signIn, code, clock } = await setUp()
  const challenges = await Promise.all(Array.from({ length: 8 }, requestCode))
  const now = code()
  const all = await Promise.all(
    challenges.map(({ challenge }) => gateway.commands.signInWithCode(challenge, now, browser)),
  )
  expect(all.filter((one) => typeof one === 'object' && 'token' in one)).toHaveLength(1)
  clock.step(60)
  expect(await signIn(now)).toBe('wrong-code')
  expect(await signIn(code())).toHaveProperty('token')
  expect(await signIn(code(-1))).toBe('wrong-code')
})

test('a recovery code is accepted once, in any letter case, with or without hyphens', async () => {
  const { requestCode, gateway, recoveryCodes, signIn, account } = await setUp()
  expect(new Set(recoveryCodes).size).toBe(10)
  const [first = '', second = ''] = recoveryCodes
  const challenges = await Promise.all(Array.from({ length: 4 }, requestCode))
  const all = await Promise.all(
    challenges.map(({ challenge }) => gateway.commands.signInWithCode(challenge, first, browser)),
  )
  expect(all.filter((one) => typeof one === 'object' && 'token' in one)).toHaveLength(1)
  expect(await signIn(second.replaceAll('-', '').toUpperCase())).toHaveProperty('token')
  expect((await gateway.queries.findSecondFactor({ account }))?.recoveryCodes).toBe(8)
  expect(await signIn(second)).toBe('wrong-code')
})

test('after ten wrong codes in a minute every code is refused, also the right one, from any network and concurrently', async () => {
  const { requestCode, gateway, signIn, code, wrong, clock } = await setUp()
  const { challenge } = await requestCode()
  const guesses = await Promise.all(
    Array.from({ length: 64 }, () => gateway.commands.signInWithCode(challenge, wrong(), browser)),
  )
  expect(guesses.filter((one) => one === 'wrong-code')).toHaveLength(10)
  expect(await signIn(code())).toEqual({ retryAfterSeconds: expect.any(Number) as number })
  clock.step(61)
  expect(await signIn(code())).toHaveProperty('token')
})

test('at most a hundred codes are checked per day', async () => {
  const { requestCode, gateway, signIn, code, wrong, clock } = await setUp()
  let looked = 0
  for (let minute = 0; minute < 12; minute++) {
    clock.step(61)
    const { challenge } = await requestCode()
    for (let i = 0; i < 10; i++)
      if ((await gateway.commands.signInWithCode(challenge, wrong(), browser)) === 'wrong-code') looked++
  }
  // The setup has used one of the hundred checks.
  expect(looked).toBe(99)
  clock.step(61)
  expect(await signIn(code())).toHaveProperty('retryAfterSeconds')
})

test('a challenge is valid for a quarter of an hour, for its account, under the same password, and only unaltered', async () => {
  const { requestCode, gateway, ports, account, backOffice, code, clock, secret } = await setUp()
  const { challenge } = await requestCode()
  const sealed = ports.secretBox.seal(JSON.stringify({ of: `account ${account.id}`, name: 'acme', until: 1e15 }))
  for (const forged of ['', 'x', `${challenge}x`, sealed, ports.secretBox.seal(`challenge {}`)])
    expect(await gateway.commands.signInWithCode(forged, code(), browser).catch(() => 'over')).toBe('over')
  await backOffice.commands.setPassword(account.id, 'battery staple')
  expect(await gateway.commands.signInWithCode(challenge, code(), browser)).toBe('over')
  await backOffice.commands.setPassword(account.id, password)
  const later = await requestCode()
  clock.step(15 * 60)
  expect(await gateway.commands.signInWithCode(later.challenge, codeAt(secret, clock.now()), browser)).toBe('over')
})

test('a person who must have a second factor sets it up when signing in; a session without one ends', async () => {
  const { gateway, backOffice, account, clock, requestCode } = await setUp(false)
  const before = await gateway.commands.signIn(pair, browser)
  if (typeof before === 'string' || !('token' in before)) throw new Error('not signed in')
  await backOffice.commands.requireAccountFactor(account.id, true)
  expect(await gateway.commands.useSession(before.token)).toBeUndefined()
  expect(await backOffice.commands.offerSignInLink(account.id)).toBe('second-factor')
  const { challenge, toSetUp } = await requestCode()
  const code = codeAt(toSetUp?.secret ?? '', clock.now())
  const opened = await gateway.commands.signInWithCode(challenge, code, browser)
  if (typeof opened === 'string' || !('token' in opened)) throw new Error(JSON.stringify(opened))
  expect(opened.recoveryCodes).toHaveLength(10)
  expect(await gateway.commands.useSession(opened.token)).toBeDefined()
  expect(await gateway.commands.signInWithCode(challenge, code, browser)).toBe('over')
  clock.step(60)
  expect(await gateway.commands.removeSecondFactor({ account }, codeAt(toSetUp?.secret ?? '', clock.now()))).toBe(
    'required',
  )
  expect((await requestCode()).toSetUp).toBeUndefined()
})

test('a second factor is removed, and its recovery codes are renewed, only with a code', async () => {
  const { gateway, account, code, wrong, recoveryCodes, clock, secret } = await setUp()
  expect(await gateway.commands.removeSecondFactor({ account }, wrong())).toBe('wrong-code')
  const renewed = await gateway.commands.renewRecoveryCodes({ account }, code())
  expect(renewed).toHaveProperty('recoveryCodes')
  expect(await gateway.commands.removeSecondFactor({ account }, recoveryCodes[0] ?? '')).toBe('wrong-code')
  clock.step(60)
  expect(await gateway.commands.removeSecondFactor({ account }, codeAt(secret, clock.now()))).toBe('removed')
  expect(await gateway.commands.signIn(pair, browser)).toHaveProperty('token')
})

test('the secret is stored encrypted, and its challenge cannot be used for another account', async () => {
  const { gateway, ports, backOffice, clock } = await setUp(false)
  const other = await backOffice.commands.openAccount({ login: 'other' })
  const [one, two] = [await ports.accounts.byLogin('acme'), await ports.accounts.find(other as never)]
  if (one === undefined || two === undefined) throw new Error('no accounts')
  const begun = await gateway.commands.beginSecondFactor(one, pair)
  if (typeof begun === 'string' || !('secret' in begun)) throw new Error('the setup of a second factor was refused')
  const code = codeAt(begun.secret, clock.now())
  expect(await gateway.commands.setSecondFactor(two, begun.challenge, code)).toBe('over')
  await gateway.commands.setSecondFactor(one, begun.challenge, code)
  const stored = await gateway.queries.findSecondFactor(one)
  expect(stored?.secret).toBe(ports.secretBox.seal(begun.secret))
  expect(await gateway.commands.beginSecondFactor(one, pair)).toBe('already')
})

test('an operator must have a second factor if all must; after a reset another one can be set up', async () => {
  const clock = steppingClock()
  const ports = memoryPorts({ clock })
  const free = createBackOffice(ports)
  const strict = createBackOffice(ports, { secondFactorRequired: true })
  const ann = await free.commands.addOperator({ name: 'ann', role: 'admin' }, password)
  if (typeof ann === 'string') throw new Error(ann)
  const credentials = { name: 'ann', password, network: pair.network, address: pair.address }
  const opened = await free.commands.signInOperator(credentials, browser)
  if (typeof opened === 'string' || !('token' in opened)) throw new Error('not signed in')
  expect(await free.commands.useOperatorSession(opened.token)).toBeDefined()
  expect(await strict.commands.useOperatorSession(opened.token)).toBeUndefined()
  const answer = await strict.commands.signInOperator(credentials, browser)
  if (typeof answer === 'string' || !('toSetUp' in answer)) throw new Error(JSON.stringify(answer))
  const code = codeAt(answer.toSetUp?.secret ?? '', clock.now())
  const entered = await strict.commands.signInOperatorWithCode(answer.challenge, code, browser)
  if (typeof entered === 'string' || !('token' in entered)) throw new Error(JSON.stringify(entered))
  expect((await strict.commands.useOperatorSession(entered.token))?.operator.name).toBe('ann')
  expect(await free.commands.resetOperatorFactor(ann)).toBe(true)
  expect(await strict.commands.signInOperator(credentials, browser)).toHaveProperty('toSetUp')
})

test('the setup of a second factor needs the password in addition to a session, and wrong passwords are counted', async () => {
  const { gateway, account, backOffice } = await setUp(false)
  const holder = { account }
  expect(await gateway.commands.beginSecondFactor(holder, { ...pair, password: 'wrong' })).toBe('wrong-credentials')
  expect(await gateway.commands.beginSecondFactor(holder, pair)).toHaveProperty('challenge')
  await backOffice.commands.openAccount({ login: 'other', password: 'battery staple' })
  expect(await gateway.commands.beginSecondFactor(holder, { ...pair, password: 'battery staple' })).toBe(
    'wrong-credentials',
  )
  for (let i = 0; i < 12; i++) await gateway.commands.beginSecondFactor(holder, { ...pair, password: `guess ${i}` })
  expect(await gateway.commands.beginSecondFactor(holder, { ...pair, password: 'guess' })).toHaveProperty(
    'retryAfterSeconds',
  )
})

test('the setup needs the password of an operator as well', async () => {
  const backOffice = createBackOffice(memoryPorts())
  const id = await backOffice.commands.addOperator({ name: 'ann', role: 'admin' }, password)
  const [ann] = await backOffice.queries.listOperators()
  if (ann === undefined) throw new Error(String(id))
  const begin = (typed: string) =>
    backOffice.commands.beginOperatorFactor(ann, { password: typed, network: '192.0.2.0/24', address: '192.0.2.7' })
  expect(await begin('wrong')).toBe('wrong-credentials')
  expect(await begin(password)).toHaveProperty('challenge')
})
