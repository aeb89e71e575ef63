import type { Log } from './log.ts'
import type { Metrics } from './metrics.ts'

/**
 * Number of failed log-ins by user name and password from one network. `account` is null if the user names are unknown.
 */
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
 * Registers metrics for the outcomes of log-ins by user name and password, and for log-ins that wait. No label contains
 * a user name (P-15).
 */
export function measureLogins(metrics: Metrics, { logins, waiting }: Logins): void {
  metrics.counter('gateway_logins_total', 'Log-ins by user name and password', ['outcome'], () =>
    Object.entries(logins.counts).map(([outcome, value]) => ({ labels: { outcome }, value })),
  )
  metrics.gauge('gateway_logins_waiting', 'Log-ins that wait for their password to be hashed', [], () => [
    { labels: {}, value: waiting() },
  ])
}
