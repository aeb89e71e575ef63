import { strict as assert } from 'node:assert'
import type { CountedLoginFailure, StoredPorts } from '@gateway/core'
import { until } from '../until.ts'
import type { Contract } from './contract.ts'
import { callersMany } from './shared.ts'

const limit = { failuresMax: 3, seconds: 60 }

const withinLimit = (counted: readonly CountedLoginFailure[]): readonly boolean[] =>
  counted.map(({ isWithinLimit }) => isWithinLimit)

/** What the port `LoginFailures` promises. */
export const loginFailuresContract: Contract<StoredPorts> = {
  'so many failures of one key are within the limit, the last of them and those after it with the time to wait':
    async ({ loginFailures }) => {
      const counted: CountedLoginFailure[] = []
      for (let i = 0; i < 5; i++) counted.push(await loginFailures.count('a', limit))
      assert.deepEqual(withinLimit(counted), [true, true, true, false, false])
      assert.deepEqual([counted[0]?.waitSeconds, counted[1]?.waitSeconds], [0, 0])
      for (const { waitSeconds } of counted.slice(2))
        assert.ok(waitSeconds > 30 && waitSeconds <= limit.seconds, `${waitSeconds}`)
      const [one] = [await loginFailures.count('b', { failuresMax: 1, seconds: 60 })]
      assert.ok(one?.isWithinLimit && one.waitSeconds > 30 && one.waitSeconds <= 60)
    },

  'any text is a key, and no two texts are the same one': async ({ loginFailures }) => {
    const keys = ['', 'a', 'A', 'a ', '\\x61', '"{a}"', 'a,b', 'ä', 'null']
    for (const isWithinLimit of [true, false]) {
      for (const key of keys)
        assert.equal((await loginFailures.count(key, { ...limit, failuresMax: 1 })).isWithinLimit, isWithinLimit, key)
    }
  },

  'a failure counts for its time, and one that was too many does not make it longer': async ({ loginFailures }) => {
    const short = { failuresMax: 2, seconds: 0.4 }
    await loginFailures.count('a', short)
    await loginFailures.count('a', short)
    await until(async () => (await loginFailures.count('a', short)).isWithinLimit)
    await loginFailures.count('b', { failuresMax: 1, seconds: 86_400 })
    const { waitSeconds } = await loginFailures.count('b', { failuresMax: 1, seconds: 60 })
    assert.ok(waitSeconds > 80_000 && waitSeconds <= 86_400, `${waitSeconds}`)
  },

  'failures that are counted at the same time are all counted, and nothing is counted beyond the limit': async ({
    loginFailures,
  }) => {
    const many = { failuresMax: callersMany + 1, seconds: 60 }
    await Promise.all(Array.from({ length: callersMany }, () => loginFailures.count('a', many)))
    assert.deepEqual(withinLimit([await loginFailures.count('a', many), await loginFailures.count('a', many)]), [
      true,
      false,
    ])
    // Had the last one been counted, this limit would be reached, too.
    const more = { ...many, failuresMax: callersMany + 2 }
    assert.equal((await loginFailures.count('a', more)).isWithinLimit, true)
  },
}
