import { totalmem } from 'node:os'

/** Settings of PostgreSQL by name, as `postgres -c name=value` takes them. */
export type Settings = Readonly<Record<string, string | number | boolean>>

const megabyte = 1024 * 1024

/** The memory that this process may use: that of the machine or of its container, whichever is less. */
const memoryMegabytes = (): number => Math.min(totalmem(), process.constrainedMemory() || Infinity) / megabyte

/**
 * What we set for every cluster, at each start, so that another version can change it. Everything that decides what
 * survives a crash (fsync, full_page_writes, synchronous_commit) stays as PostgreSQL has it: on.
 */
const ours = (memory: number): Settings => ({
  listen_addresses: '',
  max_connections: 200,
  shared_buffers: `${Math.max(16, Math.min(256, Math.floor(memory / 8)))}MB`,
  effective_cache_size: `${Math.max(32, Math.floor(memory / 2))}MB`,
  max_wal_size: '2GB',
  // These binaries have no lz4, and pglz took 0.2 ms a page (docs/decisions/0068).
  wal_compression: 'off',
  random_page_cost: 1.1,
  // Compiling a statement costs more than any of our short ones takes.
  jit: false,
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_line_prefix: '%m [%p] ',
  log_checkpoints: false,
  unix_socket_permissions: '0700',
  // Elsewhere the default reaches the disk; on macOS only this one does.
  ...(process.platform === 'darwin' && { wal_sync_method: 'fsync_writethrough' }),
})

/** The arguments of `postgres`: our settings, then `settings`, then the socket folder, which nothing overrides. */
export const settingArguments = (settings: Settings, socketFolder: string): string[] => {
  const all: Settings = { ...ours(memoryMegabytes()), ...settings, unix_socket_directories: listed(socketFolder) }
  return Object.entries(all).flatMap(([name, value]) => {
    if (!/^[a-z_][a-z0-9_.]*$/i.test(name)) throw new Error(`"${name}" is no name of a PostgreSQL setting.`)
    return ['-c', `${name}=${typeof value === 'boolean' ? (value ? 'on' : 'off') : value}`]
  })
}

/** One folder as PostgreSQL reads a list of folders, where a comma or a space would end it. */
const listed = (folder: string): string => `"${folder.replaceAll('"', '""')}"`
