import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { once } from 'node:events'
import { access, readdir } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { until } from '@gateway/core/testing'
import { removeCluster, startEmbeddedPostgres, type EmbeddedPostgres } from '@gateway/embedded-postgres'
import { query } from '../packages/embedded-postgres/testing/query.ts'
import { operateJson } from './support/operate.ts'
import {
  cleanEnvironment,
  databaseFolder,
  dataFolder,
  gatewayJson,
  killLeftovers,
  root,
  runGateway,
  startApp,
  type DataFolder,
  type Environment,
  type Outcome,
  type Started,
} from './support/process.ts'

let folder: DataFolder
let dispatcher: Started
/** Handle of the PostgreSQL that the dispatcher has started, for changes that no command makes. */
let database: EmbeddedPostgres
let environment: Environment

beforeAll(async () => {
  folder = await databaseFolder()
  environment = { DATA_DIR: folder.path, CARRIERS: 'simulator:?delayMs=10' }
  dispatcher = await startApp('dispatcher', environment)
  database = await startEmbeddedPostgres({ dataDir: folder.path })
}, 120_000)
afterAll(async () => {
  await database.stop()
  await dispatcher.stop()
  killLeftovers()
  await remove(folder)
}, 120_000)

async function remove(data: DataFolder): Promise<void> {
  await removeCluster(data.path)
  await data.remove()
}

const json = <Result>(...args: readonly string[]) => gatewayJson<Result>(args, environment)
const rows = async <Row>(...args: readonly string[]) => (await json<{ rows: readonly Row[] }>(...args)).rows
/** Runs a command in this process. Used to prepare tests. */
const open = async (...args: readonly string[]) =>
  (await operateJson<{ id: number }>(['account', 'open', ...args], environment)).id

test('without a database or schema a command, reading or writing, creates neither and says what to do', async () => {
  const own = await dataFolder()
  const elsewhere = { DATA_DIR: join(own.path, 'elsewhere') }
  try {
    for (const args of [
      ['account', 'list'],
      ['account', 'open', '--login', 'acme'],
    ]) {
      const { code, out, err } = await runGateway(args, elsewhere)
      expect([code, out]).toEqual([3, ''])
      expect(err).toMatch(/^There is no database in .*elsewhere\. Name .*DATA_DIR.*"gateway migrate"\.\n$/)
    }
    expect(await readdir(own.path)).toEqual([])
    const url = new URL(database.connectionString.replace('@/', '@localhost/'))
    const empty = `postgres://gateway@localhost/postgres${url.search}`
    const { code, err } = await runGateway(['queue', 'show'], { DATABASE_URL: empty })
    expect([code, err]).toEqual([3, expect.stringMatching(/^This database has no schema of the gateway\. .*migrate/)])
  } finally {
    await own.remove()
  }
}, 120_000)

test('on an empty folder a command works on its own, and leaves no database running', async () => {
  const own = await dataFolder()
  const alone = { DATA_DIR: own.path }
  const isRunning = () =>
    access(join(own.path, 'postgres/postmaster.pid')).then(
      () => true,
      () => false,
    )
  try {
    const { applied } = await gatewayJson<{ applied: unknown[] }>(['migrate'], alone)
    expect(applied.length).toBeGreaterThan(0)
    expect(await isRunning()).toBe(false)
    expect(await gatewayJson(['account', 'open', '--login', 'acme', '--credits', '5'], alone)).toMatchObject({
      id: 1,
    })
    const { code, out, err } = await runGateway(['account', 'list'], alone)
    expect([code, err]).toEqual([0, ''])
    expect(out).toMatch(/^ID .*\n1 .*acme .*5\.0 .*open\n$/)
    expect(await isRunning()).toBe(false)
  } finally {
    await remove(own)
  }
}, 120_000)

test('a copy of a database onto itself is refused in a sentence', async () => {
  const { code, err } = await runGateway(['database', 'copy', '--to', database.connectionString], environment)
  expect({ code, err }).toEqual({ code: 1, err: 'The target is the same database as the source.\n' })
})

test('a target of a copy that refuses access is named, with the option that sets its location', async () => {
  const closing = createServer((socket) =>
    socket
      .on('error', () => undefined)
      .resume()
      .end(),
  ).listen(0, '127.0.0.1')
  await once(closing, 'listening')
  const target = `postgres://me@127.0.0.1:${(closing.address() as AddressInfo).port}/none`
  const { code, err } = await runGateway(['database', 'copy', '--to', target], environment)
  expect([code, err]).toEqual([3, expect.stringMatching(/^The target cannot be reached: .*--to.*PGPASSWORD/)])
  closing.close()
}, 120_000)

test('accounts, passwords and keys beside a running server', async () => {
  const id = await open('--login', 'main', '--credits', '100', '--first-name', 'Ada', '--surname', 'Love')
  const trial = ['--trial', '--own-number', '27825550199', '--transactional', '--parent', String(id)]
  const piped = await runGateway(
    ['account', 'open', '--login', 'sub', ...trial, '--password', '-', '--json'],
    environment,
    'secret-of-sub\n',
  )
  expect([piped.code, piped.err]).toEqual([0, ''])
  const sub = (JSON.parse(piped.out) as { id: number }).id

  const [list, set, generated, issued] = await Promise.all([
    rows<{ id: number }>('account', 'list'),
    runGateway(['account', 'password', String(id)], environment, 'another-password\n'),
    json<{ password: string }>('account', 'password', String(sub), '--generate'),
    json<{ id: number; key: string }>('key', 'issue', String(id), '--label', 'crm', '--expires', '2099-12-31'),
  ])
  expect(list.map((account) => account.id)).toEqual(expect.arrayContaining([id, sub]))
  expect(set).toEqual({ code: 0, out: `The password of account ${id} is set.\n`, err: '' })
  expect(generated.password).toMatch(/^\S{16,}$/)
  expect(await json('account', 'lock', String(sub))).toEqual({ id: sub, locked: true })
  const [shown, unlocked, revoked] = await Promise.all([
    rows('account', 'show', String(sub)),
    json('account', 'unlock', String(id)),
    json('key', 'revoke', String(issued.id)),
  ])
  expect(shown).toMatchObject([
    { login: 'sub', parent: id, locked: true, trialOwnNumber: '27825550199', transactional: true },
  ])
  expect(unlocked).toEqual({ id, locked: false })
  expect(revoked).toEqual({ id: issued.id, state: 'revoked' })
  const keys = await runGateway(['key', 'list', String(id), '--json'], environment)
  expect(JSON.parse(keys.out)).toMatchObject({ rows: [{ id: issued.id, label: 'crm', state: 'revoked' }], total: 1 })
  expect(keys.out).not.toContain(issued.key)

  const stored = JSON.stringify([
    await query(database.connectionString, 'select * from directory'),
    await query(database.connectionString, 'select * from api_key'),
  ])
  for (const secret of [issued.key, generated.password, 'secret-of-sub', 'another-password'])
    expect(stored).not.toContain(secret)
}, 120_000)

test('messages are sent, followed until they are final, and blocked; a refusal ends with 1', async () => {
  const id = String(await open('--login', 'sender', '--credits', '1'))
  expect(await json('credits', 'top-up', id, '2', '--why', 'invoice')).toMatchObject({ balance: 3 })
  expect(await json('number', 'block', '27825550103', '--reason', 'blacklisted')).toMatchObject({ added: 1 })

  const send = ['send', '--account', id, '--text', 'Hello', '--to']
  const watched = await runGateway([...send, '27825550101,27825550190,27825550103', '--wait'], environment)
  expect([watched.code, watched.err]).toEqual([0, ''])
  expect(watched.out).toMatch(/^27825550101: message \d+, 1\.0 credits\n/)
  expect(watched.out).toContain('27825550103: refused, the number is blacklisted\n')
  expect(watched.out).toMatch(/\nmessage \d+: DELIVERED 0 \(/)
  expect(watched.out).toMatch(/\nmessage \d+: SENDINGFAILED 103 \(/)

  const [list, refused, document] = await Promise.all([
    rows('number', 'list', '--reason', 'blacklisted'),
    runGateway([...send, '27825550103', '--json'], environment),
    json<{ statuses: unknown[] }>(...send, '27825550102', '--wait'),
  ])
  expect(list).toMatchObject([{ number: '27825550103', reason: 'blacklisted' }])
  expect(refused.code).toBe(1)
  expect(JSON.parse(refused.err)).toEqual({ error: 'No number was accepted.' })
  expect(document.statuses).toMatchObject([{ status: 'DELIVERED', statusCode: 0 }])
  expect(await json('number', 'unblock', '27825550103')).toMatchObject({ unblocked: 1 })
}, 120_000)

test('commands show cost, waiting place, carrier and history of a message', async () => {
  const id = await open('--login', 'asks', '--credits', '10')
  const sub = await open('--login', 'asks-too', '--parent', String(id))
  expect(await json('price', 'set', '2782555', '2.5')).toEqual({ account: null, prefix: '2782555', price: 2.5 })
  const send = (...more: readonly string[]) =>
    json<{ recipients: readonly { message: number; cost: number }[] }>(
      ...['send', '--account', String(id), '--to', '27825550104', '--text', 'a secret', ...more],
    )
  const [sent] = (await send('--wait')).recipients
  const [waiting] = (await send('--at', '209912312359')).recipients
  expect([sent?.cost, waiting?.cost]).toEqual([2.5, 2.5])
  expect(await json('price', 'remove', '2782555')).toEqual({ account: null, prefix: '2782555', removed: true })
  expect(await json('account', 'transfer', String(id), String(sub), '4')).toEqual({
    fromAccount: id,
    toAccount: sub,
    amount: 4,
  })

  const explanation = await runGateway(['message', 'explain', String(sent?.message)], environment)
  expect(explanation.out).toContain('It is DELIVERED 0')
  expect(explanation.out).not.toContain('secret')
  const story = { account: id, cost: 2.5, attempts: 1, now: { status: 'DELIVERED', carrier: 'simulator' } }
  expect(await rows('message', 'explain', String(sent?.message))).toMatchObject([story])
  expect(await rows('message', 'explain', String(waiting?.message))).toMatchObject([{ now: { place: 'scheduled' } }])
  const queue = await json<{ rows: readonly { account: number }[]; sums: { scheduled: number } }>('queue', 'show')
  expect(queue.rows.filter(({ account }) => account === id)).toMatchObject([{ dueNow: 0, scheduled: 1, toRetry: 0 }])
  expect(queue.sums.scheduled).toBeGreaterThan(0)
  const running = await rows<{ since: string; leaseOver: boolean }>('dispatcher', 'list')
  expect(running).toMatchObject([{ leaseOver: false, pid: expect.any(Number) as number }])
  expect(Date.parse(running[0]?.since ?? '')).toBeLessThan(Date.now())
}, 120_000)

test('doctor reports no problem in a working gateway', async () => {
  const found = await rows<{ about: string; state: string; says: string }>('doctor')
  const about = (name: string) => found.find((one) => one.about === name)
  expect(found.filter(({ state, about }) => state === 'bad' && about !== 'disk')).toEqual([])
  expect(about('version')?.says).toMatch(/^PostgreSQL \d+/)
  expect(about('commits')?.says).toBe('on the disk of the server (synchronous_commit = on)')
  expect(about('partitions')?.state).toBe('good')
  expect(about('dispatchers')?.says).toBe('1 dispatcher with a lease')
  expect(about('carrier simulator')?.state).toBe('good')
}, 60_000)

test('verify ends with 0 while the ledger fits, and with 1 and both sums when a balance differs', async () => {
  const id = await open('--login', 'rich', '--credits', '100')
  expect(await json('credits', 'verify')).toMatchObject({ total: 0 })
  const change = (tenths: number) =>
    query(database.connectionString, 'update account set balance = balance + $2 where id = $1', [id, tenths])
  await change(5)
  try {
    const { code, out, err } = await runGateway(['credits', 'verify', '--json'], environment)
    expect(code).toBe(1)
    expect(JSON.parse(out)).toMatchObject({ rows: [{ account: id, balance: 100.5, entries: 100 }], total: 1 })
    expect(JSON.parse(err)).toHaveProperty('error')
  } finally {
    await change(-5)
  }
}, 120_000)

test('an unreachable database soon ends a command with 3 and one clear line without the password', async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  const nowhere = { DATABASE_URL: `postgres://me:hunter2@127.0.0.1:${port}/x` }
  const [text, asJson] = await Promise.all([
    runGateway(['account', 'list'], nowhere),
    runGateway(['account', 'list', '--json'], nowhere),
  ])
  for (const { code, out, err } of [text, asJson]) {
    expect([code, out]).toEqual([3, ''])
    expect(err).not.toContain('hunter2')
  }
  expect(text.err).toMatch(/^The database cannot be reached: .*ECONNREFUSED.*Check DATABASE_URL.*\n$/)
  expect(JSON.parse(asJson.err)).toEqual({ error: text.err.trim() })
}, 120_000)

test('a wrong call opens no database, and ends with 2', async () => {
  const { code, out, err } = await runGateway(['number', 'block', '+0825550101', '--reason', 'blacklisted', '--json'], {
    DATABASE_URL: 'nonsense',
  })
  expect([code, out]).toEqual([2, ''])
  expect(JSON.parse(err)).toEqual({ error: expect.stringContaining('in international form') as string })
}, 120_000)

/** Runs a command until its output begins, then calls `then`, and waits for its end. */
const cutShort = async (
  args: readonly string[],
  begun: RegExp,
  cut: (child: ChildProcessWithoutNullStreams) => unknown,
): Promise<Outcome> => {
  const child = spawn(process.execPath, [join(root, 'scripts/gateway.mjs'), ...args], {
    cwd: root,
    env: cleanEnvironment(environment),
  })
  let [out, err] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text))
  const ended = once(child, 'close')
  try {
    await until(() => begun.test(out) || child.exitCode !== null, 30_000)
    await cut(child)
    const [code] = (await ended) as [number | null]
    return { code, out, err }
  } finally {
    child.kill('SIGKILL')
  }
}

test('a list whose reader stops early ends quietly', async () => {
  await query(
    database.connectionString,
    'insert into suppression select 0, 27810000000 + i, 2, now() from generate_series(1, 50000) i',
  )
  const { code, err } = await cutShort(['number', 'list'], /NUMBER/, ({ stdout }) => stdout.destroy())
  await query(database.connectionString, 'delete from suppression where kind = 2')
  expect([code, err]).toEqual([0, ''])
}, 120_000)

test('Ctrl-C ends a command that waits, and the next one finds everything in order', async () => {
  const id = String(await open('--login', 'hasty', '--credits', '1'))
  const send = ['send', '--account', id, '--to', '27825550194', '--text', 'x', '--wait']
  const { code, out, err } = await cutShort(send, /SENT 100/, (child) => child.kill('SIGINT'))
  expect([code, err]).toEqual([130, 'Interrupted.\n'])
  expect(out).toMatch(/Interrupted; so far: 1 SENT 100 .*\n$/)
  expect(await rows('account', 'show', id)).toMatchObject([{ balance: 0 }])
}, 120_000)

test('Ctrl-C as soon as a message is charged: a program still learns its id', async () => {
  const id = String(await open('--login', 'abrupt', '--credits', '1'))
  const send = ['send', '--account', id, '--to', '27825550194', '--text', 'x', '--wait', '--json']
  const { code, out, err } = await cutShort(send, /^/, async (child) => {
    const charged = `select 1 from account where id = ${id} and balance = 0`
    await until(async () => (await query(database.connectionString, charged)).length === 1, 30_000)
    child.kill('SIGINT')
  })
  expect([code, JSON.parse(err)]).toEqual([130, { error: 'Interrupted.' }])
  expect(JSON.parse(out)).toMatchObject({
    account: Number(id),
    recipients: [{ number: '27825550194', message: expect.any(Number) as number }],
    interrupted: true,
  })
}, 120_000)
