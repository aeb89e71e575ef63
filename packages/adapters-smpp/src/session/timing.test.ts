import { livenessStep } from './liveness.ts'
import { reconnectDelay } from './link.ts'

test.each([
  ['it has just spoken', 0, undefined, 14_999, 'nothing'],
  ['it is silent', 0, undefined, 15_000, 'enquire'],
  ['it was asked a moment ago', 0, 15_000, 29_999, 'nothing'],
  ['it has not answered', 0, 15_000, 30_000, 'dead'],
  ['it has spoken since it was asked', 16_000, 15_000, 31_000, 'enquire'],
] as const)('%s', (_, receivedAt, enquiredAt, now, step) => {
  expect(livenessStep(receivedAt, enquiredAt, 15_000, now)).toBe(step)
})

test('the wait before reconnecting doubles up to its maximum, and half of it is random', () => {
  expect([1, 2, 3, 6, 100].map((failures) => reconnectDelay(failures, 1, 30, 1))).toEqual([1, 2, 4, 30, 30])
  expect(reconnectDelay(3, 1, 30, 0)).toBe(2)
})
