import { setImmediate } from 'node:timers/promises'
import { until } from '@gateway/core/testing'
import { Writable } from 'node:stream'
import { textOf } from '../testing/operate.ts'
import { createOutput, writerTo, type Row } from './output.ts'

interface Wanted {
  readonly json?: boolean
  readonly outIsTerminal?: boolean
  readonly errIsTerminal?: boolean
  readonly columns?: number
}

const setUp = ({ json = false, outIsTerminal = false, errIsTerminal = false, columns }: Wanted = {}) => {
  const [out, err] = [textOf(outIsTerminal, columns), textOf(errIsTerminal)]
  return { out, err, output: createOutput(writerTo(out.stream), writerTo(err.stream), json) }
}

const row = (id: number, name: string): Row => ({ json: { id, name }, cells: [String(id), name] })
const many = Array.from({ length: 1200 }, (_, at) => row(at, 'x'))

test('rows are columns for a person, without trailing blanks', async () => {
  const { out, output } = setUp()
  await output.rows(['ID', 'NAME'], [row(1, 'a'), row(20, '')])
  expect(out.text()).toBe('ID  NAME\n1   a\n20\n')
})

test.each([0, 1, 1200])('%d rows are one JSON document', async (count) => {
  const { out, output } = setUp({ json: true })
  await output.rows(['ID', 'NAME'], many.slice(0, count))
  const rows = many.slice(0, count).map(({ json }) => json)
  expect(JSON.parse(out.text())).toEqual({ rows, total: count })
})

test.each([0, 1, 1200])(
  '%d rows with sums are one JSON document; for a person the sums are the last row',
  async (count) => {
    const rows = many.slice(0, count)
    const json = setUp({ json: true })
    await json.output.rows(['ID', 'NAME'], rows, () => ({ json: { sums: { id: -1 } }, cells: ['-1', 'all'] }))
    expect(JSON.parse(json.out.text())).toEqual({ rows: rows.map((one) => one.json), total: count, sums: { id: -1 } })
    const text = setUp()
    await text.output.rows(['ID', 'NAME'], rows, () => ({ json: { sums: { id: -1 } }, cells: ['-1', 'all'] }))
    expect(text.out.text().trimEnd().split('\n').at(-1)).toMatch(/^-1 +all$/)
  },
)

test.each<[title: string, columns: number | undefined, width: number]>([
  ['the widest columns are cut', 46, 46],
  ['one that does not tell its width has 80', undefined, 80],
])('a table fits its terminal: %s', async (_, columns, width) => {
  const row = { json: {}, cells: ['1', 'w'.repeat(60), 'x'.repeat(65)] }
  const { out, output } = setUp({ outIsTerminal: true, ...(columns === undefined ? {} : { columns }) })
  await output.rows(['ID', 'NAME', 'X'], [row])
  for (const line of out.text().trimEnd().split('\n')) expect(line.length).toBeLessThanOrEqual(width)
  expect(out.text()).toContain('…')
  expect(
    Math.max(
      ...out
        .text()
        .split('\n')
        .map(({ length }) => length),
    ),
  ).toBe(width)
  const piped = setUp()
  await piped.output.rows(['ID', 'NAME', 'X'], [row])
  expect(piped.out.text()).toContain('w'.repeat(60))
  expect(piped.out.text()).toContain('x'.repeat(60))
})

test('a table that fits is not cut, and a cut never divides a character', async () => {
  const { out, output } = setUp({ outIsTerminal: true, columns: 24 })
  const letters = 'abcdefghijklmnopqr'
  await output.rows(['ID', 'NAME'], [row(1, `${letters}st`)])
  await output.rows(['ID', 'NAME'], [row(1, `${letters}😀😀`)])
  expect(out.text()).toBe(`ID  NAME\n1   ${letters}st\nID  NAME\n1   ${letters}…\n`)
})

test('characters that fill two columns of a terminal, or none, are counted correctly', async () => {
  const { out, output } = setUp({ outIsTerminal: true, columns: 27 })
  const cells = (name: string) => ({ json: {}, cells: ['1', name, 'x'] })
  const name = '山田太郎山田太郎山田'
  await output.rows(['ID', 'NAME', 'X'], [cells(name), cells('e\u0301e\u0301'), cells(`${name}山`)])
  const blanks = ' '.repeat(18)
  expect(out.text()).toBe(
    `ID  NAME${blanks}X\n1   ${name}  x\n1   e\u0301e\u0301${blanks}  x\n1   ${name.slice(0, -1)}…   x\n`,
  )
})

test('if columns would be too narrow to read, each row is a block without its empty cells', async () => {
  const name = 'n'.repeat(15)
  const rows = many
    .slice(0, 600)
    .map(({ json }, at) => ({ json, cells: [String(at), at === 1 ? '' : name, name, name] }))
  const { out, output } = setUp({ outIsTerminal: true, columns: 40 })
  const sums = () => ({ cells: ['', '', 'all'] })
  await output.rows(['ID', 'NAME', 'OTHER NAME', 'X'], rows, sums)
  const blocks = out.text().trimEnd().split('\n\n')
  expect(blocks).toHaveLength(601)
  expect(blocks[0]).toBe(`ID          0\nNAME        ${name}\nOTHER NAME  ${name}\nX           ${name}`)
  expect(blocks[1]).toBe(`ID          1\nOTHER NAME  ${name}\nX           ${name}`)
  expect(blocks.at(-1)).toBe('OTHER NAME  all')
  const empty = setUp({ outIsTerminal: true, columns: 10 })
  await empty.output.rows(['SOME NAME', 'OTHER NAME'], [])
  expect(empty.out.text()).toBe('SOM…  OTH…\n')
})

test('long texts are folded between words, and within a word only if it is longer than its line', async () => {
  const { out, output } = setUp({ outIsTerminal: true, columns: 50 })
  const advice = `stop it; then on it: ${'x'.repeat(25)} and start it again`
  await output.rows(['STATE', 'SAYS', 'WHAT TO DO'], [{ json: {}, cells: ['bad', 'old-primary, timeline 1', advice] }], undefined, 'folded') // prettier-ignore
  expect(out.text()).toBe(
    [
      'STATE  SAYS                   WHAT TO DO',
      'bad    old-primary, timeline  stop it; then on it:',
      `       1                      ${'x'.repeat(20)}`,
      '                              xxxxx and start it',
      '                              again\n',
    ].join('\n'),
  )
})

test('a name cannot control the terminal', async () => {
  const { out, output } = setUp()
  await output.rows(['ID', 'NAME'], [row(1, '\u001b[2J\nroot')])
  expect(out.text()).toBe('ID  NAME\n1   ?[2J?root\n')
})

const deceiving = 'a\u202eb\u2066c\u200bd\u200fe\ufefff\u2028g\u00adh\u009b31mi\u001b[2Jj\u007fk\u{e0041}l'
const shown = 'a<U+202E>b<U+2066>c<U+200B>d<U+200F>e<U+FEFF>f<U+2028>g<U+00AD>h?31mi?[2Jj?k<U+E0041>l'

test('no output lets a stored text control the terminal or hide its content', async () => {
  const { out, err, output } = setUp({ outIsTerminal: true, errIsTerminal: true, columns: 200 })
  await output.rows(['NAME'], [{ json: {}, cells: [deceiving] }])
  await output.stream(oneByOne({ json: {}, text: deceiving }))
  output.result({}, `${deceiving}\nnext line`)
  output.one({}, deceiving)
  output.all([], deceiving)
  output.line(deceiving)
  output.frame(() => deceiving)
  await output.csv(['name'], [[deceiving]])
  expect(out.text().split(shown)).toHaveLength(9)
  expect(out.text()).toContain(`${shown}\nnext line\n`)
  expect(out.text().replaceAll('\u001b[H\u001b[2J', '')).not.toMatch(/[^\n -~]/)
  output.note(deceiving)
  output.progress(deceiving)
  expect(err.text().replaceAll('\r\u001b[K', '')).toBe(`${shown}\n${shown}`)
})

test('a program gets a text as stored, with JSON escapes, and a file gets it unchanged', async () => {
  const { out, output } = setUp({ json: true })
  output.result({ name: deceiving })
  expect(out.text()).not.toMatch(/[^\n -~]/)
  expect(JSON.parse(out.text())).toEqual({ name: deceiving })
  const rows = setUp({ json: true })
  await rows.output.rows(['NAME'], [{ json: { name: deceiving }, cells: [] }])
  expect(rows.out.text()).not.toMatch(/[^\n -~]/)
  expect(JSON.parse(rows.out.text())).toEqual({ rows: [{ name: deceiving }], total: 1 })
  const file = setUp()
  await file.output.csv(['name'], [[deceiving]])
  expect(file.out.text()).toContain(deceiving)
})

test('letters, marks and pictures of every script are shown unchanged', async () => {
  const { out, output } = setUp()
  const text = 'Zoë, שלום, مرحبا, नमस्ते, 한국어, ❤️, 👩, e\u0301'
  await output.rows(['NAME'], [{ json: {}, cells: [text] }])
  expect(out.text()).toBe(`NAME\n${text}\n`)
})

async function* oneByOne<One>(one: One): AsyncIterable<One> {
  await setImmediate()
  yield one
}

test('the first rows are printed before the last have been read', async () => {
  const { out, output } = setUp()
  let go = (): void => undefined
  const waits = new Promise<void>((resolve) => (go = resolve))
  async function* slow(): AsyncIterable<Row> {
    yield* many
    await waits
    yield row(1200, 'last')
  }
  const done = output.rows(['ID', 'NAME'], slow())
  await until(() => out.text().includes('\n999 '))
  expect(out.text()).not.toContain('last')
  go()
  await done
  expect(out.text()).toContain('last')
})

test('reading stops once nobody reads the output', async () => {
  let read = 0
  async function* endless(): AsyncIterable<Row> {
    for (;;) {
      yield row(++read, 'x')
      await setImmediate()
    }
  }
  const gone = new Writable({ write: (_chunk, _encoding, done) => done(new Error('gone')) })
  await createOutput(writerTo(gone), writerTo(textOf().stream), true).rows(['ID', 'NAME'], endless())
  expect(read).toBeLessThan(10)
})

test('progress is shown on a terminal only, and cleared by later output', async () => {
  const shown = setUp({ errIsTerminal: true })
  shown.output.progress('half')
  shown.output.note('a note')
  await shown.output.rows(['ID', 'NAME'], many)
  expect(shown.err.text()).toBe(
    '\r\u001b[Khalf\r\u001b[Ka note\n\r\u001b[K500 rows\r\u001b[K\r\u001b[K1000 rows\r\u001b[K',
  )
  expect(shown.out.text()).not.toContain('\u001b')

  for (const hidden of [setUp(), setUp({ json: true, errIsTerminal: true })]) {
    hidden.output.progress('half')
    await hidden.output.rows(['ID', 'NAME'], many)
    expect(hidden.err.text()).toBe('')
  }
})

test('rows that are printed on the terminal need no progress', async () => {
  const { err, output } = setUp({ outIsTerminal: true, errIsTerminal: true })
  await output.rows(['ID', 'NAME'], many)
  expect(err.text()).toBe('')
})

test('after a second long work is reported as running, until its result or failure', async () => {
  const { err, output } = setUp({ errIsTerminal: true })
  expect(await output.during('Work', Promise.resolve(7))).toBe(7)
  expect(err.text()).toBe('')
  await output.during(
    'Work',
    until(() => err.text().includes('Work … 1 s')),
  )
  expect(err.text().endsWith('\r\u001b[K')).toBe(true)
  await expect(output.during('Work', Promise.reject(new Error('no')))).rejects.toThrow('no')
})

test('a program gets the result without remarks for people', () => {
  const { out, err, output } = setUp({ json: true, errIsTerminal: true })
  output.line('a line')
  output.note('a note')
  output.result({ a: 1 }, 'text')
  expect([out.text(), err.text()]).toEqual(['{"a":1}\n', ''])
})
