import { writeSync } from 'node:fs'

const PAUSE_MS = 10

/**
 * Writes synchronously to a file descriptor (standard output if not given) and returns whether all was written. Waits for a slow
 * reader. Never throws: a closed terminal, a closed pipe or a full disk does not stop a server.
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
