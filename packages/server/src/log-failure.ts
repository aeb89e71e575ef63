import type { Log } from './log.ts'
import { throttled } from './throttled.ts'

type LogFailure = (fields: object) => void

const failuresOf = new WeakMap<Log, LogFailure>()

/**
 * Logs that a request failed: at most one line a second for each log, which is each process, as all its apps share one. A
 * line with its stack for every request of an outage would fill disks and hide what else is said. `unwritten` of a line is
 * how many failures before it have none.
 */
export const logFailure = (log: Log): LogFailure => {
  const known = failuresOf.get(log)
  if (known !== undefined) return known
  const made = throttled(1000, (unwritten, fields: object) => log.error({ ...fields, unwritten }, 'request failed'))
  failuresOf.set(log, made)
  return made
}
