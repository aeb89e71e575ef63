import type { DestinationStream } from 'pino'
import { hasTerminal, isTerminalOpen, removeEarlyHandlers } from './early-signals.ts'

/** What `runProcess` uses of the Node process; a test passes its own. */
export interface Host {
  readonly env: Readonly<Record<string, string | undefined>>
  /** The arguments of the command line, without node and the file. */
  readonly args: readonly string[]
  readonly stdout: { write(text: string): unknown }
  readonly stderr: { write(text: string): unknown }
  readonly logTo?: DestinationStream
  /** Whether it was started in a terminal. */
  readonly hasTerminal: boolean
  /** Whether one of its terminals is still there: if not, SIGHUP means that it was closed. */
  isTerminalOpen(): boolean
  on(
    event: 'SIGTERM' | 'SIGINT' | 'SIGHUP' | 'uncaughtException' | 'unhandledRejection' | 'beforeExit',
    listener: (value: unknown) => void,
  ): unknown
  exit(code: number): void
}

export const thisProcess: Host = {
  env: process.env,
  args: process.argv.slice(2),
  stdout: process.stdout,
  stderr: process.stderr,
  hasTerminal,
  isTerminalOpen,
  on: (event, listener) => {
    process.on(event, listener)
    removeEarlyHandlers()
  },
  exit: (code) => process.exit(code),
}
