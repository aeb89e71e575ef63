import { jsonNesting, nestingMax } from './json-nesting.ts'

const nested = (depth: number, inside = '') => '['.repeat(depth) + inside + ']'.repeat(depth)

test.each<[string, string, string]>([
  ['exactly as deep as it may be', nested(nestingMax), 'shallow'],
  ['one level more', nested(nestingMax + 1), 'too-deep'],
  ['objects count as well', '{"a":'.repeat(65) + '1' + '}'.repeat(65), 'too-deep'],
  ['levels one after the other', `[${nested(60)},${nested(60)}]`, 'shallow'],
  ['brackets in strings', `["${'['.repeat(1000)}","\\"[[{","\\\\"]`, 'shallow'],
  ['a bracket behind an escaped backslash', `["\\\\",${nested(64)}]`, 'too-deep'],
  ['never closed', '['.repeat(90_000), 'malformed'],
  ['closed too often', nested(100) + ']', 'malformed'],
  ['closed by the wrong one', '['.repeat(100) + '}'.repeat(100), 'malformed'],
  ['a string without an end', '["[[[[', 'malformed'],
  ['no brackets', '"x"', 'shallow'],
])('%s', (_what, json, expected) => {
  expect(jsonNesting(json)).toBe(expected)
})

test.each(['[', '"\\', '"\\\\'])('200 kB of %s are looked through once', (piece) => {
  const json = piece.repeat(204_800 / piece.length)
  const before = process.cpuUsage()
  jsonNesting(json)
  expect(process.cpuUsage(before).user / 1000).toBeLessThan(2000)
})
