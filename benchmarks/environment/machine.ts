import { execFileSync } from 'node:child_process'
import { readFile, statfs } from 'node:fs/promises'
import { cpus, loadavg, tmpdir, totalmem } from 'node:os'
import { fileURLToPath } from 'node:url'
import type { Server } from './postgres.ts'

const shown = [
  'server_version',
  'fsync',
  'synchronous_commit',
  'synchronous_standby_names',
  'full_page_writes',
  'wal_sync_method',
  'shared_buffers',
  'max_wal_size',
  'wal_compression',
]

/** Returns the settings that are needed to judge the figures, without anything that identifies this machine. */
export async function settingsOf(server: Server): Promise<Record<string, string>> {
  const rows = await server.query<{ name: string; setting: string }>(
    `select name, current_setting(name) setting from pg_settings where name in (${shown.map((name) => `'${name}'`).join()})`,
  )
  const postgres = Object.fromEntries(rows.map(({ name, setting }) => [name, setting]))
  return {
    commit: commit(),
    node: process.version,
    PostgreSQL: `${postgres['server_version'] ?? '?'}, ${server.isOwn ? 'embedded, over a Unix socket' : 'at DATABASE_URL'}`,
    ...Object.fromEntries(shown.slice(1).map((name) => [name, postgres[name] ?? '?'])),
    processor: `${await quotaOf()} x ${cpus()[0]?.model ?? '?'}`,
    memory: `${Math.round(totalmem() / 2 ** 30)} GiB`,
    'kind of disk': await fileSystem(),
    'load before the start': loadavg()
      .map((load) => load.toFixed(2))
      .join(' '),
  }
}

function commit(): string {
  const git = (...args: string[]): string =>
    execFileSync('git', args, { cwd: fileURLToPath(new URL('../..', import.meta.url)), encoding: 'utf8' }).trim()
  try {
    const changed = git('status', '--porcelain', '--untracked-files=no') === '' ? '' : ', with changes'
    return git('rev-parse', '--short=12', 'HEAD') + changed
  } catch {
    return 'unknown'
  }
}

/** Returns the cores that this process may use: those of the machine, or the quota of its container. */
async function quotaOf(): Promise<string> {
  const [quota, period] = (await readFile('/sys/fs/cgroup/cpu.max', 'utf8').catch(() => '')).split(' ').map(Number)
  const share = (quota ?? NaN) / (period ?? NaN)
  return share > 0 && share < cpus().length ? share.toFixed(1) : String(cpus().length)
}

/** Returns the kind of file system, because durable commits would cost nothing in a folder in memory. */
async function fileSystem(): Promise<string> {
  const known: Readonly<Record<number, string>> = {
    0xef53: 'ext4',
    0x01021994: 'tmpfs: not durable',
    0x58465342: 'xfs',
    0x9123683e: 'btrfs',
    0x794c7630: 'overlay',
  }
  const { type } = await statfs(tmpdir())
  return known[type] ?? `0x${type.toString(16)}`
}
