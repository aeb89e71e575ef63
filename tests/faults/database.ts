import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Chance } from '@gateway/core/testing'
import { removeCluster, startEmbeddedPostgres } from '@gateway/embedded-postgres'
import { lastingConnection, query } from '../../packages/embedded-postgres/testing/query.ts'

/**
 * Ways in which PostgreSQL stops: in order (fast), at once with a recovery at the next start (immediate), or by the
 * crash of one of its processes.
 */
export type Shutdown = 'fast' | 'immediate' | 'crash of a backend'

export interface Database {
  /** Connection string of its socket. */
  readonly connectionString: string
  /** Runs a query, and repeats it while the server is away. */
  ask<Row>(text: string): Promise<Row[]>
  /** Runs a query once. Returns undefined if no answer arrives within a second. */
  probe<Row>(text: string): Promise<Row[] | undefined>
  /** Stops the server. Its owner starts it again, and the promise resolves when it answers. */
  restart(how: Shutdown): Promise<void>
  /**
   * Sends SIGKILL to the postmaster and all its processes, synchronously. Data in their memory is lost, as in a power
   * failure. Unlike in a power failure, data that was written but not flushed is kept.
   */
  killAll(): void
  /** Resolves when the database answers again. */
  back(): Promise<void>
  stop(): Promise<void>
  /** Removes the data after the server has stopped. */
  remove(): Promise<void>
}

/** Starts PostgreSQL. All settings that affect durability are those of production. */
export async function openDatabase(folder: string, chance: Chance): Promise<Database> {
  const server = await startEmbeddedPostgres({ dataDir: folder })
  const { connectionString } = server
  const probed = lastingConnection(connectionString)

  async function ask<Row>(text: string): Promise<Row[]> {
    for (let attempt = 1; ; attempt++) {
      try {
        return (await query(connectionString, text)) as Row[]
      } catch (error) {
        if (attempt === 300 || isMistake(error)) throw error
        await delay(100)
      }
    }
  }

  const postmaster = async (): Promise<number> =>
    Number((await readFile(join(folder, 'postgres', 'postmaster.pid'), 'utf8')).split('\n')[0])

  async function restart(how: Shutdown): Promise<void> {
    if (how === 'crash of a backend') {
      const rows = await ask<{ pid: number }>(
        `select pid from pg_stat_activity where application_name like 'gateway m%' order by backend_start`,
      )
      if (rows.length > 0) signal(chance.one(rows).pid, 'SIGKILL')
    } else signal(await postmaster(), how === 'fast' ? 'SIGINT' : 'SIGQUIT')
    await delay(200)
    await ask('select')
  }

  async function probe<Row>(text: string): Promise<Row[] | undefined> {
    const pending = probed.query(text).catch(() => undefined)
    const late = new AbortController()
    const answer = await Promise.race([pending, delay(1000, undefined, { signal: late.signal }).catch(() => undefined)])
    late.abort()
    // A connection that does not answer may never answer.
    if (answer === undefined) void probed.close()
    return answer as Row[] | undefined
  }

  function killAll(): void {
    const file = readFileSync(join(folder, 'postgres', 'postmaster.pid'), 'utf8')
    const pid = Number(file.split('\n')[0])
    // The postmaster is killed first, so that it cannot start a new process.
    for (const each of [pid, ...childrenOf(pid)]) signal(each, 'SIGKILL')
  }

  return {
    connectionString,
    ask,
    probe,
    restart,
    killAll,
    back: async () => {
      await ask('select')
    },
    stop: async () => {
      await probed.close()
      await server.stop()
    },
    remove: () => removeCluster(folder),
  }
}

/** Sends a signal to a process that may have ended. */
function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

/** Lists the children of a process from /proc (Linux). */
const childrenOf = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number)

/** Returns true for an error of the statement itself, which would fail again. */
const isMistake = (error: unknown): boolean => /^(?:42|22)/.test((error as { code?: string }).code ?? '')
