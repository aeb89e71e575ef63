#!/usr/bin/env node
import { constants } from 'node:os'
import { refuseOldNode } from '@gateway/server/early-signals'

refuseOldNode()
const [{ runCommandLine }, { terminal }] = await Promise.all([import('./run-command-line.ts'), import('./terminal.ts')])

const { stdin, stdout, stderr, argv, env } = process

/** Aborted by the first signal, so that the command ends in order. A second signal ends the process at once. */
const interruption = new AbortController()
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
const interrupt = (signal: NodeJS.Signals): void => {
  for (const each of signals) process.removeListener(each, interrupt)
  interruption.abort(signal)
}
for (const signal of signals) process.on(signal, interrupt)

const endWithoutAnswer = (): void => {
  stderr.write(
    'The command ended without a result, because it waits for something that can no longer happen. Its work may or may not have been done. This is a defect.\n',
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
    // Load the module only here, because loading it takes longer than printing a help page.
    const { withDatabase } = await import('./with-database.ts')
    await withDatabase(work, { note, make, interruption: interruption.signal })
  },
})
process.removeListener('beforeExit', endWithoutAnswer)
process.exitCode = code
if (givenUp.signal.aborted) process.exit(code)
// An interrupted command may still wait, for example for the terminal.
if (interruption.signal.aborted) process.exit(128 + constants.signals[interruption.signal.reason as NodeJS.Signals])
