import { writeSync } from 'node:fs'

const PAUSE_MS = 10

/**
 * Writes at once to a file descriptor, standard output if not given, and answers whether all was written. It never throws: a terminal
 * that was closed, a reader that has gone or a full disk is no reason for a server to end. A slow reader is waited for.
 */
export const writeOut = (text: string, fd = 1): boolean => {
  for (let rest: Uint8Array = Buffer.from(text); rest.length > 0;) {
    try {
      rest = rest.subarray(writeSync(fd, rest))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') return false
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS)
    }
  }
  return true
}
