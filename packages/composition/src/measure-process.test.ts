import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { instant } from '@gateway/core/time'
import { createMetrics } from '@gateway/server'
import { measureProcess } from './measure-process.ts'

const now = Date.parse('2026-11-28T12:00:00Z')
const none = { bounds: [], counts: [0], sum: 0 }
const vitals = {
  connections: 20,
  connectionsMax: 97,
  archiveSeconds: 30,
  standbys: [{ name: 'b', lagBytes: 4096 }],
}
type Vitals = Parameters<typeof measureProcess>[1]['vitals']

let folder: string
beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), 'gateway-measured-'))))
afterAll(() => rm(folder, { recursive: true }))

/** Returns the lines of the metrics whose names begin with `beginning`. */
async function scrape(beginning: RegExp, readVitals: Vitals, isReady = true, dataDir = folder) {
  const metrics = createMetrics()
  const checks = { database: () => Promise.resolve(isReady || { reason: 'disk-full', message: 'The disk is full.' }) }
  const clock = { now: () => instant(now), offsetSeconds: () => 0 }
  const idle = { busy: 0, idle: 0, waiting: 0 }
  const figures = { use: () => ({ hot: idle, ordinary: idle }), statements: () => [], commits: () => none }
  const measured = { ports: { clock }, health: { checks }, figures, vitals: readVitals, metrics }
  measureProcess({ name: 'rest', environment: { DATA_DIR: dataDir } }, measured)
  return (await metrics.registry.metrics()).split('\n').filter((line) => beginning.test(line))
}

test('readiness has the reason why a process is not ready', async () => {
  const read = () => Promise.resolve(vitals)
  expect(await scrape(/^gateway_ready/, read)).toEqual(['gateway_ready{process="rest",reason="none"} 1'])
  expect(await scrape(/^gateway_ready/, read, false)).toEqual(['gateway_ready{process="rest",reason="disk-full"} 0'])
})

test('the figures of the database server and the age of the newest backup are read at a scrape', async () => {
  await mkdir(join(folder, 'backups'))
  for (const hour of ['09', '11']) await writeFile(join(folder, 'backups', `gateway-20261128T${hour}0000Z.backup`), '')
  expect(await scrape(/^gateway_(?:database_server|standby|backup)/, () => Promise.resolve(vitals))).toEqual([
    'gateway_database_server_connections{state="used"} 20',
    'gateway_database_server_connections{state="max"} 97',
    'gateway_standby_lag_bytes{standby="b"} 4096',
    'gateway_backup_age_seconds{kind="archive"} 30',
    'gateway_backup_age_seconds{kind="file"} 3600',
  ])
})

test('a metric that cannot be read is absent: of a database that fails, of backups, and of the disk of a missing folder', async () => {
  const elsewhere = join(folder, 'missing')
  const lines = (read: Vitals) => scrape(/^gateway_(?:database_server|standby|backup|disk)/, read, true, elsewhere)
  expect(await lines(() => Promise.reject(new Error('away')))).toEqual([])
  expect(await lines(() => Promise.resolve({ ...vitals, archiveSeconds: undefined, standbys: [] }))).toHaveLength(2)
  const disk = await scrape(/^gateway_disk_/, () => Promise.resolve(vitals))
  expect(disk).toEqual([
    expect.stringMatching(/^gateway_disk_bytes\{folder="DATA_DIR"\} [1-9]\d*$/),
    expect.stringMatching(/^gateway_disk_free_bytes\{folder="DATA_DIR"\} \d+$/),
  ])
})
