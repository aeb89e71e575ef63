import { compilePattern } from './receipt-pattern.ts'

const matched = (pattern: string, text: string) => compilePattern(pattern).match(text)

/** Returns the match of JavaScript's RegExp: the whole, and each group. */
function byBacktracking(pattern: string, text: string) {
  const found = new RegExp(pattern, 'isy').exec(text)
  return found === null ? undefined : { ...found.groups }
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
  ['(?<id>', 'missing'],
  ['(?<id>a)\\1', 'invalid escape sequence'],
  ['(?=a)(?<id>a)', 'unsupported'],
  ['(?<!a)(?<id>a)', 'invalid named capture'],
  ['(?<id>a)(?<id>b)', 'duplicate'],
  ['(?<id>a{1001})', 'invalid repeat count'],
  ['(?<id>(?:a{100}){100})', 'invalid repeat count'],
  ['x'.repeat(501), 'at most 500'],
])('%s is refused: %s', (pattern, why) => {
  expect(() => compilePattern(pattern)).toThrow(why)
})

test('a pattern that takes backtracking years is matched at once', () => {
  const hostile = `${'a'.repeat(1024)}!`
  const begin = performance.now()
  for (const pattern of ['(?:a+)+(?<id>b)', '(?:a|a)*(?<id>b)', '.*.*.*.*.*.*(?<id>b)', '(?:a+|aa)*(?:a?a)*(?<id>b)'])
    expect(matched(pattern, hostile)).toBeUndefined()
  expect(performance.now() - begin).toBeLessThan(2000)
})
