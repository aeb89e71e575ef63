import { retryAfterSeconds } from './answer.ts'

const now = Date.UTC(2026, 10, 22, 12, 0, 0)

test.each([
  ['120', 120],
  [' 0 ', 0],
  ['Sun, 22 Nov 2026 12:01:30 GMT', 90],
  ['Sun, 22 Nov 2026 11:00:00 GMT', 0],
  [['7', '9'], 7],
  ['', undefined],
  ['-1', undefined],
  ['1.5', undefined],
  ['1e3', undefined],
  ['9999999999', 999_999_999],
  ['9'.repeat(400), 999_999_999],
  ['tomorrow', undefined],
  ['2026-11-22T12:01:30Z', undefined],
  ['Sun, 99 Nov 2026 12:01:30 GMT', undefined],
  [undefined, undefined],
])('Retry-After %j is %p seconds', (header, seconds) => {
  expect(retryAfterSeconds(header, now)).toBe(seconds)
})
