import { secondsAfter, type PasswordAttempt } from '@gateway/core'
import { memorySecrets, steppingClock } from '@gateway/core/testing'

test('how many failures, how long they count and how long a pair stays verified are settings', async () => {
  const secrets = memorySecrets({ failuresMax: 2, windowSeconds: 10, verifiedSeconds: 5 })
  const now = steppingClock().now()
  const attempt: PasswordAttempt = {
    login: 'a',
    password: 'p',
    stored: await secrets.hashPassword('p'),
    network: 'n',
    now,
  }
  const wrong = (password: string) => secrets.checkPassword({ ...attempt, password })
  expect(await secrets.checkPassword(attempt)).toBe('right')
  expect([await wrong('x'), await wrong('y'), await wrong('z')]).toEqual(['wrong', 'wrong', { retryAfterSeconds: 10 }])
  expect(await secrets.checkPassword({ ...attempt, now: secondsAfter(now, 4) })).toBe('right')
  expect(await secrets.checkPassword({ ...attempt, now: secondsAfter(now, 5) })).toEqual({ retryAfterSeconds: 5 })
  expect(await secrets.checkPassword({ ...attempt, now: secondsAfter(now, 10) })).toBe('right')
})
