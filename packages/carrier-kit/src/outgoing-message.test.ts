import { isWorthCompleting, messageOutcome, type PartOutcome } from './outgoing-message.ts'

const a = { reference: 'a' }
const b = { reference: 'b' }

// A carrier that has a part of a message never gets it again as a whole (P-5), and it stays charged (ruling 1.4).
test.each<[readonly (PartOutcome | undefined)[], ReturnType<typeof messageOutcome>, boolean]>([
  [[a, b], { accepted: ['a', 'b'] }, true],
  [[a, 'retry'], { partly: ['a'] }, true],
  [[a, undefined], { partly: ['a'] }, true],
  [[a, 'refused'], { partly: ['a'] }, false],
  [[a, 'unknown', 'refused'], 'unknown', false],
  [['unknown', 'retry'], 'unknown', true],
  [['refused', 'retry'], 'refused', false],
  [['refused', undefined], 'refused', false],
  [['opted-out', undefined], 'opted-out', false],
  [[a, 'opted-out'], { partly: ['a'] }, false],
  [['unknown', 'opted-out'], 'unknown', false],
  [['retry', undefined], 'refused-for-now', false],
  [[undefined], 'refused-for-now', false],
  [['repeat'], 'unknown', true],
  [['repeat', 'refused'], 'unknown', false],
  [[{ reference: 'a', isPartial: true }], { partly: ['a'] }, true],
  [[{ reference: 'a', furtherReferences: ['a2'] }, b], { accepted: ['a', 'a2', 'b'] }, true],
])('%j is %j', (parts, outcome, isWorth) => {
  expect([messageOutcome(parts), isWorthCompleting(parts)]).toEqual([outcome, isWorth])
})
