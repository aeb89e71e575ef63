import { spawn } from 'node:child_process'
import {
  access,
  chmod,
  lstat,
  mkdir,
  readFile,
  readdir,
  rename,
  rm,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import pg from 'pg'
import { dataFolder, type DataFolder } from '../testing/data-folder.ts'
import { query } from '../testing/query.ts'
import { removeCluster, startEmbeddedPostgres, type EmbeddedPostgres } from './index.ts'
import { until } from './errors.ts'

// Creating a cluster takes a second, and much longer on a loaded machine.
const minute = 60_000

const quick = { fsync: false, shared_buffers: '16MB' }

const started: EmbeddedPostgres[] = []
const start = async (dataDir: string, lines: string[] = []): Promise<EmbeddedPostgres> => {
  const postgres = await startEmbeddedPostgres({ dataDir, settings: quick, log: (line) => lines.push(line) })
  started.push(postgres)
  return postgres
}

afterEach(() => Promise.all(started.splice(0).map((postgres) => postgres.stop())))

const pidOf = async (dataDir: string): Promise<number> =>
  Number((await readFile(join(dataDir, 'postgres/postmaster.pid'), 'utf8')).split('\n')[0])

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

// One cluster for the tests that do not need a fresh one: making one takes a second.
let shared: DataFolder
beforeAll(async () => (shared = await dataFolder()))
afterAll(() => shared.remove())

test(
  'takes settings by name and refuses invalid names; reports when no connection is left',
  async () => {
    const postgres = await startEmbeddedPostgres({ dataDir: shared.path, settings: { ...quick, max_connections: 5 } })
    expect(await query(postgres.connectionString, 'show max_connections')).toEqual([{ max_connections: '5' }])
    expect(await query(postgres.connectionString, 'show fsync')).toEqual([{ fsync: 'off' }])
    const clients = Array.from({ length: 4 }, () => new pg.Client(postgres.connectionString))
    await Promise.all(clients.map((client) => client.connect()))
    await expect(start(shared.path)).rejects.toMatchObject({ code: '53300' })
    await Promise.all(clients.map((client) => client.end()))
    await postgres.stop()
    const bad = startEmbeddedPostgres({ dataDir: shared.path, settings: { 'fsync=off -c x': 1 } })
    await expect(bad).rejects.toThrow('not a valid name of a PostgreSQL setting')
  },
  minute,
)

test(
  'keeps the data from one start to the next, and creates the cluster once',
  async () => {
    const first = await start(shared.path)
    await query(first.connectionString, 'create table kept as select 7 as n')
    await first.stop()
    const second = await start(shared.path)
    expect(await query(second.connectionString, 'select n from kept')).toEqual([{ n: 7 }])
    expect(second.connectionString).toBe(first.connectionString)
    await second.stop()
  },
  minute,
)

test(
  'two users share one server; the last one to stop ends it, and stopping twice counts once',
  async () => {
    const [first, second] = await Promise.all([start(shared.path), start(shared.path)])
    const pid = await pidOf(shared.path)
    await Promise.all([first.stop(), first.stop()])
    await first.stop()
    expect(await query(second.connectionString, 'select 1 as n')).toEqual([{ n: 1 }])
    expect(await pidOf(shared.path)).toBe(pid)
    await second.stop()
    expect(await until(() => Promise.resolve(!isAlive(pid)), 10_000)).toBe(true)
    await expect(access(join(shared.path, 'postgres/postmaster.pid'))).rejects.toThrow('ENOENT')
  },
  minute,
)

test(
  'users who all stop at once leave no server behind',
  async () => {
    const users = await Promise.all(Array.from({ length: 6 }, () => start(shared.path)))
    const pid = await pidOf(shared.path)
    await Promise.all(users.map((user) => user.stop()))
    expect(await until(() => Promise.resolve(!isAlive(pid)), 10_000)).toBe(true)
  },
  minute,
)

test(
  'a connection left open does not keep the server from stopping',
  async () => {
    const postgres = await start(shared.path)
    const pid = await pidOf(shared.path)
    const sleeping = query(postgres.connectionString, 'select pg_sleep(600)').catch(() => 'ended')
    await postgres.stop()
    expect(await until(() => Promise.resolve(!isAlive(pid)), 10_000)).toBe(true)
    expect(await sleeping).toBe('ended')
  },
  minute,
)

test(
  'a server killed in use comes back by itself at the same connection string, with its data',
  async () => {
    const lines: string[] = []
    const postgres = await start(shared.path, lines)
    await query(postgres.connectionString, 'create table survivor as select 7 as n')
    process.kill(await pidOf(shared.path), 'SIGKILL')
    const isBack = () =>
      query(postgres.connectionString, 'select n from survivor').then(
        (rows) => rows[0]?.n === 7,
        () => false,
      )
    expect(await until(isBack, 25_000)).toBe(true)
    expect(lines.join('\n')).toContain('reconnecting')
    const pid = await pidOf(shared.path)
    await postgres.stop()
    expect(await until(() => Promise.resolve(!isAlive(pid)), 10_000)).toBe(true)
  },
  minute,
)

test(
  'a process whose usage lease was terminated still counts when another one stops',
  async () => {
    const [first, second] = [await start(shared.path), await start(shared.path)]
    const leases = `from pg_stat_activity where application_name = 'gateway usage lease'`
    const ended = await query(first.connectionString, `select pid, pg_terminate_backend(pid) ${leases}`)
    const pids = ended.map(({ pid }) => Number(pid)).join(', ')
    // A connection of a lease is visible before its lock is granted, so wait for the locks.
    const granted = `select from pg_locks where locktype = 'advisory' and mode = 'ShareLock' and granted and pid not in (${pids})`
    const haveLeases = async () => (await query(first.connectionString, granted)).length === 2
    expect(await until(haveLeases, 10_000)).toBe(true)
    await first.stop()
    expect(await query(second.connectionString, 'select 1 as n')).toEqual([{ n: 1 }])
    await second.stop()
  },
  minute,
)

test(
  'a data folder may be named relative to the working folder',
  async () => {
    const postgres = await start(relative(process.cwd(), shared.path))
    expect(await query(postgres.connectionString, 'show data_directory')).toEqual([
      { data_directory: join(shared.path, 'postgres') },
    ])
    await postgres.stop()
  },
  minute,
)

test(
  'a pid file of a crash does not block a start, even if another process of the user has its number',
  async () => {
    await (await start(shared.path)).stop()
    const { uid, gid } = await lstat(join(shared.path, 'postgres'))
    const other = spawn('sleep', ['600'], { stdio: 'ignore', cwd: '/', ...(process.getuid?.() === 0 && { uid, gid }) })
    const pidFile = join(shared.path, 'postgres/postmaster.pid')
    await writeFile(pidFile, `${other.pid ?? 0}\n${join(shared.path, 'postgres')}\n1\n5432\n\n\n  1 1\nready   \n`)
    await utimes(pidFile, 1, 1)
    const postgres = await start(shared.path)
    expect(await query(postgres.connectionString, 'select 1 as n')).toEqual([{ n: 1 }])
    await postgres.stop()
    expect(other.exitCode ?? other.signalCode).toBeNull()
    other.kill()
  },
  minute,
)

describe('on a data folder of its own', () => {
  let folder: DataFolder
  beforeEach(async () => (folder = await dataFolder()))
  afterEach(() => folder.remove())

  test(
    'serves a superuser on a UTF8 database with locale C, checksums and every durable default',
    async () => {
      const postgres = await startEmbeddedPostgres({ dataDir: folder.path })
      const [row] = await query(
        postgres.connectionString,
        `select current_database() as database, rolname as role, rolsuper as superuser, datcollate as locale,
       pg_encoding_to_char(encoding) as encoding, current_setting('data_checksums') as checksums,
       current_setting('fsync') as fsync, current_setting('full_page_writes') as full_page_writes,
       current_setting('synchronous_commit') as synchronous_commit, current_setting('listen_addresses') as addresses
     from pg_database, pg_roles where datname = current_database() and rolname = current_user`,
      )
      expect(row).toEqual({
        database: 'gateway',
        role: 'gateway',
        superuser: true,
        locale: 'C',
        encoding: 'UTF8',
        checksums: 'on',
        fsync: 'on',
        full_page_writes: 'on',
        synchronous_commit: 'on',
        addresses: '',
      })
      await postgres.stop()
    },
    minute,
  )

  test(
    'a data folder may hold spaces, commas, quotes and other letters',
    async () => {
      const postgres = await start(join(folder.path, `a, "b" 'ü' %20?&#`))
      expect(await query(postgres.connectionString, 'select 1 as n')).toEqual([{ n: 1 }])
      await postgres.stop()
      await removeCluster(join(folder.path, `a, "b" 'ü' %20?&#`))
    },
    minute,
  )

  describe('a data folder whose path is too long for a socket', () => {
    const longFolder = () => join(folder.path, 'l'.repeat(120))
    const socketFolder = (postgres: EmbeddedPostgres): string =>
      new URL(postgres.connectionString.replace('@/', '@host/')).searchParams.get('host') ?? ''

    test(
      'has its socket in a private folder, which is removed with the cluster',
      async () => {
        const postgres = await start(longFolder())
        expect(await query(postgres.connectionString, 'select 1 as n')).toEqual([{ n: 1 }])
        const socket = socketFolder(postgres)
        expect(socket.startsWith(tmpdir())).toBe(true)
        expect((await lstat(socket)).mode & 0o777).toBe(0o700)
        await postgres.stop()
        await removeCluster(longFolder())
        await expect(access(socket)).rejects.toThrow('ENOENT')
      },
      minute,
    )

    test(
      'is refused while other users may enter that folder',
      async () => {
        const postgres = await start(longFolder())
        await postgres.stop()
        await chmod(socketFolder(postgres), 0o755)
        await expect(start(longFolder())).rejects.toThrow(/must be a folder of user id \d+ with mode 0700.*Remove it/)
        await removeCluster(longFolder())
      },
      minute,
    )
  })

  describe('refuses, with an error that says what to do', () => {
    test(
      'a data folder that is a file',
      async () => {
        await writeFile(folder.path, '')
        await expect(start(folder.path)).rejects.toThrow(/DATA_DIR .* cannot be used .*Name a writable folder/)
        await rm(folder.path)
      },
      minute,
    )

    test(
      'a data folder that cannot be made',
      async () => {
        await expect(start('/proc/nowhere')).rejects.toThrow(/DATA_DIR \/proc\/nowhere cannot be used/)
      },
      minute,
    )

    test(
      'data of another major version',
      async () => {
        await cluster({ PG_VERSION: '17\n' })
        await expect(start(folder.path)).rejects.toThrow(/holds data of PostgreSQL 17; .* set DATABASE_URL/)
      },
      minute,
    )

    test(
      'a folder that holds something else',
      async () => {
        await cluster({ 'holiday.jpg': '' })
        await expect(start(folder.path)).rejects.toThrow(/no PostgreSQL data .*Move it away/)
      },
      minute,
    )

    test(
      'a file where the cluster should be',
      async () => {
        await mkdir(folder.path)
        await writeFile(join(folder.path, 'postgres'), '')
        await expect(start(folder.path)).rejects.toThrow(/must be a folder .*Move it away/)
      },
      minute,
    )

    test(
      'a link to a cluster that is gone',
      async () => {
        await mkdir(folder.path)
        await symlink(join(folder.path, 'gone'), join(folder.path, 'postgres'))
        await expect(start(folder.path)).rejects.toThrow(/points to a folder that does not exist\. Restore that folder/)
      },
      minute,
    )

    test(
      'a start that fails, with the end of the log',
      async () => {
        const bad = startEmbeddedPostgres({ dataDir: folder.path, settings: { shared_buffers: 'plenty' } })
        await expect(bad).rejects.toThrow(/does not start\. Its log, .*postgres\.log, ends with:\n.*shared_buffers/s)
      },
      minute,
    )

    const cluster = async (files: Record<string, string>): Promise<void> => {
      await mkdir(join(folder.path, 'postgres'), { recursive: true, mode: 0o700 })
      if (process.getuid?.() === 0) await spawnAndWait('chown', ['65534', join(folder.path, 'postgres')])
      for (const [name, text] of Object.entries(files)) await writeFile(join(folder.path, 'postgres', name), text)
    }
  })

  describe('of a copy', () => {
    const copyOf = async (from: string): Promise<string> => {
      const copy = `${from}-copy`
      await spawnAndWait('cp', ['-a', from, copy])
      return copy
    }

    test(
      'that was made while PostgreSQL ran is refused and not changed, even if nothing runs on the original',
      async () => {
        const original = await start(folder.path)
        await query(original.connectionString, 'create table balance as select 7 as credits')
        const copy = await copyOf(folder.path)
        const pidFile = await readFile(join(copy, 'postgres/postmaster.pid'), 'utf8')
        await expect(start(copy)).rejects.toThrow(/is a copy of .*data\/postgres.*made while .* ran.*postmaster\.pid/s)
        expect(await readFile(join(copy, 'postgres/postmaster.pid'), 'utf8')).toBe(pidFile)
        const pid = await pidOf(folder.path)
        await removeCluster(copy)
        expect([isAlive(pid), await pidOf(folder.path)]).toEqual([true, pid])
        await original.stop()
      },
      minute,
    )

    test(
      'in a folder whose path is too long for a socket is refused too, and removing it keeps the socket of the original',
      async () => {
        const long = join(folder.path, 'l'.repeat(120))
        const original = await start(long)
        const copy = await copyOf(long)
        await expect(start(copy)).rejects.toThrow(/is a copy of /)
        await removeCluster(copy)
        expect(await query(original.connectionString, 'select 1 as n')).toEqual([{ n: 1 }])
        await original.stop()
        await removeCluster(long)
      },
      minute,
    )

    test(
      'whose pid file was removed on purpose gets a server of its own',
      async () => {
        const original = await start(folder.path)
        await query(original.connectionString, 'create table balance as select 7 as credits')
        await query(original.connectionString, 'checkpoint')
        const copy = await copyOf(folder.path)
        await rm(join(copy, 'postgres/postmaster.pid'))
        const other = await start(copy)
        await query(other.connectionString, 'update balance set credits = 1')
        expect(await query(original.connectionString, 'select credits from balance')).toEqual([{ credits: 7 }])
        await other.stop()
        await removeCluster(copy)
        await original.stop()
      },
      minute,
    )

    test(
      'that was made while no server ran has data of its own',
      async () => {
        await (await start(folder.path)).stop()
        const copy = await copyOf(folder.path)
        const [one, other] = [await start(folder.path), await start(copy)]
        expect(await query(other.connectionString, 'show data_directory')).toEqual([
          { data_directory: join(copy, 'postgres') },
        ])
        await Promise.all([one.stop(), other.stop()])
        await removeCluster(copy)
      },
      minute,
    )
  })

  test(
    'a folder that was moved after its server was killed starts; one moved while the server runs stays in use',
    async () => {
      const first = await start(folder.path)
      await query(first.connectionString, 'create table kept as select 7 as n')
      const moved = `${folder.path}-moved`
      await rename(folder.path, moved)
      const second = await start(moved)
      expect(await query(second.connectionString, 'select n from kept')).toEqual([{ n: 7 }])
      process.kill(await pidOf(moved), 'SIGKILL')
      await Promise.all([first.stop(), second.stop()])
      const lines: string[] = []
      const third = await start(moved, lines)
      expect(await query(third.connectionString, 'select n from kept')).toEqual([{ n: 7 }])
      await third.stop()
      expect(lines.join('\n')).toContain(`was written for ${join(folder.path, 'postgres')}: this data was moved`)
      await removeCluster(moved)
    },
    minute,
  )

  test(
    'a start that is aborted before the server is ready leaves no server, and the next one works',
    async () => {
      await (await start(folder.path)).stop()
      const calledOff = AbortSignal.abort(new Error('called off'))
      await expect(startEmbeddedPostgres({ dataDir: folder.path, signal: calledOff })).rejects.toThrow('called off')
      const launching = new AbortController()
      const starting = startEmbeddedPostgres({
        dataDir: folder.path,
        signal: launching.signal,
      }).then(
        (postgres) => postgres.stop(),
        (problem: unknown) => (problem as Error).message,
      )
      const pidFile = join(folder.path, 'postgres/postmaster.pid')
      await until(
        () =>
          access(pidFile).then(
            () => true,
            () => false,
          ),
        20_000,
      )
      launching.abort(new Error('called off'))
      // The server may have become ready just before the abort.
      expect(['called off', undefined]).toContain(await starting)
      await expect(access(pidFile)).rejects.toThrow('ENOENT')
      await (await start(folder.path)).stop()
    },
    minute,
  )

  describe('without a cluster', () => {
    test(
      'creates neither cluster nor folder if it must not, and says what to do',
      async () => {
        const open = () => startEmbeddedPostgres({ dataDir: folder.path, make: false })
        await expect(open()).rejects.toThrow(/There is no database in .*\. Name the folder .* DATA_DIR/)
        await expect(access(folder.path)).rejects.toThrow('ENOENT')
        await mkdir(join(folder.path, 'postgres'), { recursive: true })
        await expect(open()).rejects.toThrow(/There is no database/)
        expect(await readdir(join(folder.path, 'postgres'))).toEqual([])
        await (await start(folder.path)).stop()
        await (await open()).stop()
      },
      minute,
    )

    test.each(['emptied', 'removed'])(
      'creates no cluster if the data was %s beside its companions, until these are moved away',
      async (how) => {
        await mkdir(join(folder.path, how === 'emptied' ? 'postgres' : ''), { recursive: true })
        await writeFile(join(folder.path, 'a.key'), '')
        const open = () => startEmbeddedPostgres({ dataDir: folder.path, settings: quick, companions: ['a.key', 'b'] })
        await expect(open()).rejects.toThrow(
          /has no database .* but a\.key of one\. Restore a backup .* move that away/,
        )
        await rm(join(folder.path, 'a.key'))
        await (await open()).stop()
        await writeFile(join(folder.path, 'a.key'), '')
        await (await open()).stop()
      },
      minute,
    )
  })

  test(
    'remains of a killed initialization do not block a start and are removed',
    async () => {
      await mkdir(join(folder.path, 'postgres.new-0123456789ab/base'), { recursive: true })
      await mkdir(join(folder.path, 'postgres'))
      await (await start(folder.path)).stop()
      expect(await readdir(folder.path)).toEqual(['postgres'])
    },
    minute,
  )

  test(
    'removeCluster leaves nothing, whether the server runs or never existed',
    async () => {
      await removeCluster(folder.path)
      const postgres = await start(folder.path)
      const pid = await pidOf(folder.path)
      await removeCluster(folder.path)
      expect(await until(() => Promise.resolve(!isAlive(pid)), 10_000)).toBe(true)
      expect(await readdir(folder.path)).toEqual([])
      await postgres.stop()
      expect(await readdir(folder.path)).toEqual([])
    },
    minute,
  )
})

const spawnAndWait = (command: string, args: string[]): Promise<unknown> =>
  new Promise((resolve) => spawn(command, args).once('close', resolve))
