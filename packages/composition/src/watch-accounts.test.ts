import { busiestAccountsMax, type AccountRate, type AccountRates } from '@gateway/core/accounts'
import { anAccountId, until } from '@gateway/core/testing'
import { createMetrics } from '@gateway/server'
import { watchAccounts } from './watch-accounts.ts'

/** Returns a port that records the reports and fails as often as requested. */
function listening(failures = 0) {
  const reports: (readonly AccountRate[])[] = []
  const processes = new Set<string>()
  let failuresLeft = failures
  const accountRates: Pick<AccountRates, 'report'> = {
    report: (by, rates) => {
      processes.add(by)
      if (failuresLeft-- > 0) return Promise.reject(new Error('away'))
      reports.push(rates)
      return Promise.resolve()
    },
  }
  return { reports, processes, accountRates }
}

const [one, two] = [anAccountId(1), anAccountId(2)]

test('the activity of accounts is reported after each period, once more when it has ended, and then no more', async () => {
  const { reports, processes, accountRates } = listening()
  const { activity, stop } = watchAccounts({ accountRates, metrics: createMetrics(), periodMilliseconds: 20 })
  activity.requested(one)
  activity.accepted(one, 10)
  activity.requested(two)
  await until(() => reports.length === 2)
  const [first, second] = reports
  expect(first?.map(({ account }) => account)).toEqual([one, two])
  expect(first?.[0]?.messages).toBeCloseTo((first?.[0]?.requests ?? 0) * 10, 6)
  expect(first?.[0]?.requests).toBeLessThanOrEqual(1 / 0.019)
  expect([second, processes.size]).toEqual([[], 1])
  activity.requested(two)
  await until(() => reports.length === 4)
  await stop()
  activity.requested(two)
  expect(reports).toHaveLength(4)
})

test('a failed report is repeated, and a stop removes the reports', async () => {
  const { reports, accountRates } = listening(1)
  const watched = watchAccounts({ accountRates, metrics: createMetrics(), periodMilliseconds: 20 })
  const asking = setInterval(() => watched.activity.requested(one), 1)
  await until(() => reports.length >= 1)
  clearInterval(asking)
  await watched.stop()
  expect(reports[0]).toHaveLength(1)
  expect(reports.at(-1)).toEqual([])
})

test('metrics name the busiest accounts of the last minute, and sum the others', async () => {
  const metrics = createMetrics()
  const { reports, accountRates } = listening()
  const { activity, stop } = watchAccounts({ accountRates, metrics, periodMilliseconds: 20 })
  const accounts = Array.from({ length: busiestAccountsMax + 2 }, (_, i) => anAccountId(i + 1))
  for (const account of accounts) activity.accepted(account, 60 * account)
  await until(() => reports.length > 0)
  const text = await metrics.registry.getSingleMetricAsString('gateway_account_messages_per_second')
  const lines = text.split('\n').filter((line) => !line.startsWith('#'))
  expect(lines).toHaveLength(busiestAccountsMax + 1)
  expect(lines[0]).toBe(`gateway_account_messages_per_second{account="${accounts.length}"} ${accounts.length}`)
  expect(lines.at(-1)).toBe('gateway_account_messages_per_second{account="others"} 3')
  const none = await metrics.registry.getSingleMetricAsString('gateway_account_requests_per_second')
  expect(none).not.toContain('account=')
  await stop()
})
