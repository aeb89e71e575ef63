import { strict as assert } from 'node:assert'
import type { StoredPorts } from '@gateway/core'
import { reportedRatesMax, type AccountRate } from '@gateway/core/accounts'
import type { CountedLoginFailure } from '@gateway/core/people'
import { anAccount, anAccountId } from '../builders.ts'
import { until } from '../until.ts'
import { combined, concurrentCallers, type Contract } from './shared.ts'

const firstProcess = '0195e9c4-0000-4000-8000-000000000001'
const secondProcess = '0195e9c4-0000-4000-8000-000000000002'

const aRate = (account: number, requests: number, messages: number): AccountRate => ({
  account: anAccountId(account),
  requests,
  messages,
})

/** Contract of the rates that processes report. */
const reporting: Contract<StoredPorts> = {
  'rates reported by processes are summed, and sorted by requests, then messages, then account': async ({
    accountRates,
  }) => {
    assert.deepEqual(await accountRates.list(30), [])
    await accountRates.report(firstProcess, [aRate(1, 0.5, 0), aRate(2, 2, 100), aRate(3, 2, 7)])
    await accountRates.report(secondProcess, [aRate(1, 4.25, 3), aRate(5, 2, 7), aRate(4, 0, 1000)])
    assert.deepEqual(await accountRates.list(30), [
      aRate(1, 4.75, 3),
      aRate(2, 2, 100),
      aRate(3, 2, 7),
      aRate(5, 2, 7),
      aRate(4, 0, 1000),
    ])
  },

  'a report replaces the previous one of the same process and no other': async ({ accountRates }) => {
    await accountRates.report(firstProcess, [aRate(1, 1, 1), aRate(2, 1, 1)])
    await accountRates.report(secondProcess, [aRate(1, 1, 1)])
    await accountRates.report(firstProcess, [aRate(2, 3, 0)])
    assert.deepEqual(await accountRates.list(30), [aRate(2, 3, 0), aRate(1, 1, 1)])
    await accountRates.report(firstProcess, [])
    assert.deepEqual(await accountRates.list(30), [aRate(1, 1, 1)])
  },

  'reports older than the requested time do not count': async ({ accountRates }) => {
    await accountRates.report(firstProcess, [aRate(1, 1, 1)])
    assert.deepEqual(await accountRates.list(0), [])
    assert.deepEqual(await accountRates.list(30), [aRate(1, 1, 1)])
  },

  'a process can store no more than the maximum number of rates': async ({ accountRates }) => {
    await accountRates.report(
      firstProcess,
      Array.from({ length: reportedRatesMax + 1 }, (_, i) => aRate(i + 1, 1, 0)),
    )
    assert.equal((await accountRates.list(30)).length, reportedRatesMax)
  },

  'concurrent reports of several processes are all stored': async ({ accountRates }) => {
    const processes = Array.from({ length: 20 }, (_, i) => `0195e9c4-0000-4000-8000-0000000001${10 + i}`)
    for (let times = 0; times < 5; times++)
      await Promise.all(processes.map((by) => accountRates.report(by, [aRate(1, 2, 3)])))
    assert.deepEqual(await accountRates.list(30), [aRate(1, 40, 60)])
  },
}

/**
 * Contract of rate limits, which must behave as `useRate` specifies. The counts use up the limit for a whole
 * minute, so that a pause of the machine during a check does not change the result.
 */
const limiting: Contract<StoredPorts> = {
  'of concurrent requests for a minute of the limit one succeeds, and the others learn when to retry': async (
    ports,
  ) => {
    const { id } = await anAccount(ports)
    const takes = Array.from({ length: concurrentCallers }, () => ports.accountRates.take(id, 'recipients', 600, 10))
    const results = await Promise.all(takes)
    assert.equal(results.filter((result) => result === 'taken').length, 1)
    const refused = await ports.accountRates.take(id, 'recipients', 1, 10)
    assert.ok(typeof refused === 'object' && refused.overLimitSeconds > 30 && refused.overLimitSeconds <= 60)
  },

  'accounts have separate limits, and so have requests and recipients': async (ports) => {
    const [one, other] = [await anAccount(ports), await anAccount(ports)]
    for (const { id } of [one, other]) {
      for (const limit of ['requests', 'recipients'] as const) {
        assert.equal(await ports.accountRates.take(id, limit, 600, 10), 'taken')
        assert.notEqual(await ports.accountRates.take(id, limit, 1, 10), 'taken')
      }
    }
  },
}

export const accountRatesContract: Contract<StoredPorts> = combined(reporting, limiting)

const limit = { failuresMax: 3, seconds: 60 }

const withinLimit = (counted: readonly CountedLoginFailure[]): readonly boolean[] =>
  counted.map(({ isWithinLimit }) => isWithinLimit)

export const loginFailuresContract: Contract<StoredPorts> = {
  'failures of one key are within the limit up to its maximum; from the last of them on the waiting time is returned':
    async ({ people: { loginFailures } }) => {
      const counted: CountedLoginFailure[] = []
      for (let i = 0; i < 5; i++) counted.push(await loginFailures.count('a', limit))
      assert.deepEqual(withinLimit(counted), [true, true, true, false, false])
      assert.deepEqual([counted[0]?.waitSeconds, counted[1]?.waitSeconds], [0, 0])
      for (const { waitSeconds } of counted.slice(2))
        assert.ok(waitSeconds > 30 && waitSeconds <= limit.seconds, `${waitSeconds}`)
      const [one] = [await loginFailures.count('b', { failuresMax: 1, seconds: 60 })]
      assert.ok(one.isWithinLimit && one.waitSeconds > 30 && one.waitSeconds <= 60)
    },

  'any text can be a key, and different texts are different keys': async ({ people: { loginFailures } }) => {
    const keys = ['', 'a', 'A', 'a ', '\\x61', '"{a}"', 'a,b', 'ä', 'null']
    for (const isWithinLimit of [true, false]) {
      for (const key of keys)
        assert.equal((await loginFailures.count(key, { ...limit, failuresMax: 1 })).isWithinLimit, isWithinLimit, key)
    }
  },

  'a failure counts for the time of the limit, and a failure beyond the limit does not extend it': async ({
    people: { loginFailures },
  }) => {
    const short = { failuresMax: 2, seconds: 0.4 }
    await loginFailures.count('a', short)
    await loginFailures.count('a', short)
    await until(async () => (await loginFailures.count('a', short)).isWithinLimit)
    await loginFailures.count('b', { failuresMax: 1, seconds: 86_400 })
    const { waitSeconds } = await loginFailures.count('b', { failuresMax: 1, seconds: 60 })
    assert.ok(waitSeconds > 80_000 && waitSeconds <= 86_400, `${waitSeconds}`)
  },

  'concurrent failures are all counted up to the limit, and none beyond it': async ({ people: { loginFailures } }) => {
    const many = { failuresMax: concurrentCallers + 1, seconds: 60 }
    await Promise.all(Array.from({ length: concurrentCallers }, () => loginFailures.count('a', many)))
    assert.deepEqual(withinLimit([await loginFailures.count('a', many), await loginFailures.count('a', many)]), [
      true,
      false,
    ])
    // If the last request had been counted, this limit would be reached too.
    const more = { ...many, failuresMax: concurrentCallers + 2 }
    assert.equal((await loginFailures.count('a', more)).isWithinLimit, true)
  },
}
