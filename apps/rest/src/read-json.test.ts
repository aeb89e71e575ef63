import { jsonNesting, nestingMax, parseWholeNumbers } from './read-json.ts'

describe('json nesting', () => {
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

  test.each(['[', '"\\', '"\\\\'])('200 kB of %s are scanned in linear time', (piece) => {
    const json = piece.repeat(204_800 / piece.length)
    const before = process.cpuUsage()
    jsonNesting(json)
    expect(process.cpuUsage(before).user / 1000).toBeLessThan(2000)
  })
})

describe('whole numbers', () => {
  test.each([
    ['{"a":1,"b":-2,"c":[0]}', { a: 1, b: -2, c: [0] }],
    [
      '[1.0,1e3,1E3,1.5,-1.0,1e400,1.00000000000000000001]',
      ['1.0', '1e3', '1E3', '1.5', '-1.0', '1e400', '1.00000000000000000001'].map((writtenAs) => ({ writtenAs })),
    ],
    ['{"1.5":"1e3","a":" \\"1.0","b\\\\":1.0,"c":2}', { '1.5': '1e3', a: ' "1.0', 'b\\': { writtenAs: '1.0' }, c: 2 }],
    [`[${'9'.repeat(301)},-${'9'.repeat(400)}]`, [99e300, -9e300]],
    ['true', true],
  ])('%s is read, and numbers that are not whole keep their written form', (json, value) => {
    expect(parseWholeNumbers(json)).toEqual(value)
  })

  test.each([
    ['a number of 200 000 digits', `[${'9'.repeat(200_000)}]`],
    ['a fraction of 200 000 digits', `[1.${'9'.repeat(200_000)}]`],
    ['a string of 200 000 quotes', `["${'\\"'.repeat(100_000)}"]`],
    ['90 000 levels', '['.repeat(90_000) + ']'.repeat(90_000)],
  ])('%s is read quickly', (_title, json) => {
    const before = process.cpuUsage()
    expect(parseWholeNumbers(json)).toBeInstanceOf(Array)
    expect(process.cpuUsage(before).user / 1000).toBeLessThan(1000)
  })
})
