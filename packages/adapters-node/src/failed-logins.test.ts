import type { AccountId } from '@gateway/core'
import { until } from '@gateway/core/testing'
import { failedLoginReports, type FailedLogins } from './failed-logins.ts'

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
