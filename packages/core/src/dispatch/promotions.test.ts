import { hasEverything, type RememberedPrimary, type WitnessedPrimary } from './promotions.ts'

const synchronous: RememberedPrimary = { timeline: 3, synchronous: true, lookedAt: 1000, isRecent: true }
const seen: WitnessedPrimary = { timeline: 3, synchronous: true, lookedAt: 1000 }

test.each<[boolean, string, Partial<RememberedPrimary>, Partial<WitnessedPrimary> | undefined]>([
  [true, 'the standby was synchronous, and a process saw it', {}, {}],
  [true, 'the same, long ago: the process was there', { isRecent: false }, {}],
  [true, 'nobody was there, and the look is young', {}, undefined],
  [true, 'another process looked after this one did', { lookedAt: 2000 }, {}],
  [false, 'nobody was there, and the look is old', { isRecent: false }, undefined],
  [false, 'the standby was asynchronous', { synchronous: false }, { synchronous: false }],
  [false, 'the standby was asynchronous, and nobody was there', { synchronous: false }, undefined],
  [false, 'it had stopped being synchronous, which did not arrive', {}, { synchronous: false }],
  [false, 'it became synchronous, which did not arrive', { synchronous: false }, {}],
  [false, 'a look that was answered did not arrive', { lookedAt: 999 }, {}],
  [false, 'another promotion lies between', { timeline: 2 }, {}],
])('%s: %s', (expected, _, remembered, witness) => {
  expect(hasEverything({ ...synchronous, ...remembered }, witness && { ...seen, ...witness })).toBe(expected)
})
