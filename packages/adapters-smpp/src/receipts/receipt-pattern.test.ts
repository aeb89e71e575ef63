import fc from 'fast-check'
import { compilePattern, groupsOf } from './receipt-pattern.ts'

const matched = (pattern: string, text: string) => compilePattern(pattern)(text)

/** What JavaScript matches: the whole, and each group. */
function byBacktracking(pattern: string, text: string) {
  const found = new RegExp(pattern, 'isy').exec(text)
  return found === null ? undefined : Object.fromEntries(groupsOf(pattern).map((name) => [name, found.groups?.[name]]))
}

test.each([
  ['id:(?<id>\\S+) .*?stat:(?<stat>\\w+)', 'ID:7a Sub:1 Stat:OK', { id: '7a', stat: 'OK' }],
  ['(?<id>[0-9a-f]{4,8})-(?<err>\\d{3})?', '00FF12-', { id: '00FF12', err: undefined }],
  ['.*\\b(?<stat>ok|failed)\\b', 'not okay\nbut OK', { stat: 'OK' }],
  ['(?:(?<delivered>done)|(?<rejected>no))$', 'no', { delivered: undefined, rejected: 'no' }],
  ['(?<id>[^|]+)\\|(?<stat>[\\w-]+)', 'a b|-x-|', { id: 'a b', stat: '-x-' }],
  ['(?<id>\\d+)', ' 7', undefined],
  ['(?<id>a)$', 'ab', undefined],
])('%s on %j', (pattern, text, expected) => {
  expect(matched(pattern, text)).toEqual(expected)
  expect(byBacktracking(pattern, text)).toEqual(expected)
})

test.each([
  ['(?<id>', 'Invalid'],
  ['(?<id>a)\\1', '\\1 is not used'],
  ['(?=a)(?<id>a)', 'lookahead'],
  ['(?<!a)(?<id>a)', 'lookbehind'],
  ['(?:(?<id>a))*', 'a named group cannot be repeated'],
  ['(?:a*)*(?<id>a)', 'can match nothing'],
  ['(?<id>a?)?', 'can match nothing'],
  ['(?<id>a{1000})', 'more than 100 times'],
  ['(?<id>(?:a{100}){100})', 'it is too long'],
  ['(?<id>\\u0041)', '\\u is not used'],
  ['(?<id>[\\d-z])', 'a range'],
  ['x'.repeat(501), 'at most 500'],
])('%s is refused: %s', (pattern, why) => {
  expect(() => compilePattern(pattern)).toThrow(why)
})

test('what takes backtracking years takes no time', () => {
  const hostile = `${'a'.repeat(1024)}!`
  const begin = performance.now()
  for (const pattern of ['(?:a+)+(?<id>b)', '(?:a|a)*(?<id>b)', '.*.*.*.*.*.*(?<id>b)', '(?:a+|aa)*(?:a?a)*(?<id>b)'])
    expect(matched(pattern, hostile)).toBeUndefined()
  expect(performance.now() - begin).toBeLessThan(2000)
})

describe('generated patterns', () => {
  const atom = fc.constantFrom('a', 'B', '.', '\\d', '\\w', '[ab]', '[^a]', '[a-c1]', '\\s', '7', '\\.')
  const times = fc.constantFrom('', '*', '+', '?', '*?', '+?', '??', '{2}', '{0,2}', '{1,}?')
  const { pattern: piece } = fc.letrec<{ pattern: string }>((tie) => ({
    pattern: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.tuple(atom, times).map(([one, many]) => one + many),
      fc.array(tie('pattern'), { minLength: 1, maxLength: 3 }).map((some) => some.join('')),
      fc.array(tie('pattern'), { minLength: 2, maxLength: 3 }).map((some) => `(?:${some.join('|')})`),
      fc.tuple(tie('pattern'), times).map(([one, many]) => `(?:${one})${many}`),
      fc.constantFrom('^', '$', '\\b', '\\B'),
    ),
  }))
  const isUsed = (one: string): boolean => {
    try {
      compilePattern(one)
      return true
    } catch {
      return false
    }
  }
  const pattern = fc
    .tuple(piece, piece, piece, piece, fc.constantFrom('', '?', '??'))
    .map(([one, two, three, four, many]) => `${one}(?<id>${two})(?:(?<stat>${three})|${four})${many}`)
    .filter(isUsed)
  const text = fc.string({ unit: fc.constantFrom('a', 'A', 'b', 'c', '7', ' ', '.', '\n'), maxLength: 12 })

  test('find what backtracking finds', () => {
    fc.assert(
      fc.property(pattern, text, (one, written) => {
        expect(matched(one, written)).toEqual(byBacktracking(one, written))
      }),
      { numRuns: 500 },
    )
  })
})
