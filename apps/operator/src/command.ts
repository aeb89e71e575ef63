import type { BackOffice, Gateway, Ports, Processing } from '@gateway/core'
import type { AccountId } from '@gateway/core/accounts'
import type { AuditAction, AuditActor, MakeChange } from '@gateway/core/audit'
import type { Readable } from 'node:stream'
import { Command, Help } from 'commander'
import type { AccountName } from './arguments.ts'
import type { Surroundings } from './doctor/rules.ts'
import type { Output } from './output.ts'

/** What a command works with. */
export interface Context {
  /** What it changes is recorded. */
  readonly backOffice: BackOffice
  /** Records what is changed by other means. */
  readonly change: MakeChange<AuditAction>
  readonly actor: AuditActor
  readonly gateway: Gateway
  readonly processing: Processing
  readonly ports: Ports
  /** What the database and this machine say of themselves. */
  readonly surroundings: () => Promise<Surroundings>
  /** Returns the id of an account that a command names. Throws a Refused if no account has the login. */
  readonly accountId: (name: AccountName) => Promise<AccountId>
  readonly confirm: Confirm
  readonly output: Output
  readonly input: Input
  /**
   * Aborted when the user ends the command. What is at the database then is answered or cut; nothing new is begun
   * there.
   */
  readonly interruption: AbortSignal
}

export interface Input {
  /** True if a person can be asked: standard input is a terminal. */
  readonly isTerminal: boolean
  /** Asks a question at the terminal; only `y` and `yes` count as true. */
  confirm(question: string): Promise<boolean>
  /**
   * Asks twice on a terminal, without showing what is typed; reads the first line of a pipe. Throws a Refused if the
   * two differ.
   */
  password(): Promise<string>
  /**
   * The text of a file, which is UTF-8, in pieces; of standard input for `-`. Throws a Refused if it cannot be read.
   */
  text(path: string): AsyncIterable<string>
  /** Standard input as it is. */
  bytes(): Readable
}

/**
 * Asks at a terminal before something that cannot be undone; throws a Refused unless the answer is yes. Does not ask
 * with `--yes`, with `--json` or without a terminal: scripts run as they did before there was a question.
 */
export type Confirm = (question: string, options: { readonly yes?: true }) => Promise<void>

/** The option of every command that uses `Confirm`. */
export const yesOption = ['--yes', 'do not ask at a terminal'] as const

/** Runs a command's work with everything open, and closes it whatever happens. */
export type Run = (work: (context: Context) => Promise<void>) => Promise<void>

/** Reads with everything open, or says in a sentence why that cannot be done: a database may not answer. */
export type Look = <Found>(
  read: (context: Context) => Promise<Found>,
) => Promise<{ readonly output: Output } & ({ readonly found: Found } | { readonly problem: string })>

/** Runs a command's work without a database. `variables` is the environment. */
export type RunAlone = (
  work: (
    context: Pick<Context, 'confirm' | 'output' | 'input' | 'interruption'> & { readonly variables: Variables },
  ) => Promise<void>,
) => Promise<void>

export type Variables = Readonly<Record<string, string | undefined>>

/** What a command fails with that its user has ended. */
export const interrupted = (): Error => new Error('Interrupted.')

/** Ends a command with a sentence for its user. Exit codes: 1 refused, 2 called wrongly. */
export class Refused extends Error {
  readonly exitCode: 1 | 2
  constructor(message: string, exitCode: 1 | 2 = 1) {
    super(message)
    this.exitCode = exitCode
  }
}

/** A command of ours: `--json` on each, and an example, so that its help has them wherever one looks. */
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

/** A command that only groups others. */
export const group = (name: string, description: string, commands: readonly Command[]): Command => {
  const made = new Command(name).description(description)
  for (const one of commands) made.addCommand(one)
  return made
}
