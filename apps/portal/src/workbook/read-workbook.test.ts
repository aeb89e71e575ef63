import { makeArchive, makeWorkbook } from '../../testing/make-workbook.ts'
import { readList } from '../read-list.ts'
import { formatOfCode, numberText } from './cell-formats.ts'
import { recordsOfWorkbook } from './read-workbook.ts'

const mebibyte = 1024 * 1024
const inline = (text: string, at = ''): string => `<c ${at} t="inlineStr"><is><t>${text}</t></is></c>`

test('the first visible sheet is read: shared and inline texts, numbers, results of formulas, gaps', async () => {
  const rows = `<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c>${inline('Sum', 'r="D1"')}</row>
    <row r="3"><c r="A3" t="s"><v>2</v></c><c r="B3"><v>2.7820000001E10</v></c><c r="C3" t="b"><v>1</v></c>
      <c r="D3" t="str"><f>A1&amp;"x"</f><v>six</v></c></row>
    <row><c><v>0.30000000000000004</v></c><c/><c t="e"><v>#N/A</v></c><c><f>1+1</f><v>2</v></c></row>`
  const strings = [
    '<t>Name</t>',
    '<t>Mobile</t>',
    '<r><t>An</t></r><r><t xml:space="preserve">n &lt;3</t></r><rPh><t>x</t></rPh>',
  ]
  expect(await recordsOfWorkbook(makeWorkbook({ rows, strings }))).toEqual([
    ['Name', 'Mobile', '', 'Sum'],
    [],
    ['Ann <3', '27820000001', 'TRUE', 'six'],
    ['0.3', '', '', '2'],
  ])
})

test('a list in a workbook is read like one in a text file, and rows keep their numbers', async () => {
  const rows = `<row r="2">${inline('Name', 'r="A2"')}${inline('Mobile')}</row>
    <row r="5">${inline('Ann', 'r="A5"')}<c><v>27820000001</v></c></row>
    <row r="6">${inline('Bob', 'r="A6"')}${inline('0820000002')}</row>`
  const list = await readList(makeWorkbook({ rows }), '27' as never)
  expect(list).toMatchObject({
    ...{ columns: ['Name', 'Mobile'], numberColumn: 1, isCertain: true },
    rows: [
      { row: 5, number: '27820000001', fields: ['Ann', '27820000001'] },
      { row: 6, number: '27820000002', changed: true },
    ],
  })
})

test.each([
  ['0000000000', '660123456', '0660123456'],
  ['dd.mm.yyyy', '46351', '2026-11-25'],
  ['dd.mm.yyyy hh:mm', '46351.584722222222', '2026-11-25 14:02'],
  ['h:mm AM/PM', '0.5', '12:00'],
  ['[Red]#,##0.00', '1234.5', '1234.5'],
  ['"Day" 0', '3', '3'],
  ['General', '4.3660123456E10', '43660123456'],
  ['0%', 'x', 'x'],
])('in the format %j the number %s is %j', (code, stored, text) => {
  expect(numberText(stored, formatOfCode(code), false)).toBe(text)
})

test('dates of a workbook from a Macintosh count from 1904', async () => {
  const rows = '<row><c s="1"><v>44889</v></c></row>'
  expect(await recordsOfWorkbook(makeWorkbook({ rows, is1904: true }))).toEqual([['2026-11-25']])
})

test.each<readonly [string, Buffer, string]>([
  ['an archive of something else', makeArchive({ 'word/document.xml': '<w/>' }), 'not-a-workbook'],
  ['a workbook that is cut', makeWorkbook({ rows: '<row/>' }).subarray(0, 900), 'damaged-workbook'],
  ['a sheet whose XML is broken', makeWorkbook({ rows: '<row><c>' }), 'damaged-workbook'],
  [
    'an entity of a document type',
    makeWorkbook({ rows: '<row><c t="str"><v>&evil;</v></c></row>' }),
    'damaged-workbook',
  ],
  ['no cells', makeWorkbook({ rows: '' }), 'empty'],
  ['a row far below', makeWorkbook({ rows: '<row r="1048576"><c><v>1</v></c></row>' }), 'too-many'],
  ['a column far right', makeWorkbook({ rows: '<row><c r="XFD1"><v>1</v></c></row>' }), 'too-many-columns'],
  [
    'a sheet of 200 MB',
    makeWorkbook({ rows: '', entries: { 'xl/worksheets/sheet2.xml': `<a>${' '.repeat(200 * mebibyte)}</a>` } }),
    'large-workbook',
  ],
  [
    'a sheet that claims to be small',
    makeWorkbook({ rows: '<row/>'.repeat(10_000), claimed: { 'xl/worksheets/sheet2.xml': 100 } }),
    'damaged-workbook',
  ],
  [
    'a long text in each of many cells',
    makeWorkbook({ rows: '<row><c t="s"><v>0</v></c></row>'.repeat(1000), strings: [`<t>${'x'.repeat(30_000)}</t>`] }),
    'large-workbook',
  ],
])('%s is refused within the limits', async (_what, bytes, problem) => {
  expect(await recordsOfWorkbook(bytes)).toBe(problem)
})

test('macros and other parts are never unpacked', async () => {
  const entries = { 'xl/vbaProject.bin': 'x'.repeat(mebibyte), 'xl/media/image1.png': 'x' }
  const claimed = { 'xl/vbaProject.bin': 1, 'xl/media/image1.png': 4_000_000_000 }
  const workbook = makeWorkbook({ rows: '<row><c><v>27820000001</v></c></row>', entries, claimed })
  expect(await recordsOfWorkbook(workbook)).toEqual([['27820000001']])
})

test('other requests are served while a large sheet is read', async () => {
  const row = `<row>${inline('Ann')}<c><v>27820000001</v></c><c><v>12.5</v></c></row>`
  const bytes = makeWorkbook({ rows: row.repeat(20_000) })
  let longest = 0
  let last = performance.now()
  const timer = setInterval(() => {
    longest = Math.max(longest, performance.now() - last)
    last = performance.now()
  }, 1)
  const records = await recordsOfWorkbook(bytes)
  clearInterval(timer)
  expect(records).toHaveLength(20_000)
  expect(longest).toBeLessThan(2000)
})
