import fc from 'fast-check'
import { csvLine, unguarded } from '@gateway/wire'
import { casesOf } from '@gateway/core/testing'
import { CsvError, delimiterOf, readCsv, recordBytesMax, type CsvRecord } from './csv.ts'

async function all(pieces: readonly string[]): Promise<readonly CsvRecord[]> {
  const records: CsvRecord[] = []
  for await (const record of readCsv(pieces)) records.push(record)
  return records
}

test.each<[title: string, text: string, records: readonly [line: number, ...fields: string[]][]]>([
  ['nothing', '', []],
  [
    'lines that end in any way',
    'a,b\r\nc\nd\re',
    [
      [1, 'a', 'b'],
      [2, 'c'],
      [3, 'd'],
      [4, 'e'],
    ],
  ],
  [
    'a byte order mark and empty lines',
    '\uFEFF\r\n\na\r\n\r\nb\n',
    [
      [3, 'a'],
      [5, 'b'],
    ],
  ],
  [
    'quotes, commas and line breaks in a field',
    '"a ""b"", c\r\nd",e\nf',
    [
      [1, 'a "b", c\r\nd', 'e'],
      [3, 'f'],
    ],
  ],
  [
    'empty fields',
    ',\n"",\n',
    [
      [1, '', ''],
      [2, '', ''],
    ],
  ],
  ['a quote inside of a plain field', 'a"b,c\n', [[1, 'a"b', 'c']]],
])('%s', async (_, text, records) => {
  const expected = records.map(([line, ...fields]) => ({ line, fields }))
  expect(await all([text])).toEqual(expected)
  expect(await all(Array.from(text))).toEqual(expected)
})

test('a quote that is never closed is reported with the line where its record begins', async () => {
  await expect(all(['a\nb\n"c\nd'])).rejects.toEqual(new CsvError(3, 'a quote is not closed'))
  await expect(all(['a\n"', 'x'.repeat(recordBytesMax + 1)])).rejects.toMatchObject({ line: 2 })
})

test.each([
  ['=1+1', "'=1+1"],
  ['+27', "'+27"],
  ['-1+1', "'-1+1"],
  ['-1', '-1'],
  ['-5.0', '-5.0'],
  ["'-1", "''-1"],
  ['－1', "'－1"],
  ['+15551234567', "'+15551234567"],
  ['@x', "'@x"],
  ["'=x", "''=x"],
  ["it's", "it's"],
  ["'quoted'", "'quoted'"],
  ['stop', 'stop'],
])('the text %j is the field %j, and is read back', (text, field) => {
  expect(csvLine([text])).toBe(`${field}\r\n`)
  expect(unguarded(field)).toBe(text)
})

test('numbers and times are written unchanged', () => {
  expect(csvLine([-1.5, '2026-10-18T08:00:00.000Z', 'a,"b"'])).toBe('-1.5,2026-10-18T08:00:00.000Z,"a,""b"""\r\n')
})

test('any texts are written and read back, in pieces of any size', async () => {
  const texts = fc.array(fc.tuple(fc.string({ unit: 'binary' }), fc.string()), { maxLength: 20 })
  await fc.assert(
    fc.asyncProperty(texts, fc.nat({ max: 10 }), async (rows, size) => {
      const text = rows.map((row) => csvLine(row)).join('')
      const pieces = text.match(new RegExp(`[^]{1,${size + 1}}`, 'gu')) ?? []
      const read = (await all(pieces)).map(({ fields }) => fields.map(unguarded))
      // A U+FEFF at the very beginning of the text is dropped as a byte order mark, so the first field lacks it.
      expect(read).toEqual(
        rows.map((row) => [...row]).map((row, i) => (i === 0 ? [row[0]?.replace(/^\uFEFF/, ''), row[1]] : row)),
      )
    }),
    { numRuns: casesOf(100) },
  )
})

test.each([
  ['number,since,text', ','],
  ['number;since;text', ';'],
  ['number\tsince\ttext', '\t'],
  ['27825550101', ','],
  ['27825550101;2026-10-18;STOP, please', ';'],
  ['27825550101,,"Stop; now"', ','],
  ['"27825550101";"a,b"', ';'],
  ['name, first;Number', ';'],
])('the fields of %j are separated by %j', (line, delimiter) => {
  expect(delimiterOf(line, 'number')).toBe(delimiter)
})

test('semicolons and tabs separate fields in any pieces, after a byte order mark and empty lines', async () => {
  for (const delimiter of [';', '\t']) {
    const text = `\uFEFF\r\n\nnumber${delimiter}text\r\n1${delimiter}"a${delimiter} b, c"\r\n`
    const expected = [
      { line: 3, fields: ['number', 'text'] },
      { line: 4, fields: ['1', `a${delimiter} b, c`] },
    ]
    expect(await all([text])).toEqual(expected)
    expect(await all(text.split(''))).toEqual(expected)
  }
})
