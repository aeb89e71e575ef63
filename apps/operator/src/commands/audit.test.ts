import { hostname, userInfo } from 'node:os'
import { anOperator } from '../../testing/operate.ts'

const by = `${userInfo().username} on ${hostname()}`

test('a change is listed with its operator, its outcome and its differences', async () => {
  const operator = anOperator()
  await operator.run(['account', 'open', '--login', 'acme', '--credits', '10'])
  await operator.run(['account', 'lock', '1'])
  await operator.run(['account', 'lock', '9'])
  await operator.run(['price', 'set', '27', '0.7', '--account', '1'])
  await operator.run(['number', 'block', '27825550101', '--reason', 'blacklisted'])
  await operator.run(['optout', 'add', '1', '27825550101'])
  await operator.run(['account', 'list'])
  const rows = await operator.rows<Record<string, unknown>>('audit', 'list')
  expect(rows).toMatchObject([
    { action: 'addOptOut', account: 1, detail: { given: { number: '27825…01' }, outcome: 'added' } },
    { action: 'blockNumber', detail: { given: { number: '27825…01', reason: 'blacklist' }, outcome: 'added' } },
    { action: 'setPrice', account: 1, detail: { outcome: 'set', changed: { priceTenths: [null, 7] } } },
    { action: 'lockAccount', account: 9, detail: { outcome: 'no-such-account' } },
    { entry: 3, account: 1, action: 'lockAccount', detail: { outcome: 'locked', changed: { locked: [false, true] } } },
    { entry: 1, doneBy: by, madeFrom: 'command line', action: 'openAccount', detail: { given: { login: 'acme' } } },
  ])
  expect(await operator.rows('audit', 'list', '--account', '1', '--action', 'lockAccount')).toHaveLength(1)
  expect(await operator.rows('audit', 'list', '--by', 'nobody')).toEqual([])
  expect(await operator.rows('audit', 'list', '--before', '3', '--limit', '5')).toHaveLength(1)
  const { out } = await operator.run(['audit', 'list', '--account', '1', '--action', 'lock the account'])
  expect(out).toMatch(/^3 {2,}2026.10.18 \d\d:\d\d:\d\d.* {2,}Lock the account {2,}1 .*locked no to yes$/m)
  const blocked = await operator.run(['audit', 'list', '--action', 'blockNumber'])
  expect(blocked.out).toMatch(/ {2,}Block a number {2,}.*reason blacklisted {2,}added$/m)
})

test('the log contains no secret', async () => {
  const operator = anOperator()
  await operator.run(['account', 'open', '--login', 'acme'])
  await operator.run(['account', 'password', '1'], 'correct horse\n')
  const { key } = await operator.json<{ key: string }>('key', 'issue', '1')
  const added = await operator.json<{ secret: string }>(
    'webhook',
    'add',
    '--account',
    '1',
    '--url',
    'https://example.org/in',
  )
  const written = (await operator.run(['audit', 'export', '--json'])).out
  expect(written).toContain('issueApiKey')
  expect(written).toContain('addWebhook')
  for (const secret of ['correct horse', key, added.secret]) expect(written).not.toContain(secret)
})

test('verification detects a changed entry and a rewritten log', async () => {
  const operator = anOperator()
  expect((await operator.run(['audit', 'verify'])).out).toMatch(/^The 0 entries are intact\./)
  await operator.run(['account', 'lock', '1'])
  const { hash } = await operator.row<{ hash: string }>('audit', 'verify')
  await operator.run(['account', 'lock', '2'])
  expect(await operator.row('audit', 'verify', '--expect', hash)).toMatchObject({ entryCount: 4, whole: true })
  expect(await operator.run(['audit', 'verify', '--expect', 'a'.repeat(64)])).toMatchObject({ code: 1 })
  const [, second] = operator.store.auditEntries
  if (second !== undefined) operator.store.auditEntries[1] = { ...second, record: '{"outcome":"locked"}' }
  expect(await operator.run(['audit', 'verify'])).toMatchObject({
    code: 1,
    err: 'Entry 2 of 4 was changed or removed. The log is not intact.\n',
  })
})

test('without an entry nothing is changed; a failed change has that outcome, or an unknown one if it cannot be stored', async () => {
  let isBroken: 'begin' | 'end' | undefined
  const fail = () => Promise.reject(new Error('no room'))
  const operator = anOperator({
    ports: (ports) => ({
      ...ports,
      auditLog: {
        ...ports.auditLog,
        begin: (...args) => (isBroken === 'begin' ? fail() : ports.auditLog.begin(...args)),
        end: (...args) => (isBroken === 'end' ? fail() : ports.auditLog.end(...args)),
      },
      suppressions: { ...ports.suppressions, add: fail },
    }),
  })
  await operator.run(['account', 'open', '--login', 'acme'])
  const isLocked = async () => (await operator.row<{ locked: boolean }>('account', 'show', '1')).locked
  isBroken = 'begin'
  expect((await operator.run(['account', 'lock', '1'])).code).toBe(3)
  expect(await isLocked()).toBe(false)
  isBroken = 'end'
  expect((await operator.run(['account', 'lock', '1'])).code).toBe(3)
  expect(await isLocked()).toBe(true)
  isBroken = undefined
  await operator.run(['number', 'block', '27825550101', '--reason', 'blacklisted'])
  expect(await operator.rows('audit', 'list', '--limit', '2')).toMatchObject([
    { action: 'blockNumber', detail: { outcome: 'failed: no room' } },
    { action: 'lockAccount', detail: { outcome: null } },
  ])
})
