import { execFile } from 'node:child_process'
import { mkdtemp, readFile, realpath, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { runCommandLine } from './command-line.ts'
import type { Configuration } from './configuration.ts'
import { filled, runCommand } from './run-command.ts'

let folder: string
beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), 'conformance-'))))
afterAll(() => rm(folder, { recursive: true }))

async function run(...args: readonly string[]) {
  const [out, err] = [new PassThrough(), new PassThrough()]
  const code = await runCommandLine(args, { out, err })
  out.end()
  err.end()
  return { code, out: await text(out), err: await text(err) }
}

const keyed = { id: 1, key: 'k' }
const configuration = {
  accounts: {
    main: { ...keyed, user: 'u', password: 'p' },
    sub: { ...keyed, login: 's' },
    otherSub: keyed,
    stranger: keyed,
  },
  numbers: { delivered: Array.from({ length: 40 }, (_, i) => `2782555${i + 1000}`), price: 0.1 },
}

async function file(value: unknown): Promise<string> {
  const path = join(folder, 'conformance.json')
  await writeFile(path, typeof value === 'string' ? value : JSON.stringify(value))
  return path
}

const nowhere = 'http://127.0.0.1:1'

test.each([
  [[], /Name --base-url/],
  [['--base-url', nowhere], /Name the configuration with --config/],
  [['--rest-url', nowhere, '--asp-url', nowhere, '--config', 'x'], /each of --rest-url, --asp-url and --xml-url/],
  [['--base-url', 'ftp://x', '--config', 'x'], /not an http or https URL/],
  [['--base-url', nowhere, '--config', '/nowhere/x'], /\/nowhere\/x cannot be read/],
  [['--unknown'], /unknown option/],
  [['prepare', '--config', 'x'], /missing required argument/],
])('called as %j it prints the problem, with exit code 2', async (args, says) => {
  const { code, out, err } = await run(...args)
  expect([code, out]).toEqual([2, ''])
  expect(err).toMatch(says)
})

test.each([
  ['no JSON', '{', /it is not JSON/],
  ['an unknown field', { ...configuration, more: 1 }, /the file must NOT have additional properties: more/],
  ['a missing account', { ...configuration, accounts: {} }, /accounts must have required property/],
  [
    'a number with +',
    { ...configuration, numbers: { ...configuration.numbers, blacklisted: '+27' } },
    /numbers\.blacklisted must match pattern/,
  ],
  [
    'a price of hundredths',
    { ...configuration, numbers: { ...configuration.numbers, price: 0.25 } },
    /numbers\.price must be multiple of 0\.1/,
  ],
  [
    'too few numbers',
    { ...configuration, numbers: { ...configuration.numbers, delivered: [] } },
    /numbers\.delivered must NOT have fewer than 40/,
  ],
])('a configuration with %s is refused with the name of its field, with exit code 2', async (_, value, says) => {
  const { code, out, err } = await run('--base-url', nowhere, '--config', await file(value))
  expect([code, out]).toEqual([2, ''])
  expect(err).toMatch(says)
})

test.each([
  ['nobody listens', [], /127\.0\.0\.1:1\/ cannot be reached: connect ECONNREFUSED/],
  ['no case is about a section', ['--section', '9.9'], /No case matches the selection/],
  ['no case has a title', ['--section', '2.1', '--case', 'no such words'], /No case matches the selection/],
])('if %s it says so, with exit code 2', async (_, args, says) => {
  const { code, err } = await run('--base-url', nowhere, '--config', await file(configuration), ...args)
  expect(code).toBe(2)
  expect(err).toMatch(says)
})

test('prepare stores the folder, the environment and the files of the command, so that replies reach the same database from anywhere', async () => {
  const program = join(folder, 'gateway.mjs')
  const noted = join(folder, 'noted.jsonl')
  await writeFile(
    program,
    `import { appendFileSync } from 'node:fs'
    const { DATABASE_URL, DATA_DIR } = process.env
    appendFileSync(${JSON.stringify(noted)}, JSON.stringify([process.cwd(), DATABASE_URL ?? null, DATA_DIR ?? null]) + '\\n')
    console.log(JSON.stringify({ id: 1, key: 'k' }))`,
  )
  const config = join(folder, 'prepared.json')
  const main = new URL('../dist/main.js', import.meta.url)
  const env = { PATH: process.env['PATH'], DATABASE_URL: 'postgres://a@db/one' }
  const args = ['prepare', '--config', config, '--', process.execPath, 'gateway.mjs']
  await promisify(execFile)(process.execPath, [fileURLToPath(main), ...args], { cwd: folder, env })
  expect((await stat(config)).mode & 0o777).toBe(0o600)
  const { replies } = JSON.parse(await readFile(config, 'utf8')) as Required<Configuration>
  expect(replies.command.slice(0, 2)).toEqual([process.execPath, program])
  await runCommand(filled(replies.command, { from: '1', to: '2', text: '3' }), {
    ...replies,
    environment: { ...replies.environment },
  })
  const calls = (await readFile(noted, 'utf8')).trim().split('\n')
  expect(new Set(calls)).toEqual(new Set([JSON.stringify([await realpath(folder), 'postgres://a@db/one', null])]))
})

test('--help prints the options, with exit code 0', async () => {
  const { code, out } = await run('--help')
  expect(code).toBe(0)
  expect(out).toContain('--junit <file>')
})
