import { hostname, userInfo } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import {
  createGateway,
  createProcessing,
  operatorAccess,
  type BackOffice,
  type GatewaySettings,
  type ProcessingSettings,
} from '@gateway/core'
import { changesBy } from '@gateway/core/audit'
import { release, versionLine } from '@gateway/server/version'
import { CommanderError, type Command } from 'commander'
import { Refused, type Confirm, type Context, type Input, type Variables } from './command.ts'
import type { Surroundings } from './doctor/rules.ts'
import { createOutput, escapedJson, hideProgress, printableLines, writerTo, type Terminal } from './output.ts'
import { createProgram, type Runs } from './program.ts'
import type { Backups, Make } from './commands/backup.ts'
import type { CopyTo, AppliedMigration } from './commands/database.ts'

/** Exit codes: 0 done, 1 refused, 2 called wrongly, 3 the database or the gateway is out of order. */
export type ExitCode = 0 | 1 | 2 | 3

/** Database that is open. Its schema may not be up to date. */
export interface Opened {
  readonly ports: Context['ports']
  readonly migrate: () => Promise<readonly AppliedMigration[]>
  readonly surroundings: () => Promise<Surroundings>
  readonly backups: Backups
  /** Copies the database. Closes the connections of `ports` first, so `ports` cannot be used afterwards. */
  readonly copyTo: CopyTo
  /** If omitted, the settings that every process uses. */
  readonly settings?: GatewaySettings
  readonly processingSettings?: ProcessingSettings
}

export interface Host {
  readonly out: Terminal
  readonly err: Terminal
  input(show: (text: string) => void): Input
  /** Aborted when the user ends the command. */
  readonly interruption: AbortSignal
  /** Makes the process exit when the command has ended, even if something is still pending. */
  giveUp(): void
  /** Maximum seconds to wait for the database in commands that only read it. */
  readonly openSeconds: number
  readonly variables: Variables
  /**
   * Opens the database for `work` and closes it even if the work fails. Calls `note` with remarks for the user. If the
   * database cannot be opened, the error describes the cause in a sentence without secrets. Creates a missing database
   * or schema only if `make` says so.
   */
  withDatabase(work: (opened: Opened) => Promise<void>, note: (text: string) => void, make?: Make): Promise<void>
}

/** Runs the command that `args` name and returns the exit code. With `--json` a failure is printed as `{"error":…}`. */
export async function runCommandLine(args: readonly string[], host: Host): Promise<ExitCode> {
  const [out, err] = [writerTo(host.out), writerTo(host.err)]
  let json = args.includes('--json')
  let complains: Command | undefined
  const printError = (message: string): void => {
    if (err.isTerminal) err.write(hideProgress)
    err.write(`${json ? escapedJson(JSON.stringify({ error: message })) : printableLines(message)}\n`)
  }

  const confirmAt =
    (input: Input): Confirm =>
    async (question, { yes }) => {
      if (yes === true || json || !input.isTerminal || !err.isTerminal) return
      if (!(await input.confirm(question))) throw new Refused('Nothing was done.')
    }

  const runs: Runs = {
    run: (work) => {
      const output = createOutput(out, err, json)
      return host.withDatabase(async ({ ports, migrate, surroundings, settings, processingSettings }) => {
        await output.during('Updating the schema', migrate())
        const input = host.input((text) => err.write(text))
        const gateway = createGateway(ports, settings)
        const actor = { by: `${userInfo().username} on ${hostname()}`, from: 'command line' }
        const operators = operatorAccess(ports, processingSettings)
        const backOffice = operators.as({ name: actor.by, role: 'admin' }, actor.from)
        const change = changesBy(ports, actor)
        const processing = createProcessing(ports, processingSettings)
        const { interruption } = host
        const opened = { ports, surroundings, backOffice, change, actor, gateway, processing }
        const asking = { accountId: accountIdIn(backOffice), confirm: confirmAt(input), input }
        await work({ ...opened, ...asking, output, interruption })
      }, output.note)
    },
    runAlone: (work) => {
      const { variables, interruption } = host
      const input = host.input((text) => err.write(text))
      return work({ output: createOutput(out, err, json), confirm: confirmAt(input), input, variables, interruption })
    },
    look: async (read) => {
      const output = createOutput(out, err, json)
      const state: { isOpen: boolean; found?: { readonly found: Awaited<ReturnType<typeof read>> } } = { isOpen: false }
      const reading = runs
        .run(async (context) => {
          state.isOpen = true
          state.found = { found: await read(context) }
        })
        .catch((problem: unknown) => (problem instanceof Error ? problem.message : String(problem)))
      await Promise.race([reading, pause(host.openSeconds * 1000, undefined, { ref: false })])
      if (!isOpenOrOver(state, await Promise.race([reading.then(() => true), pause(0, false)]))) {
        host.giveUp()
        return { output, problem: `The database does not answer within ${host.openSeconds} s` }
      }
      const failed = await reading
      return { output, ...(state.found ?? { problem: failed ?? '' }) }
    },
    runMigrate: (work) => {
      const output = createOutput(out, err, json)
      return host.withDatabase(({ migrate }) => work(migrate, output), output.note, true)
    },
    runCopy: (work) => {
      const output = createOutput(out, err, json)
      return host.withDatabase(async ({ migrate, copyTo }) => {
        await output.during('Updating the schema', migrate())
        await work(copyTo, output)
      }, output.note)
    },
    runBackup: (make, work) => {
      const output = createOutput(out, err, json)
      return host.withDatabase(({ backups }) => work(backups, output, host.interruption), output.note, make)
    },
  }
  const program = createProgram(runs, json ? JSON.stringify(release) : versionLine)
  // The value of another option may look like `--json`, so the parsed options decide.
  program.hook('preAction', (_, command) => void (json = command.opts()['json'] === true))
  for (const command of everyCommand(program)) {
    command.exitOverride().configureOutput({
      writeOut: (text) => out.write(text),
      writeErr: (text) => {
        if (!json) err.write(text)
      },
      outputError: () => void (complains = command),
    })
  }

  const done = await run(program, args).then(
    () => 0 as const,
    (problem: unknown) => {
      const [code, message] = failureOf(problem, complains)
      if (message !== undefined) printError(message)
      return code
    },
  )
  await out.flush()
  const broken = out.failure()
  // A reader such as `head` closes the pipe once it has read enough.
  if (broken === undefined || broken.code === 'EPIPE') return done
  printError(`The result cannot be written: ${broken.message}`)
  return 3
}

const accountIdIn =
  ({ queries }: Pick<BackOffice, 'queries'>): Context['accountId'] =>
  async (name) => {
    if (typeof name === 'number') return name
    const found = await queries.findAccountByLogin(name.login)
    if (found === undefined) throw new Refused(`There is no account ${name.login}.`)
    return found.account.id
  }

/** Runs the command. Prints the help of nested commands (`help account open`) itself, because commander cannot. */
async function run(program: Command, args: readonly string[]): Promise<void> {
  if (args[0] !== 'help') {
    await program.parseAsync(args, { from: 'user' })
    return
  }
  const names = args.slice(1).filter((name) => !name.startsWith('-'))
  const named = names.reduce<Command | undefined>(
    (group, name) => group?.commands.find((each) => each.name() === name),
    program,
  )
  if (named === undefined) throw new Refused(`There is no command '${names.join(' ')}'. See 'gateway --help'.`, 2)
  named.outputHelp()
}

const isOpenOrOver = ({ isOpen }: { readonly isOpen: boolean }, isOver: boolean): boolean => isOpen || isOver

const everyCommand = (command: Command): readonly Command[] => [command, ...command.commands.flatMap(everyCommand)]

function failureOf(problem: unknown, complains: Command | undefined): [ExitCode, message?: string] {
  if (problem instanceof Refused) return [problem.exitCode, problem.message]
  if (!(problem instanceof CommanderError)) return [3, problem instanceof Error ? problem.message : String(problem)]
  if (problem.exitCode === 0) return [0]
  if (complains === undefined) return [2] // The help was printed instead of an error.
  const message = problem.message.replace(/^error: /, '').replaceAll('\n', ' ')
  const sentence = message.charAt(0).toUpperCase() + message.slice(1) + (/[.?)]$/.test(message) ? '' : '.')
  return [2, `${sentence} See '${pathOf(complains)} --help'.`]
}

const pathOf = (command: Command): string =>
  command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`
