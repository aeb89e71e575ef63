import { hasEverything, type RememberedPrimary, type WitnessedPrimary } from './promotions.ts'

const synchronous: RememberedPrimary = { timeline: 3, synchronous: true, lookedAt: 1000, isRecent: true }
const seen: WitnessedPrimary = { timeline: 3, synchronous: true, lookedAt: 1000 }

test.each<[boolean, string, Partial<RememberedPrimary>, Partial<WitnessedPrimary> | undefined]>([
  [true, 'the standby was synchronous, and a process saw it', {}, {}],
  [true, 'a process saw it, long after its recorded check', { isRecent: false }, {}],
  [true, 'no process saw it, and the check is recent', {}, undefined],
  [true, 'another process checked after this one', { lookedAt: 2000 }, {}],
  [false, 'no process saw it, and the check is old', { isRecent: false }, undefined],
  [false, 'the standby was asynchronous', { synchronous: false }, { synchronous: false }],
  [false, 'the standby was asynchronous, and no process saw it', { synchronous: false }, undefined],
  [false, 'the switch to asynchronous was not replicated', {}, { synchronous: false }],
  [false, 'the switch to synchronous was not replicated', { synchronous: false }, {}],
  [false, 'a confirmed check was not replicated', { lookedAt: 999 }, {}],
  [false, 'another promotion happened in between', { timeline: 2 }, {}],
])('%s: %s', (expected, _, remembered, witness) => {
  expect(hasEverything({ ...synchronous, ...remembered }, witness && { ...seen, ...witness })).toBe(expected)
})
