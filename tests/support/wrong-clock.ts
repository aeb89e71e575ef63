import { existsSync, readdirSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Environment } from './process.ts'

/** Clock that a test sets for some processes. Other processes keep the right time. */
export interface WrongClock {
  /** Environment for processes that use this clock. Their child processes use it too. */
  readonly environment: Environment
  /**
   * Sets the difference of this clock from the right time, such as `+55h`, `-55h` or `+0`. Running processes follow.
   */
  set(difference: string): Promise<void>
}

const library = ((): string | undefined => {
  const above = '/usr/lib'
  if (!existsSync(above)) return undefined
  return readdirSync(above)
    .map((architecture) => join(above, architecture, 'faketime', 'libfaketimeMT.so.1'))
    .find((path) => existsSync(path))
})()

/** True if libfaketime is installed (Debian package `faketime`). */
export const canSetClocks: boolean = library !== undefined

/**
 * Creates a clock. The file at `path` contains its difference from the right time. Only `Date` is affected, not the
 * measurement of durations.
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
