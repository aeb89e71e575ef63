import type { Log } from '@gateway/server'

/** Tells of failures that come again and again: the first one of an outage, and its end. */
export interface Outage {
  failed(problem: unknown): void
  worked(): void
}

export function outageOf(what: string, log: Log): Outage {
  let failures = 0
  return {
    failed: (err) => {
      if (failures++ === 0) log.error({ err, what }, 'failed, and is tried again until it works')
    },
    worked: () => {
      if (failures > 0) log.warn({ what, failures }, 'works again')
      failures = 0
    },
  }
}
