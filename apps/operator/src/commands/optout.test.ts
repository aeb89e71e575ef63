import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { anAddress, anAccountId, anAccount, aNumber, numbers } from '@gateway/core/testing'
import { anOperator } from '../../testing/operate.ts'

const number = aNumber('27825550101')

test('an opt-out is added once and removed once, and only for its account', async () => {
  const operator = anOperator()
  const [first] = [await anAccount(operator.ports), await anAccount(operator.ports)]
  const add = ['optout', 'add', '1', number]
  expect(await operator.json(...add)).toEqual({ account: 1, number, added: 1 })
  expect(await operator.json(...add)).toEqual({ account: 1, number, added: 0 })
  expect(await operator.rows('optout', 'list', '2')).toEqual([])
  expect(await operator.ports.suppressions.matching(first.id, [number])).toEqual(
    new Map([[number, new Set(['opt-out'])]]),
  )
  expect((await operator.run(add)).out).toBe('27825550101 had already opted out of the messages of account 1.\n')
  const remove = ['optout', 'remove', '1', number]
  expect((await operator.run(remove)).out).toBe('Account 1 can send to 27825550101 again.\n')
  expect(await operator.run(remove)).toEqual({
    code: 1,
    out: '',
    err: '27825550101 had not opted out of the messages of account 1.\n',
  })
  expect((await operator.run(add)).out).toBe('27825550101 gets no more messages of account 1.\n')
  expect(await operator.json(...remove)).toEqual({ account: 1, number, removed: true })
})

test('the list shows the numbers with their texts, and which entries were added by hand', async () => {
  const operator = anOperator()
  await anAccount(operator.ports)
  await operator.ports.senders.assign(anAddress('31022'), anAccountId(1))
  await operator.run(['simulate', 'reply', '--from', '+27825550102', '--to', '31022', '--text', 'STOP sending\nthis'])
  await operator.run(['optout', 'add', '1', number])
  const since = '2026-10-18T08:00:00.000Z'
  expect(await operator.rows('optout', 'list', '1')).toEqual([
    { number, since, arrival: null, answers: null, text: '* MANUALLY ADDED BY USER *' },
    { number: '27825550102', since, arrival: 1, answers: null, text: 'STOP sending\nthis' },
  ])
  expect((await operator.run(['optout', 'list', '1'])).out).toBe(
    [
      'NUMBER       SINCE (GMT+2)        ANSWERS  TEXT',
      '27825550101  2026/10/18 10:00:00           * MANUALLY ADDED BY USER *',
      '27825550102  2026/10/18 10:00:00           STOP sending?this',
      '',
    ].join('\n'),
  )
})

test.each(['add', 'remove'])('%s for an unknown account is refused, and so is its list', async (subcommand) => {
  const operator = anOperator()
  const none = { code: 1, out: '', err: 'There is no account 1.\n' }
  expect(await operator.run(['optout', subcommand, '1', number])).toEqual(none)
  expect(await operator.run(['optout', 'list', '1'])).toEqual(none)
})

const folder = mkdtempSync(join(tmpdir(), 'imports-'))
afterAll(() => rmSync(folder, { recursive: true }))

const block = ['number', 'block', '--file', '-', '--reason', 'blacklisted']
const importing = ['optout', 'import', '1', '--file', '-']

async function twoAccounts() {
  const operator = anOperator()
  await anAccount(operator.ports)
  await anAccount(operator.ports)
  return operator
}

test('the numbers of a file are blocked once, however often it is imported', async () => {
  const operator = anOperator()
  const text = numbers(12_000).join('\r\n')
  const nothing = { refused: 0, refusals: [], corrected: 0, corrections: [], columnsNotRead: [] }
  const summary = { reason: 'blacklisted', read: 12_000, ...nothing }
  expect(JSON.parse((await operator.run([...block, '--json'], text)).out)).toEqual({
    ...summary,
    added: 12_000,
    already: 0,
  })
  expect(JSON.parse((await operator.run([...block, '--json'], text)).out)).toEqual({
    ...summary,
    added: 0,
    already: 12_000,
  })
  expect(await operator.rows<unknown>('number', 'list', '--reason', 'blacklisted')).toHaveLength(12_000)
  expect(await operator.run(block, `Name,Number\nA,27825550101\nB,27825550101\n`)).toEqual({
    code: 0,
    out: 'Columns that were not read: Name.\n2 rows: 1 added, 1 there already, 0 refused.\n',
    err: '',
  })
})

test('refused rows are printed with line and reason, the others are stored, and the exit code is 1', async () => {
  const operator = anOperator()
  const text = `\uFEFF"27825550101"\n\n0825550102\n+0825550103\n,\n'+27825550103\n27825550104,more\n`
  expect(await operator.run(block, text)).toEqual({
    code: 1,
    out: [
      'Line 3: the number begins with 0, so its country code is missing: “0825550102”.',
      'Line 4: not a mobile number in international form: “+0825550103”.',
      'Line 5: the number is missing.',
      '6 rows: 3 added, 0 there already, 3 refused.',
      '',
    ].join('\n'),
    err: '3 of 6 rows were refused.\n',
  })
  const { code, out, err } = await operator.run([...block, '--json'], text)
  expect([code, JSON.parse(err)]).toEqual([1, { error: '3 of 6 rows were refused.' }])
  expect(JSON.parse(out)).toEqual({
    reason: 'blacklisted',
    read: 6,
    added: 0,
    already: 3,
    refused: 3,
    refusals: [
      { line: 3, why: 'the number begins with 0, so its country code is missing: “0825550102”' },
      { line: 4, why: 'not a mobile number in international form: “+0825550103”' },
      { line: 5, why: 'the number is missing' },
    ],
    corrected: 0,
    corrections: [],
    columnsNotRead: [],
  })
})

test('numbers as spreadsheets and people write them are read, omitted characters are shown, and unreadable numbers are refused', async () => {
  const operator = anOperator()
  const text =
    'number\n43660123456.0\n+43 (0)660 123457\n\u202a+43 660 123458\u202c\n"=""43660123459"""\n4.36601E+10\n43660123456.5\n'
  expect(await operator.run(block, text)).toEqual({
    code: 1,
    out: [
      'Line 2: “43660123456.0” was read as 43660123456.',
      'Line 3: “+43 (0)660 123457” was read as 43660123457.',
      'Line 6: a spreadsheet rounded the number (4.36E+10), so that digits are lost: “4.36601E+10”.',
      'Line 7: it is not certain which number is meant: “43660123456.5”.',
      '6 rows: 4 added, 0 there already, 2 refused.',
      '',
    ].join('\n'),
    err: '2 of 6 rows were refused.\n',
  })
  expect((await operator.rows<{ number: string }>('number', 'list')).map((row) => row.number)).toEqual([
    '43660123456',
    '43660123457',
    '43660123458',
    '43660123459',
  ])
  expect(JSON.parse((await operator.run([...block, '--json'], text)).out)).toMatchObject({
    corrected: 2,
    corrections: [
      { line: 2, typed: '43660123456.0', number: '43660123456' },
      { line: 3, typed: '+43 (0)660 123457', number: '43660123457' },
    ],
  })
})

test('of many refused rows some are printed, and more are in the JSON', async () => {
  const operator = anOperator()
  const text = `number\n${'x\n'.repeat(1500)}`
  const lines = (await operator.run(block, text)).out.split('\n')
  expect(lines).toHaveLength(23)
  expect(lines.slice(19, 22)).toEqual([
    'Line 21: not a mobile number in international form: “x”.',
    '… and 1480 more rows were refused.',
    '1500 rows: 0 added, 0 there already, 1500 refused.',
  ])
  const json = JSON.parse((await operator.run([...block, '--json'], text)).out) as {
    refused: number
    refusals: unknown[]
  }
  expect([json.refused, json.refusals.length]).toEqual([1500, 1000])
})

test.each([
  ['a head without the column', 'phone\n27825550101\n', "The first line names no column 'number'."],
  ['a quote that is not closed', '27825550101\n"27825550102\n', 'Line 2: a quote is not closed.'],
])('%s ends the import, and nothing of its batch is stored', async (_, text, message) => {
  const operator = anOperator()
  expect(await operator.run(block, text)).toEqual({ code: 1, out: '', err: `${message}\n` })
  expect(await operator.rows('number', 'list')).toEqual([])
})

test('a file that breaks off later is reported with the number of stored rows', async () => {
  const operator = anOperator()
  const { code, err } = await operator.run(block, `${numbers(5100).join('\n')}\n"`)
  expect([code, err]).toEqual([1, 'Line 5101: a quote is not closed. 5000 rows before it are stored.\n'])
  expect(await operator.rows<unknown>('number', 'list', '--reason', 'blacklisted')).toHaveLength(5000)
})

test.each([[[]], [['27825550101', '--file', 'x']]])('either a number or a file is required, not %j', async (args) => {
  const { code, err } = await anOperator().run(['number', 'block', ...args, '--reason', 'blacklisted'])
  expect([code, err]).toEqual([2, 'Name either one number or a file of numbers.\n'])
})

test('a file that is missing, not UTF-8 or not writable is reported', async () => {
  const operator = await twoAccounts()
  const none = join(folder, 'none')
  const missing = await operator.run(['number', 'block', '--file', none, '--reason', 'blacklisted'])
  expect([missing.code, missing.err]).toEqual([1, expect.stringContaining(`${none} cannot be read: ENOENT`)])
  const bad = join(folder, 'bad.csv')
  writeFileSync(bad, Buffer.from([0x32, 0xff, 0xfe]))
  expect((await operator.run(['optout', 'import', '1', '--file', bad])).err).toBe(
    `${bad} cannot be read: it is not UTF-8.\n`,
  )
  const { code, err } = await operator.run(['optout', 'export', '1', '--file', join(none, 'x')])
  expect([code, err]).toEqual([1, expect.stringContaining('could not be written completely: ENOENT')])
})

test('a spreadsheet file with semicolons is imported, with times in ISO 8601', async () => {
  const operator = await twoAccounts()
  const rows = ['Number;Since;Text', '27825550101;2026-10-01 10:00;"STOP; now"', '27825550102;2026-10-01T04:00-04:00;']
  expect(await operator.run(importing, rows.join('\r\n'))).toMatchObject({ code: 0 })
  expect(await operator.rows('optout', 'list', '1')).toEqual([
    expect.objectContaining({ number: '27825550101', since: '2026-10-01T08:00:00.000Z', text: 'STOP; now' }),
    expect.objectContaining({ number: '27825550102', since: '2026-10-01T08:00:00.000Z' }),
  ])
})

test('opt-outs are imported with their times and texts, in any order of columns', async () => {
  const operator = await twoAccounts()
  const text = [
    'Text,Number,Since,comment',
    `'=STOP,27825550103,2026-10-01T08:00:00.123Z,x`,
    ',27825550101,202610011000,',
    '* MANUALLY ADDED BY USER *,27825550102',
    '"Please, stop',
    'now",27825550104,,',
  ].join('\n')
  expect(await operator.run(importing, text)).toMatchObject({
    code: 0,
    out: 'Columns that were not read: comment.\n4 rows: 4 added, 0 there already, 0 refused.\n',
  })
  const now = '2026-10-18T08:00:00.000Z'
  const manual = { arrival: null, answers: null, text: '* MANUALLY ADDED BY USER *' }
  expect(await operator.rows('optout', 'list', '1')).toEqual([
    { ...manual, number: '27825550101', since: '2026-10-01T08:00:00.000Z' },
    { ...manual, number: '27825550102', since: now },
    { ...manual, number: '27825550103', since: '2026-10-01T08:00:00.123Z', text: '=STOP' },
    { ...manual, number: '27825550104', since: now, text: 'Please, stop\nnow' },
  ])
  expect(await operator.rows('optout', 'list', '2')).toEqual([])
})

test('columns that an import does not read are named, in the text and in the JSON', async () => {
  const operator = await twoAccounts()
  const file = 'number,time,, Opted out by\n27825550101,2026-10-01 10:00,,ann'
  expect((await operator.run(importing, file)).out).toBe(
    'Columns that were not read: time, Opted out by.\n1 row: 1 added, 0 there already, 0 refused.\n',
  )
  expect(JSON.parse((await operator.run([...importing, '--json'], file)).out)).toMatchObject({
    columnsNotRead: ['time', 'Opted out by'],
  })
  const withoutHead = await operator.run([...importing, '--json'], '27825550102')
  expect(JSON.parse(withoutHead.out)).toMatchObject({ columnsNotRead: [] })
})

test('an invalid or future time, and a text that is too long, are refused', async () => {
  const text = [
    '27825550101,2026-10-18T08:00:00.001Z',
    '27825550102,2026-02-30T08:00:00.000Z',
    '27825550103,202602301000',
    '27825550104,yesterday',
    `27825550105,,${'x'.repeat(40_001)}`,
    '27825550106,2026-10-18T08:00:00.000Z',
  ].join('\n')
  const { out } = await (await twoAccounts()).run(importing, text)
  expect(out.replaceAll(/.*: (since|the text) /g, '$1 ').split('\n')).toEqual([
    'since is in the future.',
    ...Array.from({ length: 3 }, () => 'since is not a time such as 2026-10-18T08:00:00.000Z or 202610181000.'),
    'the text has more than 40000 characters.',
    '6 rows: 1 added, 0 there already, 5 refused.',
    '',
  ])
})

test('an exported list that is imported for another account and exported again is the same', async () => {
  const operator = await twoAccounts()
  await operator.ports.senders.assign(anAddress('31022'), anAccountId(1))
  for (const [i, text] of ['=STOP', 'stop', `'=stop`, 'opt out, "please"\nnow', '+27', 'Unsubscribe'].entries()) {
    await operator.run(['simulate', 'reply', '--from', `2782555020${i}`, '--to', '31022', '--text', text])
  }
  await operator.run(['optout', 'add', '1', aNumber('27825550301')])
  const texts = [`'=quoted`, '=1+1', '-', '@x', "it's", '\ttab'].map((text, i) => ({
    number: aNumber(`2782555040${i}`),
    since: operator.ports.clock.now(),
    text,
  }))
  await operator.ports.suppressions.addAll(anAccountId(1), 'opt-out', texts)

  const file = join(folder, 'export.csv')
  const { written } = await operator.json<{ written: number }>('optout', 'export', '1', '--file', file)
  const exported = readFileSync(file, 'utf8')
  expect(await operator.run(['optout', 'export', '2', '--file', file])).toEqual({
    ...{ code: 1, out: '' },
    err: `${file} already exists. Use --force to replace it.\n`,
  })
  expect(readFileSync(file, 'utf8')).toBe(exported)
  expect((await operator.run(['optout', 'export', '1', '--file', file, '--force'])).code).toBe(0)
  expect(readFileSync(file, 'utf8')).toBe(exported)
  expect(exported.startsWith('number,since,text\r\n27825550')).toBe(true)
  expect((await operator.json<{ added: number }>('optout', 'import', '2', '--file', file)).added).toBe(written)
  expect((await operator.run(['optout', 'export', '2'])).out).toBe(exported)
  expect((await operator.json<{ added: number }>('optout', 'import', '2', '--file', file)).added).toBe(0)

  const listed = async (id: string) =>
    (await operator.rows<{ number: string; since: string; text: string }>('optout', 'list', id)).map(
      ({ number, since, text }) => ({ number, since, text }),
    )
  expect(await listed('2')).toEqual(await listed('1'))
  expect(await operator.rows('optout', 'export', '2')).toEqual(await listed('1'))
  for (const { text } of texts) expect(exported).not.toContain(`Z,${text}\r\n`.replace("it's", 'no formula'))
})

test('an interrupted import stores no further batch', async () => {
  const operator = anOperator({
    ports: (ports) => ({
      ...ports,
      suppressions: {
        ...ports.suppressions,
        addAll: async (...args) => {
          const added = await ports.suppressions.addAll(...args)
          operator.interrupt()
          return added
        },
      },
    }),
  })
  const { code, err } = await operator.run(block, numbers(12_000).join('\n'))
  expect([code, err]).toEqual([3, 'Interrupted.\n'])
  expect(await operator.rows<unknown>('number', 'list', '--reason', 'blacklisted')).toHaveLength(5000)
})

test('opt-outs of an unknown account are neither imported nor exported', async () => {
  const none = { code: 1, out: '', err: 'There is no account 1.\n' }
  expect(await anOperator().run(importing, '27825550101')).toEqual(none)
  expect(await anOperator().run(['optout', 'export', '1'])).toEqual(none)
})
