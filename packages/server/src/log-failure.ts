import type { Log } from './log.ts'
import { throttled } from './throttled.ts'

type LogFailure = (fields: object) => void

const failuresOf = new WeakMap<Log, LogFailure>()

/**
 * Logs that a request failed: at most one line a second for each log, that is for each process. A stack for every request of an
 * outage would fill disks and hide other lines. `unwritten` counts the failures since the line before that have no line.
 */
export const logFailure = (log: Log): LogFailure => {
  const known = failuresOf.get(log)
  if (known !== undefined) return known
  const made = throttled(1000, (unwritten, fields: object) => log.error({ ...fields, unwritten }, 'request failed'))
  failuresOf.set(log, made)
  return made
}
