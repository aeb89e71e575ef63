import { isatty } from 'node:tty'

const exit = (): void => process.exit(0)

/** Whether this process was started in a terminal; asked at the start, for a terminal that is gone answers no more. */
export const hasTerminal = [0, 1, 2].some((fd) => isatty(fd))

const signals: readonly NodeJS.Signals[] = ['SIGTERM', 'SIGINT', ...(hasTerminal ? (['SIGHUP'] as const) : [])]

/**
 * While a process loads its modules nothing is to be stopped: a signal to end ends it with 0, until `runProcess` takes over. Imports
 * nothing of ours, so that it can be called before the rest is loaded.
 */
export const exitOnEarlySignals = (): void => {
  for (const signal of signals) process.on(signal, exit)
}

/** From now on somebody else listens. */
export const removeEarlyHandlers = (): void => {
  for (const signal of signals) process.off(signal, exit)
}
