import { spawnSync } from 'node:child_process'
import { readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { dataFolder, type DataFolder } from '../testing/data-folder.ts'
import { query } from '../testing/query.ts'
import { startUser, type User } from '../testing/start-user.ts'
import { startEmbeddedPostgres } from './index.ts'
import { until } from './errors.ts'

const quick = { fsync: false, shared_buffers: '16MB' }

const pidOf = async (dataDir: string): Promise<number> =>
  Number((await readFile(join(dataDir, 'postgres/postmaster.pid'), 'utf8')).split('\n')[0])

const connectionStringOf = async (user: User): Promise<string> =>
  (await user.says('connectionString')).connectionString ?? ''

const clusterOf = async (user: User): Promise<unknown> =>
  query(await connectionStringOf(user), 'select system_identifier from pg_control_system()')

let folder: DataFolder
const users: User[] = []
const user = (...task: string[]): User => {
  const started = startUser(folder.path, task.length === 0 ? ['hold'] : task)
  users.push(started)
  return started
}

beforeEach(async () => (folder = await dataFolder()))
afterEach(async () => {
  await Promise.all(users.splice(0).map((started) => started.kill()))
  await folder.remove()
})

test('processes that start at once on an empty folder end up on one cluster', async () => {
  const together = [user(), user(), user()]
  const clusters = await Promise.all(together.map(clusterOf))
  expect(new Set(clusters.map((cluster) => JSON.stringify(cluster))).size).toBe(1)
  expect(await Promise.all(together.map((each) => each.finish()))).toEqual([0, 0, 0])
  expect(await readdir(folder.path)).toEqual(['postgres'])
}, 90_000)

test('a process killed with -9 leaves the server running; the next one uses and stops it', async () => {
  const first = user()
  await first.says('connectionString')
  const pid = await pidOf(folder.path)
  await first.kill()
  const second = user()
  expect(await query(await connectionStringOf(second), 'select 1 as n')).toEqual([{ n: 1 }])
  expect(await pidOf(folder.path)).toBe(pid)
  expect(await second.finish()).toBe(0)
  await expect(pidOf(folder.path)).rejects.toThrow('ENOENT')
}, 90_000)

test('after a process and its server were killed, the next process finds the data', async () => {
  const first = user()
  await query(await connectionStringOf(first), 'create table kept as select 7 as n')
  await first.kill()
  process.kill(await pidOf(folder.path), 'SIGKILL')
  const second = user()
  expect(await query(await connectionStringOf(second), 'select n from kept')).toEqual([{ n: 7 }])
  expect(await second.finish()).toBe(0)
}, 90_000)

test('a process killed while it creates the cluster does not block the next start', async () => {
  const first = user()
  const isMaking = async () => (await readdir(folder.path).catch(() => [])).some((name) => name.includes('.new-'))
  expect(await until(isMaking, 30_000)).toBe(true)
  await first.kill()
  const second = user()
  await second.says('connectionString')
  expect(await second.finish()).toBe(0)
  expect((await readdir(folder.path)).filter((name) => !name.includes('.new-'))).toEqual(['postgres'])
}, 90_000)

test('the server has a session of its own, so that a Ctrl-C in the terminal does not reach it', async () => {
  const only = user()
  await only.says('connectionString')
  const pid = String(await pidOf(folder.path))
  const { stdout } = spawnSync('ps', ['-o', 'pgid=', '-p', pid], { encoding: 'utf8' })
  expect(stdout.trim()).toBe(pid)
  expect(await only.finish()).toBe(0)
}, 90_000)

test('a server that another process stops before its starter has a lease is started again', async () => {
  await (await startEmbeddedPostgres({ dataDir: folder.path, settings: quick })).stop()
  // `post_auth_delay` delays the first connection, so that the server can be stopped before it.
  const starting = startEmbeddedPostgres({ dataDir: folder.path, settings: { ...quick, post_auth_delay: 1 } })
  const pidFile = join(folder.path, 'postgres/postmaster.pid')
  const isReady = async () => /^ready/m.test(await readFile(pidFile, 'utf8').catch(() => ''))
  expect(await until(isReady, 60_000)).toBe(true)
  const first = await pidOf(folder.path)
  process.kill(first, 'SIGINT')

  const second = await starting
  expect(await query(second.connectionString, 'select 1 as n')).toEqual([{ n: 1 }])
  expect(await pidOf(folder.path)).not.toBe(first)
  await second.stop()
}, 90_000)

test('processes that start, stop or are killed at different paces always get a working connection', async () => {
  const setUp = await startEmbeddedPostgres({ dataDir: folder.path, settings: quick })
  await query(setUp.connectionString, 'create table visits (visitor int not null)')
  await setUp.stop()

  const visitors = [1, 2, 3].map((pace) => user('come-and-go', String(pace)))
  const victim = user('come-and-go', '4')
  const visitsOf = (each: User) => each.lines.findLast((line) => 'rounds' in line)?.rounds ?? 0
  await until(() => Promise.resolve(visitsOf(victim) >= 5 || victim.process.exitCode !== null), 30_000)
  await victim.kill()
  const isEnough = () =>
    Promise.resolve(visitors.every((each) => visitsOf(each) >= 25 || each.process.exitCode !== null))
  await until(isEnough, 60_000)
  const codes = await Promise.all(visitors.map((each) => each.finish()))
  const errors = visitors.flatMap(({ lines }) => lines.flatMap(({ error }) => error ?? []))
  expect({ codes, errors }).toEqual({ codes: [0, 0, 0], errors: [] })
  await expect(pidOf(folder.path)).rejects.toThrow('ENOENT')

  const after = await startEmbeddedPostgres({ dataDir: folder.path, settings: quick })
  const found = await query(after.connectionString, 'select visitor, count(*)::int as visits from visits group by 1')
  const rowsOf = ({ process: { pid } }: User) => found.find((row) => row.visitor === pid)?.visits
  expect(visitors.map(rowsOf)).toEqual(visitors.map(visitsOf))
  expect(rowsOf(victim)).toBeGreaterThanOrEqual(visitsOf(victim))
  await after.stop()
}, 180_000)
