import { existsSync, readdirSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Environment } from './process.ts'

/** A clock of processes that a test sets; that of everything else is right. */
export interface WrongClock {
  /** For the processes that have this clock. What these start has it too. */
  readonly environment: Environment
  /** Sets it by so much from the right time, also while processes run: `+55h`, `-55h`, `+0`. */
  set(difference: string): Promise<void>
}

const library = ((): string | undefined => {
  const above = '/usr/lib'
  if (!existsSync(above)) return undefined
  return readdirSync(above)
    .map((architecture) => join(above, architecture, 'faketime', 'libfaketimeMT.so.1'))
    .find((path) => existsSync(path))
})()

/** Whether libfaketime is installed: the Debian package `faketime`. */
export const canSetClocks: boolean = library !== undefined

/**
 * A clock whose difference is kept in the file at `path`. Only `Date` has it: what measures durations is not changed.
 */
export async function wrongClock(path: string, difference: string): Promise<WrongClock> {
  const set = (to: string) => writeFile(path, `${to}\n`)
  await set(difference)
  return {
    environment: {
      LD_PRELOAD: library ?? '',
      FAKETIME_TIMESTAMP_FILE: path,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    },
    set,
  }
}
