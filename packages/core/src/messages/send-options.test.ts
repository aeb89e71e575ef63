import { priorityOf, readFlash, readPriority } from './send-options.ts'

test.each([
  [[undefined, null, '', ' '], undefined],
  [['0', ' 0 '], 0],
  [['3', '\n3'], 3],
  [['4', '-1', '1.5', '01', '1e0', 'x', '\u0000'], 'unusable'],
] as const)('the priorities %j are %j', (given, priority) => {
  for (const each of given) expect(readPriority(each)).toBe(priority)
})

test('a priority is one of 0 to 3', () => {
  expect([0, 1, 2, 3, 4, -1, 0.5, NaN].map(priorityOf)).toEqual([
    0,
    1,
    2,
    3,
    undefined,
    undefined,
    undefined,
    undefined,
  ])
})

test.each([
  [[undefined, null, '', ' '], undefined],
  [['true', 'TRUE', 'tRue', ' 1 '], true],
  [['false', 'FALSE', '0'], false],
  [['truee', 'yes', '2', 'null', '\u0000'], 'unusable'],
] as const)('flash of %j is %j', (given, flash) => {
  for (const each of given) expect(readFlash(each)).toBe(flash)
})
