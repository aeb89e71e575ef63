import fc from 'fast-check'
import { delimiterOf } from './csv-records.ts'
import { meaningOf } from './number-column.ts'
import { makeArchive } from '../testing/make-workbook.ts'
import { readList } from './read-list.ts'

const listOf = async (text: string | Buffer) => {
  const list = await readList(Buffer.from(text), undefined)
  if (typeof list === 'string') throw new Error(list)
  return list
}

test.each<[file: string, column: string, isCertain: boolean]>([
  ['Account Number,Name,Mobile\n27820000901,Ann,27820000001\n27820000902,Bob,27820000002\n', 'Mobile', true],
  ['Name,ID Number,Cell\nAnn,27820000901,27820000001\nBob,8001015009087,27820000002\n', 'Cell', true],
  ['Name,ID Number,Cell\nAnn,27820000901,0820000001\nBob,27820000902,0820000002\n', 'Cell', true],
  ['Kundennummer;Handynummer\n27820000901;27820000001\n', 'Handynummer', true],
  ['رقم الحساب,رقم الجوال\n27820000901,27820000001\n', 'رقم الجوال', true],
  ['N° de compte;Portable\n27820000901;27820000001\n', 'Portable', true],
  ['Código;Telemóvel\n27820000901;27820000001\n', 'Telemóvel', true],
  ['Rekeningnommer;Selfoon\n27820000901;27820000001\n', 'Selfoon', true],
  ['accountNumber,mobileNumber\n27820000901,27820000001\n', 'mobileNumber', true],
  ['Tilinumero,Kännykkä\n27820000901,27820000001\n', 'Tilinumero', false],
  ['Name,Kännykkä\nAnn,27820000001\n', 'Kännykkä', true],
  ['Mobile,Work phone\n27820000001,27820000901\n', 'Mobile', false],
  ['Mobile 1,Mobile 2\n27820000001,27820000901\n', 'Mobile 1', false],
  ['Phone,Yhteys\n27820000001,27820000901\n', 'Phone', false],
  ['Name,Account Number\nAnn,27820000001\n', 'Account Number', false],
  ['Ann,27820000001,27820000901\n', '2', false],
  ['Ann,27820000001\n', '2', true],
  ['27820000001\n0820000002\n', '1', true],
  ['Name,Note\nAnn,27820000001\nBob,call later\nCid,-\nDan,x\n', 'Note', false],
  ['\n\nName,Mobile\nAnn,27820000001\n', 'Mobile', true],
])('%j has the numbers in column %j, certain: %j', async (file, column, isCertain) => {
  const list = await listOf(file)
  expect([list.columns[list.numberColumn], list.isCertain]).toEqual([column, isCertain])
})

test.each([
  ['Mobile', 'mobile'],
  ['CELL NO.', 'mobile'],
  ['Customer phone', 'phone'],
  ['Number', 'phone'],
  ['Account Number', 'other'],
  ['ID', 'other'],
  ['Name', 'unknown'],
])('the heading %j means %j', (head, meaning) => {
  expect(meaningOf(head)).toBe(meaning)
})

test.each([
  ['full name, first;mobile\nAnn Smith;27820000001\nBob Ray;27820000002\n', ';'],
  ['name;mobile;sum\nAnn;27820000001;12,50\nBob;27820000002;7,00\n', ';'],
  ['Ann, Dr.;27820000001\nBob, Mr.;27820000002\n', ';'],
  ['name,mobile\n"Smith; Ann",27820000001\n', ','],
  ['a\tb, c; d\nx\t27820000001\n', '\t'],
  ['27820000001\n27820000002\n', ','],
  ['a;b;c\nx;y;z\n', ';'],
  ['', ','],
])('%j has the delimiter %j', (text, delimiter) => {
  expect(delimiterOf(text)).toBe(delimiter)
})

test('the delimiter is found even if quoted names contain others, and the number of each row is read', async () => {
  const name = fc.string({ unit: fc.constantFrom(...Array.from('ab ,;\t')), minLength: 1, maxLength: 12 })
  await fc.assert(
    fc.asyncProperty(
      fc.array(name, { minLength: 1, maxLength: 20 }),
      fc.constantFrom(',', ';', '\t'),
      async (names, delimiter) => {
        const rows = names.map((one, at) => `"x${one}"${delimiter}${27820000100 + at}`)
        const list = await listOf(['name', ...rows].join('\n').replace('name', `name${delimiter}mobile`))
        expect(list.rows.map(({ number }) => number)).toEqual(names.map((_, at) => String(27820000100 + at)))
      },
    ),
    { numRuns: 100 },
  )
})

test('U+0000 is removed from a list, and rows are numbered as in the file even after leading blank rows', async () => {
  const list = await listOf('\nName,Mobile\nA\0nn,278200\u000000001\n')
  expect(list.rows).toEqual([{ row: 3, number: '27820000001', fields: ['Ann', '27820000001'] }])
})

const hex = (text: string) => Buffer.from(text, 'hex')
test.each<[string, Buffer]>([
  ['no-bytes', Buffer.alloc(0)],
  ['damaged-workbook', Buffer.concat([hex('504b0304'), Buffer.from('...[Content_Types].xml...xl/workbook.xml')])],
  ['workbook', makeArchive({ 'application/vnd.oasis.opendocument.spreadsheet': '', 'content.xml': '<x/>' })],
  ['workbook', makeArchive({ '[Content_Types].xml': '<Types/>', 'word/document.xml': '<x/>' })],
  ['archive', makeArchive({ 'list.csv': '27820000001' })],
  ['archive', Buffer.concat([hex('504b0304'), Buffer.from('list.csv')])],
  ['archive', hex('1f8b0800')],
  ['old-workbook', hex('d0cf11e0a1b11ae10000')],
  ['pdf', Buffer.from('%PDF-1.7')],
  ['picture', hex('89504e470d0a1a0a')],
  ['picture', hex('ffd8ffe0')],
  ['page', Buffer.from('<html><table><tr><td>27820000001</td></tr></table></html>')],
  ['page', Buffer.from('\ufeff<?xml version="1.0"?><Workbook/>')],
  ['contacts', Buffer.from('BEGIN:VCARD\r\nTEL:+27820000001')],
  ['binary', Buffer.from(Array.from({ length: 500 }, (_, at) => (at * 7) % 32))],
  ['empty', Buffer.from('\n , \n')],
  ['no-rows', Buffer.from('Name,Mobile\n')],
  ['no-numbers', Buffer.from('Name\nAnn\n')],
])('a file that is %s is recognized', async (kind, bytes) => {
  expect(await readList(bytes, undefined)).toBe(kind)
})
