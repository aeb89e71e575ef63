#!/usr/bin/env node
import { constants } from 'node:os'
import { refuseOldNode } from '@gateway/server/early-signals'

refuseOldNode()
const [{ runCommandLine }, { terminal }] = await Promise.all([import('./run-command-line.ts'), import('./terminal.ts')])

const { stdin, stdout, stderr, argv, env } = process

/** The first one ends the command in good order, a second one at once. */
const interruption = new AbortController()
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
const interrupt = (signal: NodeJS.Signals): void => {
  for (const each of signals) process.removeListener(each, interrupt)
  interruption.abort(signal)
}
for (const signal of signals) process.on(signal, interrupt)

const endWithoutAnswer = (): void => {
  stderr.write(
    'The command waits for something that cannot come any more, and may have been done or not. This is a defect.\n',
  )
  process.exit(3)
}
process.once('beforeExit', endWithoutAnswer)

const givenUp = new AbortController()
const code = await runCommandLine(argv.slice(2), {
  out: stdout,
  err: stderr,
  input: (show) => terminal(stdin, show, () => interrupt('SIGINT')),
  interruption: interruption.signal,
  giveUp: () => givenUp.abort(),
  openSeconds: 8,
  variables: env,
  withDatabase: async (work, note, make = false) => {
    // What it needs takes longer to load than to show a page of help.
    const { withDatabase } = await import('./with-database.ts')
    await withDatabase(work, { note, make, interruption: interruption.signal })
  },
})
process.removeListener('beforeExit', endWithoutAnswer)
process.exitCode = code
if (givenUp.signal.aborted) process.exit(code)
// What was interrupted may still wait for something, for the terminal perhaps.
if (interruption.signal.aborted) process.exit(128 + constants.signals[interruption.signal.reason as NodeJS.Signals])
