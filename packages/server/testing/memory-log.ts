import { createLog, type Log } from '../src/log.ts'

/** Log that stores its lines, as text and parsed. */
export interface MemoryLog {
  readonly log: Log
  readonly text: () => string
  readonly lines: () => Record<string, unknown>[]
}

export const memoryLog = (level = 'info'): MemoryLog => {
  const written: string[] = []
  return {
    log: createLog({ level, name: 'test', destination: { write: (line) => void written.push(line) } }),
    text: () => written.join(''),
    lines: () => written.map((line) => JSON.parse(line) as Record<string, unknown>),
  }
}
