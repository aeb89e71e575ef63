import { randomUUID } from 'node:crypto'
import { createBusyAccounts, type AccountActivity, type AccountRates, type BusyAccounts } from '@gateway/core/accounts'
import type { Metrics } from '@gateway/server'

interface Watching {
  readonly accountRates: Pick<AccountRates, 'report'>
  readonly metrics: Metrics
  /** Length of a counting period. Rates are reported after each period with activity. */
  readonly periodMilliseconds?: number
}

export interface WatchedAccounts {
  readonly activity: AccountActivity
  /** Reports that this process no longer has busy accounts, and stops. */
  readonly stop: () => Promise<void>
}

/**
 * Counts the requests and messages of accounts, exports the busiest as metrics and reports them to the other processes.
 * Runs no timer while there is no activity. A report that fails is repeated after the next period.
 */
export function watchAccounts({ accountRates, metrics, periodMilliseconds = 10_000 }: Watching): WatchedAccounts {
  const process = randomUUID()
  const busy = createBusyAccounts(() => begin())
  let timer: NodeJS.Timeout | undefined
  let reporting: Promise<void> | undefined
  let hasReported = false
  let isStopped = false

  function begin(): void {
    if (isStopped) return
    const began = performance.now()
    timer = setTimeout(() => {
      const isActive = busy.endPeriod((performance.now() - began) / 1000)
      reporting ??= reportRates().finally(() => (reporting = undefined))
      if (isActive) begin()
    }, periodMilliseconds).unref()
  }

  async function reportRates(): Promise<void> {
    const rates = busy.last()
    if (rates.length === 0 && !hasReported) return
    // Ignore the failure, because metrics and log already report that the database is unavailable.
    const isReported = await accountRates.report(process, rates).then(
      () => true,
      () => false,
    )
    if (isReported) hasReported = rates.length > 0
  }

  metrics.gauge(
    'gateway_account_requests_per_second',
    'Requests with right credentials in the last minute, of the busiest accounts and of the others together',
    ['account'],
    () => readings(busy, 'requests'),
  )
  metrics.gauge(
    'gateway_account_messages_per_second',
    'Messages accepted in the last minute, of the busiest accounts and of the others together',
    ['account'],
    () => readings(busy, 'messages'),
  )

  return {
    activity: busy.activity,
    stop: async () => {
      isStopped = true
      clearTimeout(timer)
      await reporting
      // Reports expire after half a minute anyway, so a failure does not matter.
      if (hasReported) await accountRates.report(process, []).catch(() => undefined)
    },
  }
}

function readings(
  { lately }: BusyAccounts,
  measure: 'requests' | 'messages',
): ReturnType<Parameters<Metrics['gauge']>[3]> {
  const { busiest, others } = lately(measure)
  const named = busiest.map((rate) => ({ labels: { account: String(rate.account) }, value: rate[measure] }))
  return others > 0 ? [...named, { labels: { account: 'others' }, value: others }] : named
}
