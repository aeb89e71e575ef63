import type { CarrierSharePorts } from '@gateway/carriers'
import type { BackOffice, Gateway, Ports, Processing, AuditAction } from '@gateway/core'
import type { AccountId } from '@gateway/core/accounts'
import type { AuditActor, MakeChange } from '@gateway/core/audit'
import type { Readable } from 'node:stream'
import { Command, Help } from 'commander'
import type { AccountName } from './arguments.ts'
import type { Surroundings } from './doctor/rules.ts'
import type { Output } from './output.ts'

/** Everything that a command may use. */
export interface Context {
  /** Back office whose changes are recorded in the audit log. */
  readonly backOffice: BackOffice
  /** Records a change in the audit log that does not go through `backOffice`. */
  readonly change: MakeChange<AuditAction>
  readonly actor: AuditActor
  readonly gateway: Gateway
  readonly processing: Processing
  readonly ports: Ports & CarrierSharePorts
  /** Reads the state of the database and of this machine. */
  readonly surroundings: () => Promise<Surroundings>
  /** Returns the id of an account that a command names. Throws a Refused if no account has the login. */
  readonly accountId: (name: AccountName) => Promise<AccountId>
  readonly confirm: Confirm
  readonly output: Output
  readonly input: Input
  /**
   * Aborted when the user ends the command. A running statement then either completes or is cut off. No further
   * statement is started.
   */
  readonly interruption: AbortSignal
}

export interface Input {
  /** True if a person can be asked: standard input is a terminal. */
  readonly isTerminal: boolean
  /** Asks a question at the terminal; only `y` and `yes` count as true. */
  confirm(question: string): Promise<boolean>
  /**
   * Asks for a password twice on a terminal without showing what is typed, or reads the first line of a pipe. Throws a
   * Refused if the two passwords differ.
   */
  password(): Promise<string>
  /** Reads a UTF-8 file in pieces, or standard input for `-`. Throws a Refused if it cannot be read. */
  text(path: string): AsyncIterable<string>
  /** Returns the bytes of standard input. */
  bytes(): Readable
}

/**
 * Asks at a terminal before something that cannot be undone; throws a Refused unless the answer is yes. Does not ask
 * with `--yes`, with `--json` or without a terminal, so that scripts do not stop at a question.
 */
export type Confirm = (question: string, options: { readonly yes?: true }) => Promise<void>

/** The option of every command that uses `Confirm`. */
export const yesOption = ['--yes', 'do not ask at a terminal'] as const

/** Opens the database, runs the work of a command, and closes the database even if the work fails. */
export type Run = (work: (context: Context) => Promise<void>) => Promise<void>

/**
 * Opens the database and reads from it. Returns a sentence as `problem` if that was not possible, for example because
 * the database does not answer.
 */
export type Look = <Found>(
  read: (context: Context) => Promise<Found>,
) => Promise<{ readonly output: Output } & ({ readonly found: Found } | { readonly problem: string })>

/** Runs the work of a command without a database. `variables` is the environment. */
export type RunAlone = (
  work: (
    context: Pick<Context, 'confirm' | 'output' | 'input' | 'interruption'> & { readonly variables: Variables },
  ) => Promise<void>,
) => Promise<void>

export type Variables = Readonly<Record<string, string | undefined>>

/** Returns the error of a command that its user has interrupted. */
export const interrupted = (): Error => new Error('Interrupted.')

/** Error that ends a command with a sentence for its user. Exit codes: 1 refused, 2 called wrongly. */
export class Refused extends Error {
  readonly exitCode: 1 | 2
  constructor(message: string, exitCode: 1 | 2 = 1) {
    super(message)
    this.exitCode = exitCode
  }
}

/** Creates a command with the option `--json` and with an example in its help, if there is one. */
export const command = (name: string, description: string, example?: string): Command =>
  new Command(name)
    .description(description)
    .configureHelp({ optionDescription: describeOption })
    .option('--json', 'print the result as JSON, for programs')
    .addHelpText('after', example === undefined ? '' : `\nExample:\n  ${example}`)

const describeOption: Help['optionDescription'] = (option) => {
  const described = new Help().optionDescription(option)
  return option.mandatory ? `${described} (required)` : described
}

/** Creates a command that only groups others. */
export const group = (name: string, description: string, commands: readonly Command[]): Command => {
  const parent = new Command(name).description(description)
  for (const child of commands) parent.addCommand(child)
  return parent
}
