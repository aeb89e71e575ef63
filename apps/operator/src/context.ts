import type { BackOffice, Gateway, Ports } from '@gateway/core'
import type { Output } from './output.ts'

/** What a command works with. */
export interface Context {
  readonly backOffice: BackOffice
  readonly gateway: Gateway
  readonly ports: Ports
  readonly output: Output
  readonly input: Input
}

export interface Input {
  /** Asks on the terminal without showing what is typed; on a pipe reads the first line. */
  secret(question: string): Promise<string>
}

/** Runs a command's work with everything open, closes it, and sets the exit code. */
export type Run = (work: (context: Context) => Promise<void>) => Promise<void>

/** Ends a command with a message for its user. Exit codes: 1 refused, 2 called wrongly, 3 out of order. */
export class Refused extends Error {
  readonly exitCode: 1 | 2
  constructor(message: string, exitCode: 1 | 2 = 1) {
    super(message)
    this.exitCode = exitCode
  }
}
