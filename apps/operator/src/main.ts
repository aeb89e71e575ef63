#!/usr/bin/env node
import { createBackOffice, createGateway } from '@gateway/core'
import { databaseVariables, hideSecrets, processVariables, readEnvironment } from '@gateway/server'
import { CommanderError, type Command } from 'commander'
import { Refused, type Run } from './context.ts'
import { open, type Opened } from './open.ts'
import { createOutput, type Output } from './output.ts'
import { createProgram } from './program.ts'
import { terminal } from './terminal.ts'

const { stdin, stdout, stderr } = process
const wantsJson = (): boolean => process.argv.includes('--json')

async function opened(work: (opened: Opened, output: Output) => Promise<void>): Promise<void> {
  const output = createOutput({ out: stdout, err: stderr }, wantsJson())
  const environment = readEnvironment({ ...processVariables, ...databaseVariables })
  const database = await open(environment, (text) => output.note(text))
  try {
    await work(database, output)
  } finally {
    await database.close()
  }
}

const run: Run = (work) =>
  opened(async ({ ports, migrate }, output) => {
    await migrate()
    const input = terminal(stdin, stderr)
    await work({ ports, backOffice: createBackOffice(ports), gateway: createGateway(ports), output, input })
  })

const everyCommand = (command: Command): readonly Command[] => [command, ...command.commands.flatMap(everyCommand)]

/** 1 refused, 2 called wrongly, 3 out of order; what was said already is not said again. */
function exitCodeOf(problem: unknown): number {
  if (problem instanceof CommanderError) return problem.exitCode === 0 ? 0 : 2
  const [code, message] =
    problem instanceof Refused
      ? [problem.exitCode, problem.message]
      : [3, hideSecrets(problem instanceof Error ? problem.message : String(problem))]
  if (wantsJson()) stderr.write(`${JSON.stringify({ error: message })}\n`)
  else stderr.write(`${message}\n`)
  return code
}

const program = createProgram(run, (work) => opened(({ migrate }, output) => work(migrate, output)))
for (const command of everyCommand(program)) command.exitOverride()
try {
  await program.parseAsync()
} catch (problem) {
  process.exitCode = exitCodeOf(problem)
}
