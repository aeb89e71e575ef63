import { isatty } from 'node:tty'
import { refuseOldNode } from './refuse-old-node.ts'

export { refuseOldNode }

const exit = (): void => process.exit(0)

/** Returns true if one of the standard streams is a terminal that is still open. */
export const isTerminalOpen = (): boolean => [0, 1, 2].some((fd) => isatty(fd))

/**
 * True if this process was started in a terminal. Read at the start, because a closed terminal cannot be recognised
 * later.
 */
export const hasTerminal = isTerminalOpen()

const signals: readonly NodeJS.Signals[] = ['SIGTERM', 'SIGINT', ...(hasTerminal ? (['SIGHUP'] as const) : [])]

/**
 * Exits with 0 on a stop signal while the process loads its modules, until `runProcess` installs its handlers. Ends the
 * process if its Node is too old. This file imports almost nothing, so that it runs before other modules are loaded.
 */
export const exitOnEarlySignals = (): void => {
  refuseOldNode()
  for (const signal of signals) process.on(signal, exit)
}

/** Removes the handlers once `runProcess` handles the signals. */
export const removeEarlyHandlers = (): void => {
  for (const signal of signals) process.off(signal, exit)
}
