import { setImmediate } from 'node:timers/promises'
import { until } from '@gateway/core/testing'
import { Writable } from 'node:stream'
import { textOf } from '../testing/operate.ts'
import { createOutput, type Row } from './output.ts'
import { writerTo } from './writer.ts'

const setUp = ({ json = false, outIsTerminal = false, errIsTerminal = false } = {}) => {
  const [out, err] = [textOf(outIsTerminal), textOf(errIsTerminal)]
  return { out, err, output: createOutput(writerTo(out.stream), writerTo(err.stream), json) }
}

const row = (id: number, name: string): Row => ({ json: { id, name }, cells: [String(id), name] })
const many = Array.from({ length: 1200 }, (_, at) => row(at, 'x'))

test('rows are columns for a person, without blanks at the ends of lines', async () => {
  const { out, output } = setUp()
  await output.rows(['ID', 'NAME'], [row(1, 'a'), row(20, '')])
  expect(out.text()).toBe('ID  NAME\n1   a\n20\n')
})

test.each([0, 1, 1200])('%d rows are one JSON document', async (count) => {
  const { out, output } = setUp({ json: true })
  await output.rows(['ID', 'NAME'], many.slice(0, count))
  expect(JSON.parse(out.text())).toEqual(many.slice(0, count).map(({ json }) => json))
})

test.each([0, 1, 1200])(
  '%d rows with a total are one JSON document; for a person the total is the last row',
  async (count) => {
    const rows = many.slice(0, count)
    const json = setUp({ json: true })
    await json.output.rows(['ID', 'NAME'], rows, () => row(-1, 'all'))
    expect(JSON.parse(json.out.text())).toEqual({ rows: rows.map((one) => one.json), total: { id: -1, name: 'all' } })
    const text = setUp()
    await text.output.rows(['ID', 'NAME'], rows, () => row(-1, 'all'))
    expect(text.out.text().trimEnd().split('\n').at(-1)).toMatch(/^-1 +all$/)
  },
)

test('what a name holds cannot steer the terminal', async () => {
  const { out, output } = setUp()
  await output.rows(['ID', 'NAME'], [row(1, '\u001b[2J\nroot')])
  expect(out.text()).toBe('ID  NAME\n1   ?[2J?root\n')
})

test('the first rows are shown before the last are there', async () => {
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

test('rows are no longer read once nobody reads them', async () => {
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

test('progress is shown on a terminal, cleared by what follows, and nowhere else', async () => {
  const shown = setUp({ errIsTerminal: true })
  shown.output.progress('half')
  shown.output.note('a note')
  await shown.output.rows(['ID', 'NAME'], many)
  expect(shown.err.text()).toBe('\r\u001b[Khalf\r\u001b[Ka note\n\r\u001b[K500 rows\r\u001b[K1000 rows\r\u001b[K')
  expect(shown.out.text()).not.toContain('\u001b')

  for (const hidden of [setUp(), setUp({ json: true, errIsTerminal: true })]) {
    hidden.output.progress('half')
    await hidden.output.rows(['ID', 'NAME'], many)
    expect(hidden.err.text()).toBe('')
  }
})

test('rows that run by on the terminal need no progress', async () => {
  const { err, output } = setUp({ outIsTerminal: true, errIsTerminal: true })
  await output.rows(['ID', 'NAME'], many)
  expect(err.text()).toBe('')
})

test('long work shows after a second that it goes on, and ends with its result or its failure', async () => {
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

test('a program gets the result and nothing that is for a person', () => {
  const { out, err, output } = setUp({ json: true, errIsTerminal: true })
  output.line('a line')
  output.note('a note')
  output.result({ a: 1 }, 'text')
  expect([out.text(), err.text()]).toEqual(['{"a":1}\n', ''])
})
