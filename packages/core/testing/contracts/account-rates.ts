import { strict as assert } from 'node:assert'
import { toldRatesMax, type AccountRate, type StoredPorts } from '@gateway/core'
import { anAccountId } from '../ids.ts'
import type { Contract } from './contract.ts'

const one = '0195e9c4-0000-4000-8000-000000000001'
const other = '0195e9c4-0000-4000-8000-000000000002'

const aRate = (account: number, requests: number, messages: number): AccountRate => ({
  account: anAccountId(account),
  requests,
  messages,
})

/** What the port `AccountRates` promises. */
export const accountRatesContract: Contract<StoredPorts> = {
  'what processes tell is summed, the most requests first, then messages, then by account': async ({
    accountRates,
  }) => {
    assert.deepEqual(await accountRates.list(30), [])
    await accountRates.tell(one, [aRate(1, 0.5, 0), aRate(2, 2, 100), aRate(3, 2, 7)])
    await accountRates.tell(other, [aRate(1, 4.25, 3), aRate(5, 2, 7), aRate(4, 0, 1000)])
    assert.deepEqual(await accountRates.list(30), [
      aRate(1, 4.75, 3),
      aRate(2, 2, 100),
      aRate(3, 2, 7),
      aRate(5, 2, 7),
      aRate(4, 0, 1000),
    ])
  },

  'a process replaces what it told, and touches nothing of another': async ({ accountRates }) => {
    await accountRates.tell(one, [aRate(1, 1, 1), aRate(2, 1, 1)])
    await accountRates.tell(other, [aRate(1, 1, 1)])
    await accountRates.tell(one, [aRate(2, 3, 0)])
    assert.deepEqual(await accountRates.list(30), [aRate(2, 3, 0), aRate(1, 1, 1)])
    await accountRates.tell(one, [])
    assert.deepEqual(await accountRates.list(30), [aRate(1, 1, 1)])
  },

  'what was told before the time that is asked for does not count': async ({ accountRates }) => {
    await accountRates.tell(one, [aRate(1, 1, 1)])
    assert.deepEqual(await accountRates.list(0), [])
    assert.deepEqual(await accountRates.list(30), [aRate(1, 1, 1)])
  },

  'of one process no more are kept than it may tell': async ({ accountRates }) => {
    await accountRates.tell(
      one,
      Array.from({ length: toldRatesMax + 1 }, (_, i) => aRate(i + 1, 1, 0)),
    )
    assert.equal((await accountRates.list(30)).length, toldRatesMax)
  },

  'processes that tell at the same time do not keep each other from it': async ({ accountRates }) => {
    const processes = Array.from({ length: 20 }, (_, i) => `0195e9c4-0000-4000-8000-0000000001${10 + i}`)
    for (let times = 0; times < 5; times++)
      await Promise.all(processes.map((by) => accountRates.tell(by, [aRate(1, 2, 3)])))
    assert.deepEqual(await accountRates.list(30), [aRate(1, 40, 60)])
  },
}
