import { dirname } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { usableBinaries } from './binaries.ts'
import type { Cluster } from './cluster.ts'
import { messageOf } from './errors.ts'
import { launch, logPath, runningPid, stopPostmaster, type Launch } from './postmaster.ts'
import { takeUsageLease, type UsageLease } from './usage-lease.ts'
import type { Settings } from './settings.ts'
import { socketFolderOf } from './socket-folder.ts'
import { until } from './until.ts'

const silenceSeconds = 60
const quietSeconds = 3
const launchSeconds = 10

export interface ConnectOptions {
  readonly settings: Settings
  readonly log: (line: string) => void
  readonly signal?: AbortSignal
}

/**
 * Takes a usage lease of the server of `cluster`, which it starts if none runs, and waits while one starts, recovers or stops. Throws
 * if a start fails, if nothing answers for 60 s, or on `signal`; then it stops the server that it has started.
 */
export const connectOrStart = async (
  cluster: Cluster,
  { settings, log, signal }: ConnectOptions,
): Promise<UsageLease> => {
  const socketFolder = await socketFolderOf(cluster)
  const tell = afterAWhile(log)
  let launched: Launch | undefined
  let obstacle = ''
  let heard = performance.now()
  for (;;) {
    const answer = await takeUsageLease(cluster, socketFolder)
    if ('client' in answer) return answer
    if (signal?.aborted === true) {
      await giveUp(cluster, launched)
      signal.throwIfAborted()
    }
    if (answer.reason === 'not-ready') {
      tell(`PostgreSQL is there, but not ready: ${messageOf(answer.error)}`)
      heard = performance.now()
    } else if (performance.now() - heard > silenceSeconds * 1000) {
      throw await noAnswer(cluster, socketFolder, answer.error, obstacle || ((await launched?.output()) ?? ''))
    } else if (launched?.ended() === true) {
      obstacle = await passingObstacle(cluster, launched)
      launched = undefined
      await delay(100)
    } else if (answer.reason === 'not-running' && launched === undefined && (await runningPid(cluster)) === undefined) {
      const binaries = await usableBinaries(dirname(cluster.folder), cluster.runAsUser)
      launched = await launch(cluster, { binaries, socketFolder, settings })
    }
    await delay(10)
  }
}

/** Stops a server that was launched but is not ready: no process has a lease of it. Waits for the pid file of a new one. */
const giveUp = async (cluster: Cluster, launched: Launch | undefined): Promise<void> => {
  if (launched === undefined) return
  const isKnown = async () => launched.ended() || (await runningPid(cluster)) !== undefined
  await until(isKnown, launchSeconds * 1000)
  if (!launched.ended()) await stopPostmaster(cluster)
}

/** Logs one line, and only after 3 s: a start takes less, a recovery can take minutes. */
const afterAWhile = (log: (line: string) => void): ((line: string) => void) => {
  const begun = performance.now()
  let logged = false
  return (line) => {
    if (logged || performance.now() - begun < quietSeconds * 1000) return
    logged = true
    log(line)
  }
}

/**
 * A start may fail because another process was faster, or because a killed server still runs; and another process may have used
 * the server and stopped it already: these pass. Returns the message of PostgreSQL then; throws for any other reason.
 */
const passingObstacle = async (cluster: Cluster, launched: Launch): Promise<string> => {
  const output = await launched.output()
  if (launched.wasStopped()) return output
  if (/lock file ".*" (already exists|is empty)|pre-existing shared memory block/.test(output)) return output
  throw new Error(
    `PostgreSQL does not start. Its log, ${logPath(cluster)}, ends with:\n${lastLines(output)}\n` +
      'Put right what it says and start again, or set DATABASE_URL to a PostgreSQL 15 to 18.',
  )
}

const lastLines = (text: string): string => text.split('\n').slice(-10).join('\n')

const noAnswer = async (cluster: Cluster, socketFolder: string, cause: unknown, output: string): Promise<Error> => {
  const pid = await runningPid(cluster)
  return new Error(
    `PostgreSQL on ${cluster.folder} does not answer at the socket in ${socketFolder}: ${messageOf(cause)}. ` +
      (pid === undefined
        ? `Look at its log, ${logPath(cluster)}.`
        : `It runs as process ${pid}; if its socket is in a /tmp that this process cannot see, start both with the same TMPDIR.`) +
      (output === '' ? '' : `\n${lastLines(output)}`),
    { cause },
  )
}
