import { busiestAccountsMax, type AccountRate, type AccountRates } from '@gateway/core/accounts'
import { anAccountId, until } from '@gateway/core/testing'
import { createMetrics } from '@gateway/server'
import { watchAccounts } from './watch-accounts.ts'

/** What was told, each time; fails as often as it is said. */
function listening(failures = 0) {
  const told: (readonly AccountRate[])[] = []
  const processes = new Set<string>()
  let left = failures
  const accountRates: AccountRates = {
    tell: (by, rates) => {
      processes.add(by)
      if (left-- > 0) return Promise.reject(new Error('away'))
      told.push(rates)
      return Promise.resolve()
    },
    list: () => Promise.resolve([]),
  }
  return { told, processes, accountRates }
}

const [one, two] = [anAccountId(1), anAccountId(2)]

test('what accounts did is told after a period, once more when it is over, and then no more', async () => {
  const { told, processes, accountRates } = listening()
  const { activity, stop } = watchAccounts({ accountRates, metrics: createMetrics(), periodMilliseconds: 20 })
  activity.requested(one)
  activity.accepted(one, 10)
  activity.requested(two)
  await until(() => told.length === 2)
  const [first, second] = told
  expect(first?.map(({ account }) => account)).toEqual([one, two])
  expect(first?.[0]?.messages).toBeCloseTo((first?.[0]?.requests ?? 0) * 10, 6)
  expect(first?.[0]?.requests).toBeLessThanOrEqual(1 / 0.019)
  expect([second, processes.size]).toEqual([[], 1])
  activity.requested(two)
  await until(() => told.length === 4)
  await stop()
  activity.requested(two)
  expect(told).toHaveLength(4)
})

test('what could not be told is told again, and a stop takes back what was told', async () => {
  const { told, accountRates } = listening(1)
  const watched = watchAccounts({ accountRates, metrics: createMetrics(), periodMilliseconds: 20 })
  const asking = setInterval(() => watched.activity.requested(one), 1)
  await until(() => told.length >= 1)
  clearInterval(asking)
  await watched.stop()
  expect(told[0]).toHaveLength(1)
  expect(told.at(-1)).toEqual([])
})

test('metrics name the busiest accounts of the last minute, and sum the others', async () => {
  const metrics = createMetrics()
  const { told, accountRates } = listening()
  const { activity, stop } = watchAccounts({ accountRates, metrics, periodMilliseconds: 20 })
  const accounts = Array.from({ length: busiestAccountsMax + 2 }, (_, i) => anAccountId(i + 1))
  for (const account of accounts) activity.accepted(account, 60 * account)
  await until(() => told.length > 0)
  const text = await metrics.registry.getSingleMetricAsString('gateway_account_messages_per_second')
  const lines = text.split('\n').filter((line) => !line.startsWith('#'))
  expect(lines).toHaveLength(busiestAccountsMax + 1)
  expect(lines[0]).toBe(`gateway_account_messages_per_second{account="${accounts.length}"} ${accounts.length}`)
  expect(lines.at(-1)).toBe('gateway_account_messages_per_second{account="others"} 3')
  const none = await metrics.registry.getSingleMetricAsString('gateway_account_requests_per_second')
  expect(none).not.toContain('account=')
  await stop()
})
