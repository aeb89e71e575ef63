import { randomBytes } from 'node:crypto'
import { secretBox } from '@gateway/adapters-node'
import type { Ports } from '@gateway/core'
import type { DroppedHistory } from '@gateway/core/messages'
import { anAccount, anOrder, numbers } from '@gateway/core/testing'
import { anOperator } from '../../testing/operate.ts'

test('migrate prints the applied migrations, or that there were none', async () => {
  const applied = [
    { version: 1, name: 'first' },
    { version: 2, name: 'second' },
  ]
  const fresh = anOperator({ migrate: () => Promise.resolve(applied) })
  expect(await fresh.json('migrate')).toEqual({
    applied: applied.map(({ version, name }) => ({ migration: version, name })),
  })
  expect((await fresh.run(['migrate'])).out).toBe('Applied 1 first.\nApplied 2 second.\n')

  const current = anOperator()
  expect(await current.json('migrate')).toEqual({ applied: [] })
  expect((await current.run(['migrate'])).out).toBe('The schema is up to date.\n')
})

test('every other command requires a schema that is up to date', async () => {
  let migrated = 0
  const operator = anOperator({ migrate: () => Promise.resolve((migrated++, [])) })
  await operator.run(['account', 'list'])
  expect(migrated).toBe(1)
})

test('database copy prints how much was copied where', async () => {
  const targets: string[] = []
  const operator = anOperator({
    copyTo: (to, progress) => {
      targets.push(to)
      progress('account', 2)
      return Promise.resolve([
        { table: 'account', rows: 2 },
        { table: 'send_p0', rows: 1 },
      ])
    },
  })
  expect(await operator.json('database', 'copy', '--to', 'postgres://me@db/x')).toEqual({
    copied: 3,
    tables: [
      { table: 'account', copied: 2 },
      { table: 'send_p0', copied: 1 },
    ],
  })
  expect((await operator.run(['database', 'copy', '--to', 'postgres://me@db/x'])).out).toMatch(
    /^3 rows of 2 tables copied\. .*\nFrom now on, start every process with DATABASE_URL/,
  )
  expect(targets).toEqual(['postgres://me@db/x', 'postgres://me@db/x'])
})

test('database copy fails with the obstacle, and without a target is a usage error', async () => {
  const operator = anOperator({ copyTo: () => Promise.reject(new Error('the target is not empty')) })
  expect(await operator.run(['database', 'copy', '--to', 'postgres://me@db/x'])).toMatchObject({
    code: 3,
    err: 'the target is not empty\n',
  })
  expect((await operator.run(['database', 'copy'])).code).toBe(2)
})

const steps = (...steps: readonly DroppedHistory[]) => {
  const remainingSteps = [...steps]
  return {
    ports: (ports: Ports): Ports => ({
      ...ports,
      history: {
        ...ports.history,
        drop: () =>
          Promise.resolve(remainingSteps.shift() ?? { partitions: 0, sends: 0, messages: 0, progress: 'all' }),
      },
    }),
  }
}

test('history drop repeats until nothing is old, and prints the sums', async () => {
  const dropped = steps(
    { partitions: 1, sends: 5, messages: 50, progress: 'more' },
    { partitions: 0, sends: 2, messages: 7, progress: 'more' },
  )
  expect(await anOperator(dropped).json('history', 'drop')).toEqual({ partitions: 1, sends: 7, messages: 57 })
  const one = { partitions: 1, sends: 2, messages: 3, progress: 'all' } as const
  expect(await anOperator(steps(one)).run(['history', 'drop'])).toEqual({
    code: 0,
    out: '3 messages in 2 sends dropped, 1 partition as a whole.\n',
    err: '',
  })
})

test('history drop keeps recent history', async () => {
  const operator = anOperator()
  const { id } = await anAccount(operator.ports)
  await operator.ports.messages.accept(anOrder(id, { to: numbers(3) }))
  expect(await operator.json('history', 'drop')).toEqual({ partitions: 0, sends: 0, messages: 0 })
})

test('history drop that is blocked by another process reports that, with exit code 1', async () => {
  const operator = anOperator(steps({ partitions: 0, sends: 1, messages: 4, progress: 'busy' }))
  expect(await operator.run(['history', 'drop'])).toEqual({
    code: 1,
    out: '',
    err: 'Not everything could be dropped, because another process is doing so. Try again later. 4 messages in 1 send dropped.\n',
  })
})

test('ids skip skips 1000 blocks of 10,000 ids, or the requested number, and prints the next id', async () => {
  const operator = anOperator()
  const { id } = await anAccount(operator.ports)
  await operator.ports.messages.accept(anOrder(id, { to: numbers(3) }))
  const skipped = await operator.json<{ blocks: number; from: number }>('ids', 'skip')
  expect(skipped).toEqual({ blocks: 1000, firstMessage: 10_000_004 })
  expect(await operator.run(['ids', 'skip', '--blocks', '1'])).toEqual({
    code: 0,
    out: '1 block skipped. Processes that start from now on assign ids from 10010004 on.\n',
    err: '',
  })
  expect(await operator.ports.messages.accept(anOrder(id, { to: numbers(1) }))).toMatchObject({
    results: [[10_010_004]],
  })
})

test.each(['0', '1000001', '1.5', '-1', 'all'])(
  'ids skip --blocks %s is a usage error, and skips nothing',
  async (blocks) => {
    const operator = anOperator()
    const { code, out, err } = await operator.run(['ids', 'skip', `--blocks=${blocks}`])
    expect([code, out]).toEqual([2, ''])
    expect(err).toContain('Expected a whole number from 1 to 1000000')
    expect(await operator.json('ids', 'skip', '--blocks', '1')).toEqual({ blocks: 1, firstMessage: 10_001 })
  },
)

const [older, newer] = [randomBytes(32), randomBytes(32)].map((key) => key.toString('base64')) as [string, string]
const boxOf = (...keys: readonly string[]) => secretBox({ keys, folder: '/nowhere' })

test('secrets reseal encrypts secrets of the old key with the new one, once, and changes no secret', async () => {
  const ports = (inMemory: Ports): Ports => ({ ...inMemory, secretBox: boxOf(newer, older) })
  const operator = anOperator({ ports })
  const { id } = await anAccount(operator.ports)
  const secrets = [boxOf(older).newSigningSecret(), boxOf(older).newSigningSecret()]
  for (const [at, box] of [boxOf(older), boxOf(newer)].entries()) {
    const secret = box.seal(secrets[at] ?? '')
    const webhook = { account: id, url: 'https://example.com', events: [], listSize: 1, withText: false, secret }
    await operator.ports.webhooks.add(webhook, operator.ports.clock.now())
  }

  const carriers = { digest: 'x', carriers: [], routes: [], storedBy: 'x' }
  const lost = boxOf(randomBytes(32).toString('base64')).seal('an old version')
  for (const [after, sealed] of [lost, boxOf(older).seal('carriers')].entries())
    await operator.ports.carrierVersions.store({ ...carriers, sealed }, after, { onPurpose: true })

  expect(await operator.json('secrets', 'reseal')).toEqual({ webhooks: 1, carrierVersions: 1, secondFactors: 0 })
  const [now, before] = await operator.ports.carrierVersions.list(2)
  expect([now && boxOf(newer).open(now.sealed), before?.sealed]).toEqual(['carriers', lost])
  const stored = await operator.ports.webhooks.list(id)
  expect(stored.map(({ secret }) => boxOf(newer).open(secret))).toEqual(secrets)
  expect(await operator.run(['secrets', 'reseal'])).toEqual({
    code: 0,
    out: 'Every secret is encrypted with the current key.\n',
    err: '',
  })
})
