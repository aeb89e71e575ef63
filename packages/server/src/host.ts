import type { DestinationStream } from 'pino'
import { hasTerminal, removeEarlyHandlers } from './early-signals.ts'

/** What `runProcess` needs of the process. */
export interface Host {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly stderr: { write(text: string): unknown }
  readonly logTo?: DestinationStream
  /** Whether it was started in a terminal: then SIGHUP says that this was closed. */
  readonly hasTerminal: boolean
  on(
    event: 'SIGTERM' | 'SIGINT' | 'SIGHUP' | 'uncaughtException' | 'unhandledRejection',
    told: (what: unknown) => void,
  ): unknown
  exit(code: number): void
}

export const thisProcess: Host = {
  env: process.env,
  stderr: process.stderr,
  hasTerminal,
  on: (event, told) => {
    process.on(event, told)
    removeEarlyHandlers()
  },
  exit: (code) => process.exit(code),
}
