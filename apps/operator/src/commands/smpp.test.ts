import { anAccount } from '@gateway/core/testing'
import { anOperator } from '../../testing/operate.ts'

interface Added {
  readonly id: number
  readonly systemId: string
  readonly password: string
}

async function aCustomer() {
  const operator = anOperator()
  await anAccount(operator.ports)
  const added = await operator.json<Added>('smpp', 'add', '--account', '1', '--from', '192.0.2.0/24')
  return { operator, added }
}

test('a credential is added with defaults, and its password is printed once', async () => {
  const { operator, added } = await aCustomer()
  expect(added).toMatchObject({
    ...{ id: 1, account: 1, networks: ['192.0.2.0/24'], binds: 2, window: 10, perSecond: 50 },
    ...{ alphabet0: 'gsm', alphabet1: 'ascii', country: null, idempotent: false, receiptOffsetMinutes: 0 },
    ...{ systemId: expect.any(String) as string, password: expect.any(String) as string },
  })
  for (const args of [
    ['smpp', 'list'],
    ['smpp', 'show', '1'],
    ['smpp', 'list', '--json'],
  ]) {
    const { out } = await operator.run(args)
    expect(out).toContain(added.systemId)
    expect(out).not.toContain(added.password)
  }
})

test('show prints a sheet in the words of a customer', async () => {
  const { operator, added } = await aCustomer()
  const { out } = await operator.run(['smpp', 'show', '1', '--host', 'sms.example.com', '--tls-port', '3550'])
  expect(out).toMatch(/^Host +sms\.example\.com\nPort +2775\nPort with TLS +3550 \(TLS 1\.2 or later\)\n/)
  expect(out).toMatch(new RegExp(`\\nsystem_id +${added.systemId}\\npassword +sent to you separately\\n`))
  expect(out).toContain('id:20481 sub:001 dlvrd:001 submit date:2610181824 done date:2610181825 stat:DELIVRD err:000')
})

test('set changes only the named settings', async () => {
  const { operator } = await aCustomer()
  const changes = ['--alphabet0', 'latin1', '--idempotent', '--receipt-offset', '+02:00', '--from', 'any']
  expect(await operator.json('smpp', 'set', '1', ...changes)).toMatchObject({
    ...{ alphabet0: 'latin1', idempotent: true, receiptOffsetMinutes: 120, networks: [], window: 10 },
  })
  expect(await operator.json('smpp', 'set', '1', '--no-idempotent')).toMatchObject({ idempotent: false })
})

test('rotate prints another password for the same system id', async () => {
  const { operator, added } = await aCustomer()
  const rotated = await operator.json<Added>('smpp', 'rotate', '1')
  expect(rotated.systemId).toBe(added.systemId)
  expect(rotated.password).not.toBe(added.password)
})

test('remove removes the credential, and binds lists none', async () => {
  const { operator } = await aCustomer()
  expect(await operator.json('smpp', 'remove', '1')).toEqual({ id: 1, state: 'removed' })
  expect(await operator.rows('smpp', 'list')).toEqual([])
  expect(await operator.rows('smpp', 'binds')).toEqual([])
})

test('replies sets who gets the replies of an account with a credential', async () => {
  const { operator } = await aCustomer()
  expect(await operator.json('smpp', 'replies', '1', 'polling')).toEqual({ account: 1, replies: 'polling' })
  await anAccount(operator.ports)
  expect(await operator.run(['smpp', 'replies', '2', 'smpp'])).toMatchObject({
    code: 1,
    err: 'Account 2 has no SMPP credential, so its replies go to its webhooks.\n',
  })
})

test.each([
  [['add', '--account', '7'], 'There is no account 7.'],
  [['add', '--account', '1', '--country', '999'], 'No country has this calling code.'],
  [['show', '7'], 'There is no SMPP credential 7.'],
  [['set', '7', '--binds', '3'], 'There is no SMPP credential 7.'],
  [['rotate', '7'], 'There is no SMPP credential 7.'],
  [['remove', '7'], 'There is no SMPP credential 7.'],
])('smpp %j is refused', async (args, message) => {
  const operator = anOperator()
  await anAccount(operator.ports)
  expect(await operator.run(['smpp', ...args])).toEqual({ code: 1, out: '', err: `${message}\n` })
})
