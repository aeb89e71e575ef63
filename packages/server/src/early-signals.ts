import { isatty } from 'node:tty'
import { refuseOldNode } from './refuse-old-node.ts'

export { refuseOldNode }

const exit = (): void => process.exit(0)

/** False for a terminal that was closed. */
export const isTerminalOpen = (): boolean => [0, 1, 2].some((fd) => isatty(fd))

/** Whether this process was started in a terminal. Read at the start: a closed terminal cannot be asked. */
export const hasTerminal = isTerminalOpen()

const signals: readonly NodeJS.Signals[] = ['SIGTERM', 'SIGINT', ...(hasTerminal ? (['SIGHUP'] as const) : [])]

/**
 * Exits with 0 on a stop signal while the process loads its modules, until `runProcess` installs its handlers; ends the
 * process of an older Node. This file imports next to nothing, so it can be called before the rest is loaded.
 */
export const exitOnEarlySignals = (): void => {
  refuseOldNode()
  for (const signal of signals) process.on(signal, exit)
}

/** Called once `runProcess` handles the signals. */
export const removeEarlyHandlers = (): void => {
  for (const signal of signals) process.off(signal, exit)
}
