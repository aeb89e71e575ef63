import { mkdir, statfs } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { listBackups, pruneBackups } from '@gateway/adapters-postgres'
import type { ProcessContext, Variables } from '@gateway/server'
import type { Opened } from './open-ports.ts'

export interface DailyBackups extends Pick<Opened, 'backUp' | 'runExclusively'> {
  readonly folder: string
  /** Time of the database, from which the files get their names. */
  readonly clock: { now(): number }
  /** Returns the free bytes of the disk; by default those of the disk with the folder. */
  readonly bytesLeft?: () => Promise<number>
  readonly firstMilliseconds?: number
  readonly everyMilliseconds?: number
}

const backupsMax = 7
const dayMilliseconds = 86_400_000
/** Minimum bytes that must stay free on the disk, because a full disk would stop a database on it. */
const bytesFreeLeast = 2 ** 30
/**
 * Milliseconds of work between two rests, and milliseconds of each rest. The rest is longer, so that waiting requests
 * go first.
 */
const [workMilliseconds, restMilliseconds] = [20, 30]

/**
 * Checks every hour, first after 5 minutes, and makes a backup if the newest one in the folder is a day old. Keeps
 * seven. Processes on one database make backups one after the other. A failed backup is logged, leaves no file, and is
 * tried again an hour later. With less than 1 GiB of free disk space, no backup is started and a running one ends.
 */
export function keepDailyBackups(
  { log, onStop }: Pick<ProcessContext<Variables>, 'log' | 'onStop'>,
  daily: DailyBackups,
): void {
  const { folder, backUp, runExclusively, clock, everyMilliseconds = 3_600_000 } = daily
  const stopping = new AbortController()
  const bytesLeft = daily.bytesLeft ?? (() => freeOn(folder))
  let working: Promise<void> | undefined

  async function between(): Promise<void> {
    await delay(restMilliseconds, undefined, { signal: stopping.signal })
    if ((await bytesLeft()) < bytesFreeLeast) throw new Error('less than 1 GiB of the disk is free')
  }

  async function makeIfDue(): Promise<void> {
    const [newest] = await listBackups(folder)
    if (newest !== undefined && clock.now() - Date.parse(newest.made) < dayMilliseconds) return
    await between()
    let since = performance.now()
    const { file, bytes, rows } = await backUp(folder, async () => {
      if (performance.now() - since < workMilliseconds) return
      await between()
      since = performance.now()
    })
    const { deleted } = await pruneBackups(folder, backupsMax)
    log.info({ file, bytes, rows, deleted }, 'made the daily backup')
  }

  async function look(): Promise<void> {
    try {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      await runExclusively('daily backup', makeIfDue)
    } catch (error) {
      if (stopping.signal.aborted) return
      const reason = error instanceof Error ? error.message : String(error)
      log.warn({ reason }, 'the daily backup failed')
    }
  }

  function lookAfter(milliseconds: number): void {
    timer = setTimeout(() => {
      working = look().then(() => {
        if (!stopping.signal.aborted) lookAfter(everyMilliseconds)
      })
    }, milliseconds).unref()
  }

  let timer: NodeJS.Timeout
  lookAfter(daily.firstMilliseconds ?? 300_000)
  onStop('daily backups', async () => {
    stopping.abort()
    clearTimeout(timer)
    await working
  })
}

async function freeOn(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder)
  return bavail * bsize
}
