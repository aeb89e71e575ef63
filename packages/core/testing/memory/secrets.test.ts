import type { Account, AccountId } from '@gateway/core/accounts'
import type { PasswordAttempt } from '@gateway/core/people'
import { secondsAfter } from '@gateway/core/time'
import { aNewAccount, memorySecrets, steppingClock } from '@gateway/core/testing'
import { withoutSettings } from '../builders.ts'

test('how many failures, how long they count and how long a pair stays verified are settings', async () => {
  const secrets = memorySecrets({ failuresMax: 2, windowSeconds: 10, verifiedSeconds: 5 })
  const now = steppingClock().now()
  const account: Account = { ...aNewAccount(), ...withoutSettings, id: 7 as AccountId, locked: false, shortCodes: [] }
  const login = { account, password: await secrets.hashPassword('p') }
  const stored = () => Promise.resolve(login)
  const attempt: PasswordAttempt = {
    ...{ login: 'a', password: 'p', network: 'n', address: '', now, stored, remembered: stored },
    mayUse: () => true,
  }
  const wrong = (password: string) => secrets.checkPassword({ ...attempt, password })
  expect(await secrets.checkPassword(attempt)).toBe(login)
  expect([await wrong('x'), await wrong('y'), await wrong('z')]).toEqual(['wrong', 'wrong', { retryAfterSeconds: 10 }])
  expect(await secrets.checkPassword({ ...attempt, now: secondsAfter(now, 4) })).toBe(login)
  expect(await secrets.checkPassword({ ...attempt, now: secondsAfter(now, 9) })).toEqual({ retryAfterSeconds: 1 })
  expect(await secrets.checkPassword({ ...attempt, now: secondsAfter(now, 10) })).toBe(login)
})
