import { statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { listBackups, type DatabaseClock, type PostgresPorts } from '@gateway/adapters-postgres'
import { remembered, unreadyReason, type HealthSettings, type Metrics } from '@gateway/server'
import type { ContextWith, Opened } from './open-ports.ts'

interface MeasuredProcess extends Pick<Opened, 'figures' | 'vitals'> {
  readonly ports: { readonly clock: Pick<DatabaseClock, 'now' | 'offsetSeconds'> }
  readonly health: HealthSettings
  readonly metrics: Metrics
}

/** Registers the metrics that every process has: of its readiness, its clock, its disk and its database. */
export function measureProcess(
  { name, environment: { DATA_DIR } }: Pick<ContextWith<{ readonly DATA_DIR: string }>, 'name' | 'environment'>,
  { ports: { clock }, health, figures, vitals, metrics }: MeasuredProcess,
): void {
  // The figures of the pools come first, because the checks of readiness use connections.
  measureDatabase(metrics, figures)
  measureReadiness(metrics, name, health)
  measureClock(metrics, clock)
  measureServer(metrics, vitals, newestBackupSeconds(join(DATA_DIR, 'backups'), clock))
  measureDisk(metrics, DATA_DIR)
}

/**
 * Registers the metric of readiness. Its label is the reason why the process is not ready: the word of a failed check,
 * of which there is a fixed set.
 */
function measureReadiness(metrics: Metrics, process: string, health: HealthSettings): void {
  const readReason = unreadyReason(health)
  metrics.gauge('gateway_ready', '1 while the process is ready, otherwise 0', ['process', 'reason'], async () => {
    const reason = await readReason()
    return [{ labels: { process, reason: reason ?? 'none' }, value: Number(reason === undefined) }]
  })
}

/**
 * Registers metrics of the database server and of backups. They are absent while the database does not answer. The age
 * of a backup is absent if no backup is known.
 */
function measureServer(
  metrics: Metrics,
  vitals: Opened['vitals'],
  backupSeconds: () => Promise<number | undefined>,
): void {
  const readVitals = remembered(async () => {
    const [server, fileSeconds] = await Promise.all([vitals(), backupSeconds()])
    return [{ ...server, fileSeconds }]
  })
  const connectionsHelp = 'Client connections of the database server'
  metrics.gauge('gateway_database_server_connections', connectionsHelp, ['state'], async () =>
    (await readVitals()).flatMap(({ connections, connectionsMax }) => [
      { labels: { state: 'used' }, value: connections },
      { labels: { state: 'max' }, value: connectionsMax },
    ]),
  )
  const lagHelp = 'Bytes of the log that a standby has not replayed'
  metrics.gauge('gateway_standby_lag_bytes', lagHelp, ['standby'], async () =>
    (await readVitals()).flatMap(({ standbys }) =>
      standbys.map(({ name, lagBytes }) => ({ labels: { standby: name }, value: lagBytes })),
    ),
  )
  metrics.gauge('gateway_backup_age_seconds', 'Time since the last backup', ['kind'], async () =>
    (await readVitals()).flatMap(({ archiveSeconds, fileSeconds }) => [
      ...(archiveSeconds === undefined ? [] : [{ labels: { kind: 'archive' }, value: archiveSeconds }]),
      ...(fileSeconds === undefined ? [] : [{ labels: { kind: 'file' }, value: fileSeconds }]),
    ]),
  )
}

/** Returns a function that resolves to the age of the newest backup in a folder; undefined without one. */
const newestBackupSeconds = (folder: string, clock: { now(): number }) => async (): Promise<number | undefined> => {
  const [newest] = await listBackups(folder).catch(() => [])
  return newest && Math.max(0, (clock.now() - Date.parse(newest.made)) / 1000)
}

/** Registers metrics of the disk that has the data folder. They are absent if the folder does not exist. */
function measureDisk(metrics: Metrics, folder: string): void {
  const disk = remembered(async () => [await statfs(folder)])
  // The label makes the metrics absent without a reading; prom-client exports 0 for a metric without labels.
  const labels = { folder: 'DATA_DIR' }
  metrics.gauge('gateway_disk_bytes', 'Size of the disk with the folder', ['folder'], async () =>
    (await disk()).map(({ blocks, bsize }) => ({ labels, value: blocks * bsize })),
  )
  metrics.gauge('gateway_disk_free_bytes', 'Free bytes of the disk with the folder', ['folder'], async () =>
    (await disk()).map(({ bavail, bsize }) => ({ labels, value: bavail * bsize })),
  )
}

/** Registers a metric of the difference between the clocks of this machine and the database, at the last comparison. */
const measureClock = (metrics: Metrics, clock: Pick<DatabaseClock, 'offsetSeconds'>): void =>
  metrics.gauge(
    'gateway_clock_offset_seconds',
    "How far the clock of this machine is ahead of the database's; negative: behind",
    [],
    () => [{ labels: {}, value: clock.offsetSeconds() }],
  )

/** Registers metrics of the use of database connections and of the duration of statements. */
function measureDatabase(metrics: Metrics, { use, statements, commits }: PostgresPorts['figures']): void {
  metrics.gauge('gateway_database_connections', 'Connections of the process', ['pool', 'state'], () =>
    Object.entries(use()).flatMap(([pool, { busy, idle }]) => [
      { labels: { pool, state: 'busy' }, value: busy },
      { labels: { pool, state: 'idle' }, value: idle },
    ]),
  )
  metrics.gauge('gateway_database_waiting', 'What waits for a connection of the process', ['pool'], () =>
    Object.entries(use()).map(([pool, { waiting }]) => ({ labels: { pool }, value: waiting })),
  )
  metrics.histogram('gateway_database_statement_seconds', 'How long statements take', ['statement'], () =>
    statements().map(([statement, counts]) => ({ labels: { statement }, ...counts })),
  )
  metrics.histogram('gateway_database_commit_seconds', 'How long commits of transactions take', [], () => [
    { labels: {}, ...commits() },
  ])
}
