import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const run = promisify(execFile)
const secondsMax = 60

/** Runs a program with its arguments, without a shell; what it writes to standard output. Throws unless it ends with 0 within 60 s. */
export async function runCommand([program = '', ...args]: readonly string[]): Promise<string> {
  const { stdout } = await run(program, args, { timeout: secondsMax * 1000, maxBuffer: 2 ** 24 })
  return stdout
}

/** The arguments of a template, each `{name}` in them replaced. */
export const filled = (template: readonly string[], values: Readonly<Record<string, string>>): string[] =>
  template.map((argument) => argument.replace(/\{(\w+)\}/g, (written, name: string) => values[name] ?? written))
