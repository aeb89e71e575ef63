import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const secondsMax = 60

/** Folder and environment of a command; by default those of this process. */
export interface Surroundings {
  readonly folder?: string
  /** Differences to the environment of this process; null removes a variable. */
  readonly environment?: Readonly<Record<string, string | null>>
}

/**
 * Runs a program with its arguments, without a shell, and returns its standard output. Throws unless it exits with 0
 * within 60 s.
 */
export async function runCommand(
  [program = '', ...args]: readonly string[],
  { folder, environment = {} }: Surroundings = {},
): Promise<string> {
  const env = Object.fromEntries(
    Object.entries({ ...process.env, ...environment }).filter(([, value]) => value !== null),
  )
  const options = { timeout: secondsMax * 1000, maxBuffer: 2 ** 24, env: env as NodeJS.ProcessEnv }
  const { stdout } = await run(program, args, { ...options, ...(folder !== undefined && { cwd: folder }) })
  return stdout
}

/** Variables that determine the database of a gateway command and the program that runs it. */
const deciding = ['DATABASE_URL', 'DATA_DIR', 'SENDERS', 'SECRETS_KEY', 'PATH']

/** Returns the folder and environment of this process, for a command that runs later from elsewhere. */
export function surroundings(): Required<Surroundings> {
  const ofDriver = Object.keys(process.env).filter((name) => /^PG[A-Z]+$/.test(name))
  const names = [...deciding, ...ofDriver]
  const environment = Object.fromEntries(names.map((name) => [name, process.env[name] ?? null]))
  return { folder: process.cwd(), environment }
}

/** Makes the existing files of a command line absolute. */
export const absolute = (command: readonly string[]): string[] =>
  command.map((argument) => (!argument.startsWith('-') && existsSync(argument) ? resolve(argument) : argument))

/** Returns the arguments of a template with each `{name}` replaced. */
export const filled = (template: readonly string[], values: Readonly<Record<string, string>>): string[] =>
  template.map((argument) => argument.replace(/\{(\w+)\}/g, (written, name: string) => values[name] ?? written))
