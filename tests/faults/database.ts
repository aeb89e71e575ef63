import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Chance } from '@gateway/core/testing'
import { removeCluster, startEmbeddedPostgres } from '@gateway/embedded-postgres'
import { query } from '../../packages/embedded-postgres/testing/query.ts'

/**
 * How PostgreSQL goes down: in order, at once and with recovery at its start, or by the crash of one of its processes.
 */
export type Shutdown = 'fast' | 'immediate' | 'crash of a backend'

export interface Database {
  /** Leads to its socket. */
  readonly connectionString: string
  /** Asks again while the server is away. */
  ask<Row>(text: string): Promise<Row[]>
  /** Asks once; undefined if no answer comes within a second. */
  probe<Row>(text: string): Promise<Row[] | undefined>
  /** Ends the server; whoever holds it starts it again. Resolves when it answers. */
  restart(how: Shutdown): Promise<void>
  /**
   * SIGKILL to the postmaster and all its processes, before this returns: what is in their memory alone is lost, as it
   * is when the machine loses power. What was written but not flushed to the disk is kept, unlike then.
   */
  killAll(): void
  /** Resolves when it answers. */
  back(): Promise<void>
  stop(): Promise<void>
  /** Once it has stopped. */
  remove(): Promise<void>
}

/** A PostgreSQL of its own with every setting that decides what survives as in production. */
export async function openDatabase(folder: string, chance: Chance): Promise<Database> {
  const server = await startEmbeddedPostgres({ dataDir: folder })
  const { connectionString } = server

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
    const asked = query(connectionString, text).catch(() => undefined)
    const late = new AbortController()
    const answer = await Promise.race([asked, delay(1000, undefined, { signal: late.signal }).catch(() => undefined)])
    late.abort()
    return answer as Row[] | undefined
  }

  function killAll(): void {
    const file = readFileSync(join(folder, 'postgres', 'postmaster.pid'), 'utf8')
    const pid = Number(file.split('\n')[0])
    // The postmaster first: it starts nothing new.
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
    stop: () => server.stop(),
    remove: () => removeCluster(folder),
  }
}

/** To a process that may have ended by now. */
function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

/** As Linux tells it. */
const childrenOf = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number)

/** What the server says of the statement itself: the same again would fail again. */
const isMistake = (error: unknown): boolean => /^(?:42|22)/.test((error as { code?: string }).code ?? '')
