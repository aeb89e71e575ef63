import type { Log } from './log.ts'
import type { Metrics } from './metrics.ts'

/** Failed log-ins by user name and password from one network, for one account or for unknown names (null). */
interface FailedLogins {
  readonly account: number | null
  readonly network: string
  /** Number of failures since the previous report. */
  readonly failures: number
}

/** Logs one line for each report; the caller limits reports to one a minute for each account and network. */
export const warnOfFailedLogins =
  (log: Log) =>
  ({ account, network, failures }: FailedLogins): void =>
    log.warn({ account, network, failures }, 'log-ins failed')

interface Logins {
  readonly logins: { readonly counts: Readonly<Record<string, number>> }
  readonly waiting: () => number
}

/**
 * Registers metrics for outcomes of log-ins by user name and password, and for waiting ones. No label names a user
 * (P-15).
 */
export function measureLogins(metrics: Metrics, { logins, waiting }: Logins): void {
  metrics.counter('gateway_logins_total', 'Log-ins by user name and password', ['outcome'], () =>
    Object.entries(logins.counts).map(([outcome, value]) => ({ labels: { outcome }, value })),
  )
  metrics.gauge('gateway_logins_waiting', 'Log-ins that wait for their password to be hashed', [], () => [
    { labels: {}, value: waiting() },
  ])
}
