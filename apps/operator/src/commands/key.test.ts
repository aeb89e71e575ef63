import { instant } from '@gateway/core/time'
import { anAccount } from '@gateway/core/testing'
import { anOperator } from '../../testing/operate.ts'

interface Issued {
  readonly id: number
  readonly key: string
}

const opens = async ({ ports }: ReturnType<typeof anOperator>, key: string) =>
  (await ports.accounts.byKey(ports.secrets.hashKey(key), ports.clock.now())) !== undefined

test('a key is printed once, is valid, and is not in any list', async () => {
  const operator = anOperator()
  await anAccount(operator.ports)
  const issued = await operator.json<Issued>('key', 'issue', '1', '--label', 'crm', '--expires', '2027-12-31')
  expect(issued).toEqual({
    id: 1,
    key: expect.any(String) as string,
    account: 1,
    label: 'crm',
    expires: '2027-12-31T21:59:59.999Z',
    networks: [],
  })
  expect(await opens(operator, issued.key)).toBe(true)

  const text = await operator.run(['key', 'issue', '1'])
  expect(text.out).toMatch(/^Key 2 of account 1, shown only now:\n\S{43,}\n$/)
  const key = text.out.split('\n')[1] ?? ''
  for (const format of [[], ['--json']]) {
    const { out } = await operator.run(['key', 'list', '1', ...format])
    for (const secret of [issued.key, key]) {
      expect(out).toContain(secret.slice(0, 6))
      expect(out).not.toContain(secret.slice(0, 8))
    }
  }
})

test('a list shows which keys are valid, revoked and expired', async () => {
  const operator = anOperator()
  await anAccount(operator.ports)
  for (const args of [['--expires', '202610181001'], ['--label', 'two'], []])
    await operator.run(['key', 'issue', '1', ...args])
  expect(await operator.json('key', 'revoke', '2')).toEqual({ id: 2, state: 'revoked' })
  const soon = anOperator({
    ports: () => ({ ...operator.ports, clock: { now: () => instant(Date.UTC(2026, 9, 18, 8, 1)) } }),
  })
  const keys = await soon.rows('key', 'list', '1')
  expect(keys).toMatchObject([
    { id: 1, state: 'expired', label: '', expires: '2026-10-18T08:01:00.000Z', revoked: null },
    { id: 2, state: 'revoked', label: 'two', expires: null, revoked: '2026-10-18T08:00:00.000Z' },
    { id: 3, state: 'valid', issued: '2026-10-18T08:00:00.000Z', expires: null, revoked: null },
  ])
  const lines = (await soon.run(['key', 'list', '1'])).out.split('\n')
  expect(lines[0]).toMatch(/^ID {2}KEY +LABEL {2}ISSUED \(GMT\+2\) +EXPIRES +STATE +FROM$/)
  expect(lines[1]).toMatch(/^1 {3}\S{6}… +2026\/10\/18 10:00:00 {2}2026\/10\/18 10:01:00 {2}expired$/)
})

test('a revoked key is invalid, and revoking it again succeeds', async () => {
  const operator = anOperator()
  await anAccount(operator.ports)
  const { id, key } = await operator.json<Issued>('key', 'issue', '1')
  expect((await operator.run(['key', 'revoke', String(id)])).out).toBe('Key 1 is revoked.\n')
  expect(await opens(operator, key)).toBe(false)
  expect((await operator.run(['key', 'revoke', String(id)])).code).toBe(0)
})

test.each([
  [['issue', '7'], 'There is no account 7.'],
  [['list', '7'], 'There is no account 7.'],
  [['revoke', '7'], 'There is no key 7.'],
  [['issue', '1', '--expires', '202610180959'], 'The expiry is in the past.'],
])('key %j is refused', async (args, message) => {
  const operator = anOperator()
  await anAccount(operator.ports)
  expect(await operator.run(['key', ...args])).toEqual({ code: 1, out: '', err: `${message}\n` })
  const { code, out, err } = await operator.run(['key', ...args, '--json'])
  expect([code, out, JSON.parse(err)]).toEqual([1, '', { error: message }])
})

test('the networks of a key are set when it is issued, listed, changed and removed', async () => {
  const operator = anOperator()
  await anAccount(operator.ports)
  const { out } = await operator.run(['key', 'issue', '1', '--from', '192.0.2.7,2001:db8::/32'])
  expect(out).toContain('\nIt may be used from 192.0.2.7, 2001:db8::/32 only.\n')
  const from = async () => (await operator.rows<{ networks: string[] }>('key', 'list', '1'))[0]?.networks
  expect(await from()).toEqual(['192.0.2.7', '2001:db8::/32'])
  expect((await operator.run(['key', 'set', '1', '--from', '10.0.0.0/8'])).out).toBe(
    'Key 1 may be used from 10.0.0.0/8 only.\n',
  )
  expect(await from()).toEqual(['10.0.0.0/8'])
  expect(await operator.json('key', 'set', '1', '--from', 'any')).toEqual({ id: 1, networks: [] })
  expect(await from()).toEqual([])
  expect((await operator.run(['key', 'set', '9', '--from', 'any'])).code).toBe(1)
  expect((await operator.run(['key', 'issue', '1', '--from', '10.0.0.0/8,elsewhere'])).code).toBe(2)
})
