import type { StoredPorts } from '@gateway/core'
import type { AccountId } from '@gateway/core/accounts'
import { storedPortContracts } from '@gateway/core/contracts'
import { until } from '@gateway/core/testing'
import { failedLoginReports, failureCounts, recentCounts, type FailedLogins } from './failed-logins.ts'

const [anna, bob] = [1 as AccountId, 2 as AccountId]

function told(settings: Parameters<typeof failedLoginReports>[1] = {}) {
  const all: FailedLogins[] = []
  return { all, reports: failedLoginReports((failed) => all.push(failed), settings) }
}

test('the first failure of an account from a network is told at once, and no more of them within the minute', () => {
  const { all, reports } = told()
  for (let i = 0; i < 900; i++) reports.failed('u', anna, 'n')
  reports.failed('u', anna, 'm')
  reports.failed('v', bob, 'n')
  expect(all).toEqual([
    { account: anna, network: 'n', failures: 1 },
    { account: anna, network: 'm', failures: 1 },
    { account: bob, network: 'n', failures: 1 },
  ])
})

test('what came after the first is told together when its time is over, and nothing if nothing came', async () => {
  const { all, reports } = told({ seconds: 0.05 })
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

test('names that nobody has are told together, by network', () => {
  const { all, reports } = told()
  for (let i = 0; i < 900; i++) reports.failed(`made up ${i}`, null, 'n')
  expect(all).toEqual([{ account: null, network: 'n', failures: 1 }])
})

test('what is refused without a look-up counts for the account of the failure before it, or is not told', async () => {
  const { all, reports } = told({ seconds: 0.05 })
  reports.failedAgain('nobody yet', 'n')
  reports.failed('u', anna, 'n')
  for (let i = 0; i < 5; i++) reports.failedAgain('u', 'n')
  await until(() => all.length === 2)
  expect(all).toEqual([
    { account: anna, network: 'n', failures: 1 },
    { account: anna, network: 'n', failures: 5 },
  ])
})

test('of more networks than the bound the rest is told together: a flood writes a bounded number of lines', () => {
  const { all, reports } = told({ windowsMax: 3 })
  for (let i = 0; i < 900; i++) reports.failed('u', anna, `n ${i}`)
  expect(all.map(({ account, network }) => [account, network])).toEqual([
    [anna, 'n 0'],
    [anna, 'n 1'],
    [anna, 'n 2'],
    [null, 'others'],
  ])
})

describe('the contract of the port LoginFailures', () => {
  test.each(Object.entries(storedPortContracts.loginFailures))('%s', (_, check) =>
    check({ loginFailures: failureCounts() } as unknown as StoredPorts),
  )
})

/** Counts by a clock in seconds. */
function at(keysMax?: number) {
  let now = 0
  const failures = failureCounts(keysMax, () => now * 1000)
  return async (key: string, seconds: number, failuresMax: number) => {
    now = seconds
    const { isWithinLimit, waitSeconds } = await failures.count(key, { failuresMax, seconds: 60 })
    return isWithinLimit ? 'counted' : waitSeconds
  }
}

test('so many failures within any minute, not only within one that begins with the first of them', async () => {
  const count = at()
  const found: unknown[] = []
  for (const seconds of [0, 30, 59, 59.5, 60, 61, 89, 90, 91]) found.push(await count('anna', seconds, 3))
  expect(found).toEqual(['counted', 'counted', 'counted', 0.5, 'counted', 29, 1, 'counted', 28])
})

test('failures that are too many do not make the wait longer', async () => {
  const count = at()
  await count('anna', 0, 1)
  for (let i = 0; i < 100; i++) expect(await count('anna', 0.5, 1)).toBe(59.5)
  expect(await count('anna', 60, 1)).toBe('counted')
})

test('the wait is never longer than the limit says, whatever fraction of a millisecond the clock shows', async () => {
  for (let fraction = 0; fraction < 1; fraction += 0.001) {
    const failures = failureCounts(10, () => 15_000 + fraction)
    expect(await failures.count('anna', { failuresMax: 1, seconds: 60 })).toEqual({
      isWithinLimit: true,
      waitSeconds: 60,
    })
  }
})

test('keys do not notice each other, and of more than the bound the one that failed longest ago is forgotten', async () => {
  const count = at(2)
  for (const key of ['a', 'b', 'c']) expect(await count(key, 0, 1)).toBe('counted')
  expect(await count('b', 1, 1)).toBe(59)
  expect(await count('a', 1, 1)).toBe('counted')
})

test('counts start again their time after the first', () => {
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

test('of more keys than the bound the one counted longest ago is forgotten', () => {
  const counts = recentCounts(60, 2)
  for (const key of ['a', 'b', 'a', 'c']) counts.add(key)
  expect(['a', 'b', 'c'].map((key) => counts.of(key))).toEqual([2, 0, 1])
})
