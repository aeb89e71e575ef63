import type { Log } from './log.ts'
import type { Metrics } from './metrics.ts'

/** Failed log-ins by user name and password: of one account, or of names that nobody has (null), from one network. */
interface FailedLogins {
  readonly account: number | null
  readonly network: string
  /** Since the line before this one. */
  readonly failures: number
}

/** Writes a line for what it is told; whoever tells keeps to one a minute for each account and network. */
export const warnOfFailedLogins =
  (log: Log) =>
  ({ account, network, failures }: FailedLogins): void =>
    log.warn({ account, network, failures }, 'log-ins failed')

interface Logins {
  readonly logins: { readonly counts: Readonly<Record<string, number>> }
  readonly waiting: () => number
}

/** Shows what became of log-ins by user name and password, and how many wait. No label names a user (P-15). */
export function measureLogins(metrics: Metrics, { logins, waiting }: Logins): void {
  metrics.counter('gateway_logins_total', 'Log-ins by user name and password', ['outcome'], () =>
    Object.entries(logins.counts).map(([outcome, value]) => ({ labels: { outcome }, value })),
  )
  metrics.gauge('gateway_logins_waiting', 'Log-ins that wait for their password to be hashed', [], () => [
    { labels: {}, value: waiting() },
  ])
}
