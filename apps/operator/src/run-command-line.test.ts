import { readFileSync } from 'node:fs'
import { Writable } from 'node:stream'
import { anAccount } from '@gateway/core/testing'
import { release, versionLine } from '@gateway/server/version'
import { anOperator, noBackups, textOf } from '../testing/operate.ts'
import { runCommandLine, type Host } from './run-command-line.ts'

const commands = [
  'account open',
  'account list',
  'account show',
  'account lock',
  'account unlock',
  'account password',
  'account transfer',
  'key issue',
  'key list',
  'key revoke',
  'credits top-up',
  'credits verify',
  'price set',
  'price remove',
  'price list',
  'number block',
  'number unblock',
  'number list',
  'message explain',
  'dispatcher list',
  'queue show',
  'ids skip',
  'secrets reseal',
  'send',
  'migrate',
]

const closed: Host = {
  out: textOf().stream,
  err: textOf().stream,
  input: () => ({
    isTerminal: false,
    confirm: () => Promise.resolve(false),
    password: () => Promise.resolve(''),
    text: () => {
      throw new Error('no file is read')
    },
    bytes: () => {
      throw new Error('nothing is read')
    },
  }),
  interruption: new AbortController().signal,
  giveUp: () => undefined,
  openSeconds: 8,
  variables: {},
  withDatabase: () => Promise.reject(new Error('The database cannot be reached: no.')),
}

test.each(commands)('the help of %s names --json, needs no database and is no error', async (command) => {
  const [out, err] = [textOf(), textOf()]
  const code = await runCommandLine([...command.split(' '), '--help'], { ...closed, out: out.stream, err: err.stream })
  expect([code, err.text()]).toEqual([0, ''])
  expect(out.text()).toMatch(new RegExp(`^Usage: gateway ${command} \\[options\\]`))
  expect(out.text()).toContain('--json')
})

const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string }

test.each([
  [['--version'], versionLine],
  [['-V'], versionLine],
  [['--version', '--json'], JSON.stringify(release)],
  [['--json', '--version'], JSON.stringify(release)],
])('%j prints the version, needs no database and succeeds', async (args, expected) => {
  const [out, err] = [textOf(), textOf()]
  const code = await runCommandLine(args, { ...closed, out: out.stream, err: err.stream })
  expect([code, out.text(), err.text()]).toEqual([0, `${expected}\n`, ''])
  expect(expected).toContain(manifest.version)
})

test('a text that looks like --version is a text', async () => {
  const operator = anOperator()
  await anAccount(operator.ports)
  expect(await operator.json('credits', 'top-up', '1', '5', '--why=--version')).toMatchObject({ account: 1 })
  expect(await operator.json('send', '--account', '1', '--to', '27825550101', '--text', '-V')).toMatchObject({
    account: 1,
  })
})

test.each([
  ['credits top-up', '--why <text>', true],
  ['account open', '--login <login>', true],
  ['send', '--to <numbers>', true],
  ['send', '--wait', false],
  ['key issue', '--label <text>', false],
])('the help of %s shows whether %s is required', async (command, option, required) => {
  const { out } = await anOperator().run([...command.split(' '), '--help'])
  const [, from = ''] = out.split(`\n  ${option} `)
  const [described = ''] = from.split(/\n {2}-/)
  expect(described.trim()).not.toBe('')
  expect(described.replace(/\s+/g, ' ').includes('(required)')).toBe(required)
})

test('the complete help names every group, the environment and the exit codes', async () => {
  const { code, out } = await anOperator().run(['--help'])
  expect(code).toBe(0)
  for (const word of [
    'account',
    'key',
    'credits',
    'price',
    'message',
    'dispatcher',
    'queue',
    'number',
    'send',
    'migrate',
    'DATABASE_URL',
    'DATA_DIR',
    'Exit codes',
  ])
    expect(out).toContain(word)
})

test.each([
  ['nothing', []],
  ['a group alone', ['account']],
])('%s is answered by the help, on standard error, with exit code 2', async (_, args) => {
  const { code, out, err } = await anOperator().run(args)
  expect([code, out]).toEqual([2, ''])
  expect(err).toMatch(/^Usage: gateway/)
})

test.each([
  ['an unknown command', ['unheard-of'], "Unknown command 'unheard-of'. See 'gateway --help'."],
  ['a misspelt one', ['account', 'lst'], "Unknown command 'lst' (Did you mean list?) See 'gateway account --help'."],
  ['an unknown option', ['number', 'list', '--x'], "Unknown option '--x'. See 'gateway number list --help'."],
  ['a missing argument', ['key', 'issue'], "Missing required argument 'account'. See 'gateway key issue --help'."],
  [
    'a missing option',
    ['account', 'open'],
    "Required option '--login <login>' not specified. See 'gateway account open --help'.",
  ],
  [
    'too many arguments',
    ['account', 'list', 'x'],
    "Too many arguments for 'list'. Expected 0 arguments but got 1. See 'gateway account list --help'.",
  ],
])('%s is reported in a sentence, or as JSON, with exit code 2', async (_, args, message) => {
  const operator = anOperator()
  expect(await operator.run(args)).toEqual({ code: 2, out: '', err: `${message}\n` })
  const { code, out, err } = await operator.run([...args, '--json'])
  expect([code, out]).toEqual([2, ''])
  expect(JSON.parse(err)).toEqual({ error: expect.any(String) as string })
})

test('a database that is out of order is reported in a sentence, or as JSON, with exit code 3', async () => {
  const [text, json] = [textOf(), textOf()]
  expect(await runCommandLine(['account', 'list'], { ...closed, err: text.stream })).toBe(3)
  expect(await runCommandLine(['account', 'list', '--json'], { ...closed, err: json.stream })).toBe(3)
  expect(text.text()).toBe('The database cannot be reached: no.\n')
  expect(JSON.parse(json.text())).toEqual({ error: 'The database cannot be reached: no.' })
})

test('a value that looks like --json is a value', async () => {
  const operator = anOperator()
  const { id } = await anAccount(operator.ports)
  const { out } = await operator.run(['send', '--account', String(id), '--to', '27825550101', '--text', '--json'])
  expect(out).toMatch(/^27825550101: message 1, /)
})

/** Fails every write as a pipe or a full disk does. */
const failing = (code: string): Writable =>
  new Writable({ write: (_chunk, _encoding, done) => done(Object.assign(new Error(`${code}: write`), { code })) })

test.each([
  ['of which only the first lines are read ends quietly', 'EPIPE', 0, ''],
  ['that cannot be written is an error', 'ENOSPC', 3, 'The result cannot be written: ENOSPC: write\n'],
])('a result %s', async (_, problem, expected, message) => {
  const operator = anOperator()
  await anAccount(operator.ports)
  const err = textOf()
  const code = await runCommandLine(['account', 'list'], {
    ...closed,
    out: failing(problem),
    err: err.stream,
    withDatabase: (work) =>
      work({
        ports: operator.ports,
        migrate: () => Promise.resolve([]),
        copyTo: () => Promise.resolve([]),
        surroundings: () => Promise.reject(new Error('not here')),
        backups: noBackups,
      }),
  })
  expect([code, err.text()]).toEqual([expected, message])
})
