import { memoryPorts } from '@gateway/core/testing'
import { createBackOffice, type BackOffice } from '../back-office.ts'
import type { Ports } from '../ports.ts'
import type { OperatorId } from './operators.ts'

const browser = { agent: 'Firefox', address: '192.0.2.7' }
const pair = (password: string, name = 'ann') => ({ name, password, network: '192.0.2.0/24', address: '192.0.2.7' })

let ports: Ports
let backOffice: BackOffice
let ann: OperatorId

beforeEach(async () => {
  ports = memoryPorts()
  backOffice = createBackOffice(ports)
  const added = await backOffice.commands.addOperator({ name: 'ann', role: 'support' }, 'correct horse')
  if (typeof added === 'string') throw new Error(added)
  ann = added
})

const signedIn = async (password = 'correct horse', name = 'ann'): Promise<string> => {
  const opened = await backOffice.commands.signInOperator(pair(password, name), browser)
  return typeof opened === 'object' && 'token' in opened ? opened.token : JSON.stringify(opened)
}

test('the right password opens a session with a new token, for the name in any letter case', async () => {
  const [one, other] = [await signedIn(), await signedIn('correct horse', 'ANN')]
  expect(one).not.toBe(other)
  expect((await backOffice.commands.useOperatorSession(one))?.operator).toMatchObject({ id: ann, role: 'support' })
  expect(await backOffice.commands.useOperatorSession('x')).toBeUndefined()
  expect(await backOffice.queries.listOperatorSessions(ann)).toHaveLength(2)
})

test('a wrong password, an unknown name and a locked operator get the same answer', async () => {
  expect(await signedIn('wrong')).toBe('"wrong-credentials"')
  expect(await signedIn('correct horse', 'bob')).toBe('"wrong-credentials"')
  const token = await signedIn()
  await backOffice.commands.lockOperator(ann)
  expect(await signedIn()).toBe('"wrong-credentials"')
  expect(await backOffice.commands.useOperatorSession(token)).toBeUndefined()
})

test('an account with the same name and password is not an operator, and its failures are counted separately', async () => {
  await backOffice.commands.openAccount({ login: 'boss', password: 'correct horse' })
  expect(await signedIn('correct horse', 'boss')).toBe('"wrong-credentials"')
  for (let i = 0; i < 12; i++) await signedIn('wrong')
  expect(await signedIn()).toMatch(/retryAfterSeconds/)
  await backOffice.commands.openAccount({ login: 'ann', password: 'correct horse' })
  const checked = await ports.secrets.checkPassword({
    ...{ login: 'ann', password: 'correct horse', network: '192.0.2.0/24', address: '192.0.2.7' },
    ...{ now: ports.clock.now(), mayUse: () => true, remembered: () => ports.accounts.byLogin('ann') },
    stored: () => ports.accounts.readLogin('ann'),
  })
  expect(checked).toMatchObject({ account: { login: 'ann' } })
})

test('a changed password ends all sessions but the new one', async () => {
  const token = await signedIn()
  expect(await backOffice.commands.changeOperatorPassword(pair('correct horse'), 'short', browser)).toBe('too-short')
  expect(await backOffice.commands.changeOperatorPassword(pair('wrong'), 'battery staple', browser)).toBe(
    'wrong-credentials',
  )
  expect(await backOffice.commands.useOperatorSession(token)).toBeDefined()
  const opened = await backOffice.commands.changeOperatorPassword(pair('correct horse'), 'battery staple', browser)
  expect(await backOffice.commands.useOperatorSession(token)).toBeUndefined()
  expect(
    typeof opened === 'object' && 'token' in opened && (await backOffice.commands.useOperatorSession(opened.token)),
  ).toBeTruthy()
  expect(await signedIn()).toBe('"wrong-credentials"')
})

test('an identity provider signs in an operator by name, unless the operator does not exist or is locked', async () => {
  const opened = await backOffice.commands.signInNamedOperator('ANN', browser)
  const token = typeof opened === 'object' && 'token' in opened ? opened.token : ''
  expect((await backOffice.commands.useOperatorSession(token))?.operator.id).toBe(ann)
  await backOffice.commands.addOperator({ name: 'kim', role: 'admin' }, 'correct horse')
  for (const nobody of ['bob', '', '\u212Aim']) {
    expect(await backOffice.commands.signInNamedOperator(nobody, browser)).toBe('wrong-credentials')
  }
  await backOffice.commands.lockOperator(ann)
  expect(await backOffice.commands.signInNamedOperator('ann', browser)).toBe('wrong-credentials')
})

test('an identity provider replaces the password only: a required second factor is still requested', async () => {
  const strict = createBackOffice(ports, { secondFactorRequired: true })
  expect(await strict.commands.signInNamedOperator('ann', browser)).toMatchObject({
    challenge: expect.any(String) as string,
  })
})

test('the hash of an older version is replaced when the operator signs in, and other sessions stay', async () => {
  const first = await signedIn()
  const old = await ports.secrets.hashPassword('correct horse')
  const chosen = (await ports.people.operators.byName('ann'))?.password
  if (chosen === undefined) throw new Error('no operator')
  expect(ports.secrets.isWeakForSignIn(chosen)).toBe(false)
  await ports.people.operators.replaceHash(ann, chosen, old)
  expect(await backOffice.commands.useOperatorSession(first)).toBeDefined()
  const second = await signedIn()
  const now = (await ports.people.operators.byName('ann'))?.password
  expect(now === undefined || ports.secrets.isWeakForSignIn(now)).toBe(false)
  for (const token of [first, second]) expect(await backOffice.commands.useOperatorSession(token)).toBeDefined()
})
