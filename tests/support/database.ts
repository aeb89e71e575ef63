import { execFile, spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { until } from '@gateway/core/testing'
import { removeCluster, startEmbeddedPostgres } from '@gateway/embedded-postgres'
import { lastingConnection } from '../../packages/embedded-postgres/testing/query.ts'
import { copyCluster, root } from './process.ts'

/** PostgreSQL that nothing restarts when it ends, as if it were on another machine. */
export interface Database {
  readonly connectionString: string
  rows<Row>(text: string, values?: unknown[]): Promise<Row[]>
  /** Stops PostgreSQL at once, like a crash (immediate mode), and waits until it has ended. */
  readonly crash: () => Promise<void>
  /** Starts it after a crash, and waits until it answers. */
  readonly start: () => Promise<void>
  /** Stops all processes of PostgreSQL with SIGSTOP. It then answers nothing and closes no connection. */
  readonly freeze: () => Promise<void>
  readonly thaw: () => void
  remove(): Promise<void>
}

/** Program that starts PostgreSQL with as few processes as possible, and exits without stopping PostgreSQL. */
const starter = `import { startEmbeddedPostgres } from '@gateway/embedded-postgres'
const settings = { io_method: 'sync', max_logical_replication_workers: 0 }
const { connectionString } = await startEmbeddedPostgres({ dataDir: process.argv[1], settings })
process.stdout.write(connectionString, () => process.kill(process.pid, 'SIGKILL'))`

async function launch(folder: string): Promise<string> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', starter, folder], { cwd: root })
  let [out, err] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text))
  await new Promise((resolve) => child.once('close', resolve))
  if (out === '') throw new Error(`PostgreSQL did not start: ${err}`)
  return out
}

/** Starts an empty database in a new folder, with the schema unless `isEmpty`. */
export async function startDatabase(folder: string, { isEmpty = false } = {}): Promise<Database> {
  if (!isEmpty) await copyCluster(folder)
  const connectionString = await launch(folder)
  let frozen: number[] = []
  const connection = lastingConnection(connectionString)

  const postmaster = async (): Promise<number> =>
    Number((await readFile(join(folder, 'postgres', 'postmaster.pid'), 'utf8')).split('\n')[0])
  const thaw = () => {
    for (const pid of frozen.splice(0)) signal(pid, 'SIGCONT')
  }
  return {
    connectionString,
    rows: async <Row>(text: string, values: unknown[] = []) => (await connection.query(text, values)) as Row[],
    crash: async () => {
      const pid = await postmaster()
      process.kill(pid, 'SIGQUIT')
      await until(() => !signal(pid, 0))
    },
    start: async () => {
      await launch(folder)
    },
    freeze: async () => {
      const pid = await postmaster()
      // The postmaster is stopped first. It then starts no more processes, so the list of its children is complete.
      process.kill(pid, 'SIGSTOP')
      frozen = [pid, ...(await childrenOf(pid))]
      for (const each of frozen) signal(each, 'SIGSTOP')
    },
    thaw,
    remove: async () => {
      thaw()
      await connection.close()
      await (await startEmbeddedPostgres({ dataDir: folder })).stop()
      await removeCluster(folder)
    },
  }
}

/** Returns false if there is no such process. */
function signal(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, name)
  } catch {
    return false
  }
}

async function childrenOf(parent: number): Promise<number[]> {
  const { stdout } = await promisify(execFile)('ps', ['-A', '-o', 'pid=,ppid='])
  const pairs = stdout.split('\n').map((line) => line.trim().split(/\s+/).map(Number))
  return pairs.flatMap(([pid = 0, ppid]) => (ppid === parent ? [pid] : []))
}
