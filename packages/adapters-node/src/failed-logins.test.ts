import type { StoredPorts } from '@gateway/core'
import type { AccountId } from '@gateway/core/accounts'
import { loginFailuresContract } from '@gateway/core/contracts'
import { until } from '@gateway/core/testing'
import { failedLoginReports, failureCounts, recentCounts, type FailedLogins } from './failed-logins.ts'

const [anna, bob] = [1 as AccountId, 2 as AccountId]

function recordReports(settings: Parameters<typeof failedLoginReports>[1] = {}) {
  const all: FailedLogins[] = []
  return { all, reports: failedLoginReports((failed) => all.push(failed), settings) }
}

test('the first failure of an account from a network is reported at once, and no further one within the minute', () => {
  const { all, reports } = recordReports()
  for (let i = 0; i < 900; i++) reports.failed('u', anna, 'n')
  reports.failed('u', anna, 'm')
  reports.failed('v', bob, 'n')
  expect(all).toEqual([
    { account: anna, network: 'n', failures: 1 },
    { account: anna, network: 'm', failures: 1 },
    { account: bob, network: 'n', failures: 1 },
  ])
})

test('failures after the first are reported together when the minute is over, and nothing if there were none', async () => {
  const { all, reports } = recordReports({ seconds: 0.05 })
  for (let i = 0; i < 900; i++) reports.failed('u', anna, 'n')
  reports.failed('v', bob, 'n')
  await until(() => all.length === 3)
  expect(all[2]).toEqual({ account: anna, network: 'n', failures: 899 })
  reports.failed('x', null, 'n')
  await until(() => {
    if (all.length < 5) reports.failed('u', bob, 'n')
    return all.length >= 5
  })
  expect(all.filter(({ account, network }) => account === anna && network === 'n')).toHaveLength(2)
})

test('failures with unknown names are reported together, by network', () => {
  const { all, reports } = recordReports()
  for (let i = 0; i < 900; i++) reports.failed(`made up ${i}`, null, 'n')
  expect(all).toEqual([{ account: null, network: 'n', failures: 1 }])
})

test('a refusal without a look-up counts for the account of the previous failure, if there was one', async () => {
  const { all, reports } = recordReports({ seconds: 0.05 })
  reports.failedAgain('nobody yet', 'n')
  reports.failed('u', anna, 'n')
  for (let i = 0; i < 5; i++) reports.failedAgain('u', 'n')
  await until(() => all.length === 2)
  expect(all).toEqual([
    { account: anna, network: 'n', failures: 1 },
    { account: anna, network: 'n', failures: 5 },
  ])
})

test('beyond the maximum number of networks the others are reported together, so that a flood writes a limited number of lines', () => {
  const { all, reports } = recordReports({ windowsMax: 3 })
  for (let i = 0; i < 900; i++) reports.failed('u', anna, `n ${i}`)
  expect(all.map(({ account, network }) => [account, network])).toEqual([
    [anna, 'n 0'],
    [anna, 'n 1'],
    [anna, 'n 2'],
    [null, 'others'],
  ])
})

describe('the contract of the port LoginFailures', () => {
  test.each(Object.entries(loginFailuresContract))('%s', (_, check) =>
    check({ people: { loginFailures: failureCounts() } } as unknown as StoredPorts),
  )
})

/** Returns a counter with a clock in seconds. */
function at(keysMax?: number) {
  let now = 0
  const failures = failureCounts(keysMax, () => now * 1000)
  return async (key: string, seconds: number, failuresMax: number) => {
    now = seconds
    const { isWithinLimit, waitSeconds } = await failures.count(key, { failuresMax, seconds: 60 })
    return isWithinLimit ? 'counted' : waitSeconds
  }
}

test('failures are counted within every minute, not only within one that begins with the first of them', async () => {
  const count = at()
  const found: unknown[] = []
  for (const seconds of [0, 30, 59, 59.5, 60, 61, 89, 90, 91]) found.push(await count('anna', seconds, 3))
  expect(found).toEqual(['counted', 'counted', 'counted', 0.5, 'counted', 29, 1, 'counted', 28])
})

test('failures beyond the limit do not extend the waiting time', async () => {
  const count = at()
  await count('anna', 0, 1)
  for (let i = 0; i < 100; i++) expect(await count('anna', 0.5, 1)).toBe(59.5)
  expect(await count('anna', 60, 1)).toBe('counted')
})

test('the waiting time never exceeds the limit, at any fraction of a millisecond', async () => {
  for (let fraction = 0; fraction < 1; fraction += 0.001) {
    const failures = failureCounts(10, () => 15_000 + fraction)
    expect(await failures.count('anna', { failuresMax: 1, seconds: 60 })).toEqual({
      isWithinLimit: true,
      waitSeconds: 60,
    })
  }
})

test('keys are independent, and beyond the maximum the key with the oldest failure is forgotten', async () => {
  const count = at(2)
  for (const key of ['a', 'b', 'c']) expect(await count(key, 0, 1)).toBe('counted')
  expect(await count('b', 1, 1)).toBe(59)
  expect(await count('a', 1, 1)).toBe('counted')
})

test('a count starts again when its time after the first event is over', () => {
  let now = 0
  const counts = recentCounts(60, 10, () => now)
  counts.add('n')
  now = 59_999
  counts.add('n')
  expect([counts.of('n'), counts.of('m')]).toEqual([2, 0])
  now = 60_000
  expect(counts.of('n')).toBe(0)
  counts.add('n')
  expect(counts.of('n')).toBe(1)
})

test('beyond the maximum number of keys the one counted longest ago is forgotten', () => {
  const counts = recentCounts(60, 2)
  for (const key of ['a', 'b', 'a', 'c']) counts.add(key)
  expect(['a', 'b', 'c'].map((key) => counts.of(key))).toEqual([2, 0, 1])
})
