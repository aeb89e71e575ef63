import { strict as assert } from 'node:assert'
import { othersFailuresMax, sharedSecondsMax, type StoredPorts } from '@gateway/core'
import { until } from '../until.ts'
import type { Contract } from './contract.ts'
import { callersMany } from './shared.ts'

const processes = ['one', 'two', 'three'].map((_, i) => `00000000-0000-4000-8000-00000000000${i}`)
const [one = '', two = '', three = ''] = processes
const of = (key: string, failures = 1) => ({ key, failures })

/** Of one key: how many failures of others. */
const countOf = (others: Awaited<ReturnType<StoredPorts['loginFailures']['exchange']>>, place = 0): number =>
  (others[place] ?? []).reduce((sum, { failures }) => sum + failures, 0)

/** What the port `LoginFailures` promises. */
export const loginFailuresContract: Contract<StoredPorts> = {
  'a process is told what others have told of the keys that it asks about, each in its place, and nothing of its own':
    async ({ loginFailures }) => {
      assert.deepEqual(await loginFailures.exchange(one, [of('a', 3), of('b')], 60), [[], []])
      assert.deepEqual(await loginFailures.exchange(one, [of('a')], 60), [[]])
      const told = await loginFailures.exchange(two, [of('c'), of('b'), of('a', 2)], 60)
      assert.deepEqual(
        [0, 1, 2].map((place) => countOf(told, place)),
        [0, 1, 4],
      )
      for (const { seconds } of told.flat()) assert.ok(seconds > 30 && seconds <= 60, `${seconds}`)
      const third = await loginFailures.exchange(three, [of('a')], 60)
      assert.equal(countOf(third), 6)
      assert.ok(
        third[0]?.every(({ seconds }, i, all) => seconds <= (all[i - 1]?.seconds ?? 60)),
        'the latest first',
      )
      assert.deepEqual(await loginFailures.exchange(three, [], 60), [])
    },

  'any text is a key, and no two texts are the same one': async ({ loginFailures }) => {
    const keys = ['', 'a', 'A', 'a ', '\\x61', '"{a}"', 'a,b', 'ä', 'null']
    await loginFailures.exchange(
      one,
      keys.map((key) => of(key)),
      60,
    )
    const told = await loginFailures.exchange(
      two,
      keys.map((key) => of(key)),
      60,
    )
    assert.deepEqual(
      keys.map((_, place) => countOf(told, place)),
      keys.map(() => 1),
    )
  },

  'what has been told counts for its time, and for an hour at most': async ({ loginFailures }) => {
    await loginFailures.exchange(one, [of('short')], 0.3)
    await loginFailures.exchange(one, [of('long')], 86_400)
    await until(async () => countOf(await loginFailures.exchange(two, [of('short')], 60)) === 0)
    const [long] = await loginFailures.exchange(two, [of('long')], 60)
    const seconds = long?.[0]?.seconds ?? NaN
    assert.ok(seconds > sharedSecondsMax - 60 && seconds <= sharedSecondsMax, `${seconds}`)
  },

  'many that tell at the same time lose nothing, and of much only the latest is told': async ({ loginFailures }) => {
    const tellers = Array.from({ length: callersMany }, (_, i) => processes[i % 2] ?? '')
    await Promise.all(tellers.map((by) => loginFailures.exchange(by, [of('a'), of('b', 2)], 60)))
    const told = await loginFailures.exchange(three, [of('a'), of('b')], 60)
    assert.deepEqual([countOf(told), countOf(told, 1)], [callersMany, 2 * callersMany])
    for (let i = callersMany; i <= othersFailuresMax; i++) await loginFailures.exchange(one, [of('a')], 120)
    const [latest = []] = await loginFailures.exchange(three, [of('a')], 60)
    assert.equal(latest.length, othersFailuresMax)
    assert.ok((latest[0]?.seconds ?? 0) > 60)
  },
}
