import { execFile, spawn, spawnSync } from 'node:child_process'
import { mkdir, mkdtemp, readlink, rm, stat, writeFile } from 'node:fs/promises'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Client } from 'pg'
import { until } from '@gateway/core/testing'
import { testServer } from './fresh-database.ts'

/** PostgreSQL server that is not restarted when it dies. */
export interface LoneServer {
  /** Folder of the server's socket, or the address on which it listens. */
  readonly host: string
  readonly connectionString: string
  /** Starts the server and resolves when it answers. The settings apply until the next start. */
  start(settings?: Readonly<Record<string, string>>): Promise<void>
  query<Row>(text: string): Promise<Row[]>
  /** Kills all processes of the server by SIGKILL, even frozen ones, and removes its shared memory. */
  kill(): void
  /** Suspends all processes of the server. */
  freeze(): void
  thaw(): void
}

/** Migrated primary with a hot standby that follows it. */
export interface TwoServers {
  readonly primary: LoneServer
  readonly standby: LoneServer
  /** URL of both servers, primary first. */
  readonly connectionString: string
  /** Makes the primary wait for the standby with each commit. */
  synchronous(): Promise<void>
  /** Promotes the standby, and resolves when it accepts writes. */
  promote(): Promise<void>
  remove(): Promise<void>
}

const port = 5432
const run = promisify(execFile)

interface Place {
  readonly parent: string
  /** Data folder of a stopped server. */
  readonly cluster: string
  /** Path of the server's binary. */
  readonly postgres: string
  readonly settings?: Readonly<Record<string, string>>
  /** Addresses of the servers. Defaults to their Unix sockets. */
  readonly addresses?: readonly [primary: string, standby: string]
  /**
   * Opens the connection over which the standby follows the primary at this socket. By default the standby uses the
   * socket itself.
   */
  readonly wayTo?: (socket: string) => Promise<{ readonly host: string; readonly port: number }>
}

async function placeOfTests(): Promise<Place> {
  const [parent, cluster] = [process.env['GATEWAY_TEST_FOLDER'], process.env['GATEWAY_TEST_CLUSTER']]
  if (parent === undefined || cluster === undefined) throw new Error('no cluster: these tests run under jest')
  return { parent, cluster, postgres: await runningBinary() }
}

/** Starts two servers, by default in the folder of the test run. */
export async function twoServers(place?: Place | Pick<Place, 'addresses'>): Promise<TwoServers> {
  const whole = place !== undefined && 'parent' in place ? place : { ...(await placeOfTests()), ...place }
  const { parent, cluster, postgres, settings = {}, addresses, wayTo } = whole
  const folder = await mkdtemp(join(parent, 'two-'))
  await run('chmod', ['755', folder])
  const names = ['a', 'b'] as const
  // Both are copies of one stopped cluster, so the second can follow the first.
  const [primary, standby] = (await Promise.all(
    names.map(async (name, at) => {
      const home = join(folder, name)
      await mkdir(home)
      await run('cp', ['-a', join(cluster, 'postgres'), home])
      return loneServer(join(home, 'postgres'), postgres, addresses?.[at])
    }),
  )) as [LoneServer, LoneServer]
  await writeFile(join(folder, 'b', 'postgres', 'standby.signal'), '')
  await primary.start(settings)
  const way = (await wayTo?.(`${primary.host}/.s.PGSQL.${port}`)) ?? { host: primary.host, port }
  const followed = `host=${way.host} port=${way.port} user=gateway application_name=b sslmode=disable`
  await standby.start({ ...settings, primary_conninfo: followed })
  const streaming = `select from pg_stat_replication where state = 'streaming'`
  await until(async () => (await primary.query(streaming)).length === 1)

  async function synchronous(): Promise<void> {
    await primary.query(`alter system set synchronous_standby_names = 'b'`)
    await primary.query('select pg_reload_conf()')
    await until(
      async () => (await primary.query(`select from pg_stat_replication where sync_state = 'sync'`)).length === 1,
    )
  }

  return {
    primary,
    standby,
    connectionString:
      addresses === undefined
        ? `postgres://gateway@/gateway?host=${primary.host},${standby.host}&port=${port}&sslmode=disable`
        : `postgres://gateway@${addresses.map((each) => `${each}:${port}`).join(',')}/gateway?sslmode=disable`,
    synchronous,
    promote: async () => {
      await standby.query('select pg_promote()')
      await until(async () => (await standby.query<{ is: boolean }>('select pg_is_in_recovery() is'))[0]?.is === false)
    },
    remove: async () => {
      primary.kill()
      standby.kill()
      await until(() => rm(folder, { recursive: true, force: true }).then(() => true, () => false)) // prettier-ignore
    },
  }
}

/** Returns the binary of the test run's server, which its user can run. */
async function runningBinary(): Promise<string> {
  const client = new Client({ connectionString: testServer() })
  await client.connect()
  try {
    const { rows } = await client.query<{ folder: string }>(`select current_setting('data_directory') folder`)
    return await readlink(`/proc/${postmasterOf(rows[0]?.folder ?? '') ?? 0}/exe`)
  } finally {
    await client.end()
  }
}

async function loneServer(folder: string, postgres: string, address?: string): Promise<LoneServer> {
  const { uid, gid } = await stat(folder)
  const hba = join(folder, 'pg_hba.conf')
  const trust = (by: string, from: string) => `${by} all all ${from} trust\n${by} replication all ${from} trust\n`
  await writeFile(hba, trust('local', '') + (address === undefined ? '' : trust('host', '127.0.0.0/8')))
  const host = address ?? folder
  const connectionString = `postgres://gateway@/gateway?host=${host}&port=${port}&sslmode=disable`

  async function query<Row>(text: string): Promise<Row[]> {
    const client = new Client({ connectionString })
    client.on('error', () => undefined)
    await client.connect()
    try {
      return (await client.query(text)).rows as Row[]
    } finally {
      await client.end()
    }
  }

  async function start(settings: Readonly<Record<string, string>> = {}): Promise<void> {
    await rm(join(folder, 'postmaster.pid'), { force: true })
    // A standby must allow at least as many connections as the primary did when the cluster was made.
    const own = {
      listen_addresses: address ?? '',
      max_connections: '200',
      unix_socket_directories: folder,
      fsync: 'off',
    }
    const args = Object.entries({ ...own, ...settings }).flatMap(([name, value]) => ['-c', `${name}=${value}`])
    const asRoot = process.getuid?.() === 0 ? { uid, gid } : {}
    const env = { PATH: '/usr/bin:/bin', LC_ALL: 'C' }
    const child = spawn(postgres, ['-D', folder, ...args], {
      cwd: '/',
      env,
      stdio: 'ignore',
      detached: true,
      ...asRoot,
    })
    child.on('error', () => undefined)
    child.unref()
    await until(() => {
      if (child.exitCode !== null) throw new Error(`PostgreSQL ended with ${child.exitCode}`)
      return isAnswering()
    })
  }

  const isAnswering = () =>
    query('select').then(
      () => true,
      () => false,
    )

  /**
   * Lists the processes of the server. The postmaster comes first, so that it is signalled first and starts no new
   * processes.
   */
  function processes(): readonly number[] {
    const postmaster = postmasterOf(folder)
    return postmaster === undefined ? [] : [postmaster, ...childrenOf(postmaster)]
  }

  function signal(name: NodeJS.Signals, pids = processes()): void {
    for (const pid of pids) {
      try {
        process.kill(pid, name)
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
      }
    }
  }

  function kill(): void {
    const pids = processes()
    const memory = sharedMemoryOf(pids)
    signal('SIGKILL', pids)
    for (const file of memory.files) rmSync(file, { force: true })
    if (memory.segments.length > 0)
      spawnSync(
        'ipcrm',
        memory.segments.flatMap((id) => ['-m', id]),
      )
  }

  return {
    host,
    connectionString,
    start,
    query,
    kill,
    freeze: () => signal('SIGSTOP'),
    thaw: () => signal('SIGCONT'),
  }
}

/** Finds the shared memory that a server removes when it stops: files of POSIX and ids of System V segments. */
function sharedMemoryOf(pids: readonly number[]) {
  const maps = pids.map(mapsOf).join('')
  const found = (pattern: RegExp) => [...new Set(Array.from(maps.matchAll(pattern), ([, one = '']) => one))]
  return { files: found(/(\/dev\/shm\/PostgreSQL\.\d+)/g), segments: found(/ (\d+) +\/SYSV/g) }
}

function mapsOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/maps`, 'utf8')
  } catch {
    return ''
  }
}

function postmasterOf(folder: string): number | undefined {
  try {
    const pid = Number(readFileSync(join(folder, 'postmaster.pid'), 'utf8').split('\n')[0])
    // Checks the name, because another process may have reused the number.
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('postgres') ? pid : undefined
  } catch {
    return undefined
  }
}

/** Reads the children of a process from /proc. */
const childrenOf = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number)
