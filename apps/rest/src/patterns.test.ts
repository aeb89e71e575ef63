import { execFile, spawnSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { openApiDocument } from './openapi.ts'

// Generated clients check requests and responses against the patterns of the OpenAPI document. They use the regular
// expressions of their own language, so every pattern must mean the same in all languages.

interface Pattern {
  readonly pattern: string
  readonly minLength: number
  readonly maxLength: number
}

/** All distinct patterns of the document with their lengths. */
function patternsOf(value: unknown): readonly Pattern[] {
  if (typeof value !== 'object' || value === null) return []
  const { pattern, minLength = 0, maxLength = 999_999 } = value as Partial<Pattern>
  const own = typeof pattern === 'string' ? [{ pattern, minLength, maxLength }] : []
  const all = [...own, ...Object.values(value).flatMap(patternsOf)]
  return [...new Map(all.map((each) => [JSON.stringify(each), each])).values()]
}

const samples = [
  ...['', ' ', '\n', '\u00a0', '\u2003', '\ufeff', '\v', 'a', 'Hello there', 'Surrogate', 'p', '0', '-1', '\0'],
  ...[
    '202610181000',
    '202610181000\n',
    '20261018100\n',
    '20261018100a',
    '2026101810000',
    '٢٠٢٦١٠١٨١٠٠٠',
    '２０２６１０１８１０００',
  ],
  ...[
    '20261018100000000',
    '2026101810000000\n',
    '20261018100000000\r\n',
    'é'.repeat(12),
    '😀'.repeat(12),
    '😀'.repeat(6),
  ],
  ...[
    `whsec_${'A'.repeat(43)}=`,
    `whsec_${'A'.repeat(43)}=\n`,
    `whsec_${'A'.repeat(42)}=\n`,
    `whsec_${'é'.repeat(43)}=`,
  ],
]

const folder = join(import.meta.dirname, '../testing/patterns')
const languages: readonly (readonly [name: string, command: string, ...before: string[]])[] = [
  ['Python', 'python3', join(folder, 'match.py')],
  ['Java', 'java', join(folder, 'Match.java')],
  ['Go', 'go', 'run', join(folder, 'match.go')],
  ['PHP', 'php', join(folder, 'match.php')],
]

let cache: string
beforeAll(async () => {
  cache = await mkdtemp(join(tmpdir(), 'gw-patterns-'))
})
afterAll(() => rm(cache, { recursive: true, force: true }))

/**
 * Returns one character for each pattern and sample: 1 for a match, 0 for no match, ! if the pattern cannot be
 * compiled.
 */
function inJavaScript(patterns: readonly Pattern[], flags: string): string {
  const one = ({ pattern, minLength, maxLength }: Pattern, sample: string): string => {
    const { length } = Array.from(sample)
    try {
      return new RegExp(pattern, flags).test(sample) && minLength <= length && length <= maxLength ? '1' : '0'
    } catch {
      return '!'
    }
  }
  return patterns.map((pattern) => samples.map((sample) => one(pattern, sample)).join('')).join(' ')
}

async function inLanguage(patterns: readonly Pattern[], [command, ...before]: readonly string[]): Promise<string> {
  const encoded = (text: string) => Buffer.from(text).toString('base64')
  const lines = patterns.flatMap(({ pattern, minLength, maxLength }) =>
    samples.map((sample) => `${minLength} ${maxLength} ${encoded(pattern)} ${encoded(sample)}\n`),
  )
  const file = join(await mkdtemp(join(cache, 'asked-')), 'lines')
  await writeFile(file, lines.join(''))
  const env = { ...process.env, GOCACHE: join(cache, 'go'), HOME: cache }
  const { stdout } = await promisify(execFile)(command ?? '', [...before, file], { env })
  const answers = stdout.trim().split('\n').join('')
  return patterns.map((_, i) => answers.slice(i * samples.length, (i + 1) * samples.length)).join(' ')
}

/**
 * Patterns that languages interpret differently. Some languages cannot compile the first. The character class of the
 * second and the end of the third have different meanings.
 */
const planted: readonly Pattern[] = ['^[^\\0\\p{Surrogate}]*$', '^\\s*$', '^[0-9]{12}$'].map((pattern) => ({
  pattern,
  minLength: 0,
  maxLength: 999_999,
}))

const patterns = patternsOf(openApiDocument())
const read = inJavaScript(patterns, '')

test('JavaScript reads every pattern of the document alike with and without the flag u, and each matches some samples', () => {
  expect(patterns.length).toBeGreaterThan(2)
  for (const row of read.split(' ')) expect(row).toMatch(/^[01]*1[01]*$/)
  for (const flags of ['u', 'v']) expect(inJavaScript(patterns, flags)).toBe(read)
  expect(inJavaScript(planted, 'u')).not.toBe(inJavaScript(planted, ''))
})

describe.each(languages)('%s', (name, command, ...before) => {
  const isInstalled = spawnSync(command, [command === 'go' ? 'version' : '--version'], { stdio: 'ignore' }).status === 0
  if (!isInstalled) process.stderr.write(`NOTICE: patterns are not read by ${name} here: ${command} is not installed\n`)

  ;(isInstalled ? test : test.skip)('reads every pattern of the document as JavaScript does', async () => {
    const all = await inLanguage([...patterns, ...planted], [command, ...before])
    const rows = all.split(' ')
    expect(rows.slice(0, patterns.length).join(' ')).toBe(read)
    expect(rows.slice(patterns.length).join(' ')).not.toBe(inJavaScript(planted, ''))
  })
})
