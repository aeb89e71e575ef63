import { dirname } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { usableBinaries } from './binaries.ts'
import type { Cluster } from './cluster.ts'
import { messageOf } from './errors.ts'
import { launch, logPath, runningPid, stopPostmaster, type Launch } from './postmaster.ts'
import { takeSeat, type Seat } from './seat.ts'
import type { Settings } from './settings.ts'
import { socketFolderOf } from './socket-folder.ts'
import { until } from './until.ts'

const silenceSeconds = 60
const quietSeconds = 3
const launchSeconds = 10

export interface Reach {
  readonly settings: Settings
  readonly log: (line: string) => void
  readonly signal?: AbortSignal
}

/**
 * Takes a seat at the server of `cluster`, and starts it if none runs. While one starts, recovers or shuts down this waits,
 * as long as that takes; throws if a start fails, if nothing answers for 60 s, or if `signal` is aborted before the server is ready,
 * and then stops the one that it has started.
 */
export const reachServer = async (cluster: Cluster, { settings, log, signal }: Reach): Promise<Seat> => {
  const socketFolder = await socketFolderOf(cluster)
  const tell = afterAWhile(log)
  let launched: Launch | undefined
  let obstacle = ''
  let heard = performance.now()
  for (;;) {
    const answer = await takeSeat(cluster, socketFolder)
    if ('client' in answer) return answer
    if (signal?.aborted === true) {
      await giveUp(cluster, launched)
      signal.throwIfAborted()
    }
    if (answer.seat === 'not-now') {
      tell(`PostgreSQL is there, but not ready: ${messageOf(answer.error)}`)
      heard = performance.now()
    } else if (performance.now() - heard > silenceSeconds * 1000) {
      throw await noAnswer(cluster, socketFolder, answer.error, obstacle || ((await launched?.output()) ?? ''))
    } else if (launched?.ended() === true) {
      obstacle = await passingObstacle(cluster, launched)
      launched = undefined
      await delay(100)
    } else if (answer.seat === 'nobody-there' && launched === undefined && (await runningPid(cluster)) === undefined) {
      const binaries = await usableBinaries(dirname(cluster.folder), cluster.owner)
      launched = await launch(cluster, { binaries, socketFolder, settings })
    }
    await delay(10)
  }
}

/** Nobody has a seat at a server that is not ready. One that was just launched has no pid file yet, and is waited for. */
const giveUp = async (cluster: Cluster, launched: Launch | undefined): Promise<void> => {
  if (launched === undefined) return
  const isKnown = async () => launched.ended() || (await runningPid(cluster)) !== undefined
  await until(isKnown, launchSeconds * 1000)
  if (!launched.ended()) await stopPostmaster(cluster)
}

/** A start takes a moment, a recovery can take minutes: only that is worth a line, and one is enough. */
const afterAWhile = (log: (line: string) => void): ((line: string) => void) => {
  const begun = performance.now()
  let told = false
  return (line) => {
    if (told || performance.now() - begun < quietSeconds * 1000) return
    told = true
    log(line)
  }
}

/**
 * A start may fail because another process was faster, or because what a killed server left is still going: those pass.
 * Answers what PostgreSQL says about it; every other reason is thrown.
 */
const passingObstacle = async (cluster: Cluster, launched: Launch): Promise<string> => {
  const output = await launched.output()
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
