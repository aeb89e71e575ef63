import { memoryPorts, steppingClock, totpCode } from '@gateway/core/testing'
import { createBackOffice } from '../back-office.ts'
import { createGateway } from '../gateway.ts'
import type { AskedForCode } from './sign-in-steps.ts'

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
    if (typeof begun === 'string' || !('secret' in begun)) throw new Error('not begun')
    secret = begun.secret
    const set = await gateway.commands.setSecondFactor({ account }, begun.challenge, codeAt(secret, clock.now()))
    if (typeof set === 'string' || !('recoveryCodes' in set)) throw new Error('not set')
    recoveryCodes = set.recoveryCodes
    clock.step(60)
  }
  const asked = async (): Promise<AskedForCode> => {
    const opened = await gateway.commands.signIn(pair, browser)
    if (typeof opened === 'string' || !('challenge' in opened)) throw new Error(JSON.stringify(opened))
    return opened
  }
  const signIn = async (code: string) => gateway.commands.signInWithCode((await asked()).challenge, code, browser)
  const code = (later = 0) => codeAt(secret, clock.now(), later)
  const wrong = () => (code() === '000000' ? '111111' : '000000')
  return { ports, clock, backOffice, gateway, account, secret, recoveryCodes, asked, signIn, code, wrong }
}

test('the password alone opens nothing; with the code of the app, typed with spaces too, there is a session', async () => {
  const { gateway, signIn, code, wrong } = await setUp()
  expect(await signIn(wrong())).toBe('wrong-code')
  const opened = await signIn(`${code().slice(0, 3)} ${code().slice(3)}`)
  expect(
    typeof opened === 'object' && 'token' in opened && (await gateway.commands.useSession(opened.token)),
  ).toBeTruthy()
})

test('a code is good once: of many sign-ins with one at the same time one succeeds, and none before it later', async () => {
  const { asked, gateway, signIn, code, clock } = await setUp()
  const challenges = await Promise.all(Array.from({ length: 8 }, asked))
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

test('a recovery code is good once, in any letter case, with or without its hyphens', async () => {
  const { asked, gateway, recoveryCodes, signIn, account } = await setUp()
  expect(new Set(recoveryCodes).size).toBe(10)
  const [first = '', second = ''] = recoveryCodes
  const challenges = await Promise.all(Array.from({ length: 4 }, asked))
  const all = await Promise.all(
    challenges.map(({ challenge }) => gateway.commands.signInWithCode(challenge, first, browser)),
  )
  expect(all.filter((one) => typeof one === 'object' && 'token' in one)).toHaveLength(1)
  expect(await signIn(second.replaceAll('-', '').toUpperCase())).toHaveProperty('token')
  expect((await gateway.queries.findSecondFactor({ account }))?.recoveryCodes).toBe(8)
  expect(await signIn(second)).toBe('wrong-code')
})

test('who guesses codes is refused after ten in a minute, from any network, with the right one too; so all at once', async () => {
  const { asked, gateway, signIn, code, wrong, clock } = await setUp()
  const { challenge } = await asked()
  const guesses = await Promise.all(
    Array.from({ length: 64 }, () => gateway.commands.signInWithCode(challenge, wrong(), browser)),
  )
  expect(guesses.filter((one) => one === 'wrong-code')).toHaveLength(10)
  expect(await signIn(code())).toEqual({ retryAfterSeconds: expect.any(Number) as number })
  clock.step(61)
  expect(await signIn(code())).toHaveProperty('token')
})

test('in a day a hundred codes are looked at', async () => {
  const { asked, gateway, signIn, code, wrong, clock } = await setUp()
  let looked = 0
  for (let minute = 0; minute < 12; minute++) {
    clock.step(61)
    const { challenge } = await asked()
    for (let i = 0; i < 10; i++)
      if ((await gateway.commands.signInWithCode(challenge, wrong(), browser)) === 'wrong-code') looked++
  }
  // One was looked at when it was set up.
  expect(looked).toBe(99)
  clock.step(61)
  expect(await signIn(code())).toHaveProperty('retryAfterSeconds')
})

test('a challenge is good for a quarter of an hour, for its account, under the same password, and as it was made', async () => {
  const { asked, gateway, ports, account, backOffice, code, clock, secret } = await setUp()
  const { challenge } = await asked()
  const sealed = ports.secretBox.seal(JSON.stringify({ of: `account ${account.id}`, name: 'acme', until: 1e15 }))
  for (const forged of ['', 'x', `${challenge}x`, sealed, ports.secretBox.seal(`challenge {}`)])
    expect(await gateway.commands.signInWithCode(forged, code(), browser).catch(() => 'over')).toBe('over')
  await backOffice.commands.setPassword(account.id, 'battery staple')
  expect(await gateway.commands.signInWithCode(challenge, code(), browser)).toBe('over')
  await backOffice.commands.setPassword(account.id, password)
  const later = await asked()
  clock.step(15 * 60)
  expect(await gateway.commands.signInWithCode(later.challenge, codeAt(secret, clock.now()), browser)).toBe('over')
})

test('who has to have one sets it up when signing in, and gets recovery codes; a session without one is over', async () => {
  const { gateway, backOffice, account, clock, asked } = await setUp(false)
  const before = await gateway.commands.signIn(pair, browser)
  if (typeof before === 'string' || !('token' in before)) throw new Error('not signed in')
  await backOffice.commands.requireAccountFactor(account.id, true)
  expect(await gateway.commands.useSession(before.token)).toBeUndefined()
  expect(await backOffice.commands.offerSignInLink(account.id)).toBe('second-factor')
  const { challenge, toSetUp } = await asked()
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
  expect((await asked()).toSetUp).toBeUndefined()
})

test('it is removed, and its recovery codes are renewed, with a code only', async () => {
  const { gateway, account, code, wrong, recoveryCodes, clock, secret } = await setUp()
  expect(await gateway.commands.removeSecondFactor({ account }, wrong())).toBe('wrong-code')
  const renewed = await gateway.commands.renewRecoveryCodes({ account }, code())
  expect(renewed).toHaveProperty('recoveryCodes')
  expect(await gateway.commands.removeSecondFactor({ account }, recoveryCodes[0] ?? '')).toBe('wrong-code')
  clock.step(60)
  expect(await gateway.commands.removeSecondFactor({ account }, codeAt(secret, clock.now()))).toBe('removed')
  expect(await gateway.commands.signIn(pair, browser)).toHaveProperty('token')
})

test('the secret is stored encrypted, and its challenge shows nothing of it to who asks for another account', async () => {
  const { gateway, ports, backOffice, clock } = await setUp(false)
  const other = await backOffice.commands.openAccount({ login: 'other' })
  const [one, two] = [await ports.accounts.byLogin('acme'), await ports.accounts.find(other as never)]
  if (one === undefined || two === undefined) throw new Error('no accounts')
  const begun = await gateway.commands.beginSecondFactor(one, pair)
  if (typeof begun === 'string' || !('secret' in begun)) throw new Error('not begun')
  const code = codeAt(begun.secret, clock.now())
  expect(await gateway.commands.setSecondFactor(two, begun.challenge, code)).toBe('over')
  await gateway.commands.setSecondFactor(one, begun.challenge, code)
  const stored = await gateway.queries.findSecondFactor(one)
  expect(stored?.secret).toBe(ports.secretBox.seal(begun.secret))
  expect(await gateway.commands.beginSecondFactor(one, pair)).toBe('already')
})

test('an operator has to have one where that is asked of all; resetting it lets set up another', async () => {
  const clock = steppingClock()
  const ports = memoryPorts({ clock })
  const free = createBackOffice(ports)
  const strict = createBackOffice(ports, { secondFactorRequired: true })
  const ann = await free.commands.addOperator({ name: 'ann', role: 'admin' }, password)
  if (typeof ann === 'string') throw new Error(ann)
  const its = { name: 'ann', password, network: pair.network, address: pair.address }
  const opened = await free.commands.signInOperator(its, browser)
  if (typeof opened === 'string' || !('token' in opened)) throw new Error('not signed in')
  expect(await free.commands.useOperatorSession(opened.token)).toBeDefined()
  expect(await strict.commands.useOperatorSession(opened.token)).toBeUndefined()
  const asked = await strict.commands.signInOperator(its, browser)
  if (typeof asked === 'string' || !('toSetUp' in asked)) throw new Error(JSON.stringify(asked))
  const code = codeAt(asked.toSetUp?.secret ?? '', clock.now())
  const entered = await strict.commands.signInOperatorWithCode(asked.challenge, code, browser)
  if (typeof entered === 'string' || !('token' in entered)) throw new Error(JSON.stringify(entered))
  expect((await strict.commands.useOperatorSession(entered.token))?.operator.name).toBe('ann')
  expect(await free.commands.resetOperatorFactor(ann)).toBe(true)
  expect(await strict.commands.signInOperator(its, browser)).toHaveProperty('toSetUp')
})

test('a session alone sets up no second factor: the password is asked for, and wrong ones are counted', async () => {
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

test('an operator is asked for the password as well', async () => {
  const backOffice = createBackOffice(memoryPorts())
  const id = await backOffice.commands.addOperator({ name: 'ann', role: 'admin' }, password)
  const [ann] = await backOffice.queries.listOperators()
  if (ann === undefined) throw new Error(String(id))
  const begin = (typed: string) =>
    backOffice.commands.beginOperatorFactor(ann, { password: typed, network: '192.0.2.0/24', address: '192.0.2.7' })
  expect(await begin('wrong')).toBe('wrong-credentials')
  expect(await begin(password)).toHaveProperty('challenge')
})
