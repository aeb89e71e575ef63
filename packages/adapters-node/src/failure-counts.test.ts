import type { StoredPorts } from '@gateway/core'
import { loginFailuresContract } from '@gateway/core/contracts'
import { failureCounts } from './failure-counts.ts'

describe('the contract of the port LoginFailures', () => {
  test.each(Object.entries(loginFailuresContract))('%s', (_, check) =>
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

test('keys do not notice each other, and of more than the bound the one that failed longest ago is forgotten', async () => {
  const count = at(2)
  for (const key of ['a', 'b', 'c']) expect(await count(key, 0, 1)).toBe('counted')
  expect(await count('b', 1, 1)).toBe(59)
  expect(await count('a', 1, 1)).toBe('counted')
})
