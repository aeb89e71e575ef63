import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, normalize } from 'node:path'
import ts from 'typescript'
import { parseAllDocuments } from 'yaml'
import { filesUnder } from './support/files-under.ts'
import { root } from './support/process.ts'

const texts = new Map<string, string>()

function read(path: string): string {
  const text = texts.get(path) ?? readFileSync(join(root, path), 'utf8')
  texts.set(path, text)
  return text
}

const pages = [
  ...readdirSync(root).filter((name) => name.endsWith('.md')),
  ...['docs', 'packages', 'apps'].flatMap((folder) => filesUnder(folder, /\.md$/)),
]

/** Returns a page without its code, which may look like links and headings. */
const prose = (text: string): string =>
  text.replace(/^( *)(```+)[^\n]*\n[\s\S]*?^ *\2$/gm, '').replace(/`[^`\n]+`/g, (code) => code.replace(/[[\]()]/g, ' '))

/** Returns the anchors of a page, as GitHub and the guide derive them from its headings. */
function anchorsOf(text: string): ReadonlySet<string> {
  const seen = new Map<string, number>()
  const named = Array.from(text.matchAll(/<a id="([^"]+)">/g), ([, id = '']) => id)
  const headings = text.replace(/^( *)(```+)[^\n]*\n[\s\S]*?^ *\2$/gm, '').matchAll(/^#{1,6} (.+)$/gm)
  return new Set([
    ...named,
    ...Array.from(headings, ([, heading = '']) => {
      const anchor = heading
        .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
        .toLowerCase()
        .replace(/[^\p{L}\p{N}_ -]/gu, '')
        .replaceAll(' ', '-')
      const before = seen.get(anchor) ?? 0
      seen.set(anchor, before + 1)
      return before === 0 ? anchor : `${anchor}-${before}`
    }),
  ])
}

/** Returns the dead links of a page within the repository. */
function deadLinks(page: string, text: string): readonly string[] {
  return Array.from(prose(text).matchAll(/\]\(([^)\s]+)\)/g), ([, target = '']) => target)
    .filter((target) => !/^[a-z]+:/.test(target))
    .filter((target) => {
      const [path = '', anchor] = target.split('#')
      const file = path === '' ? page : normalize(join(dirname(page), path))
      if (path !== '' && !existsSync(join(root, file))) return true
      if (anchor === undefined || !file.endsWith('.md')) return false
      return !anchorsOf(file === page ? text : read(file)).has(anchor)
    })
    .map((target) => `${page}: ${target}`)
}

test('each link of a page within the repository leads to a file, and to a heading of it', () => {
  expect(pages.length).toBeGreaterThan(100)
  expect(pages.flatMap((page) => deadLinks(page, read(page)))).toEqual([])
})

test.each([
  ['[a file](gone.md)', ['docs/here.md: gone.md']],
  ['# One\n[a heading](#two) `[code](gone.md)`', ['docs/here.md: #two']],
  ['# One `and` two\n[a heading](#one-and-two), [a page](https://example.com/gone.md)', []],
  ['```\n[code](gone.md)\n```\n[of another page](contract.md#gone)', ['docs/here.md: contract.md#gone']],
])('a dead link is found: %s', (text, dead) => {
  expect(deadLinks('docs/here.md', text)).toEqual(dead)
})

test('each page and file of docs that code names exists', () => {
  const files = ['packages', 'apps', 'tests', 'benchmarks', 'scripts', 'deploy'].flatMap((folder) =>
    filesUnder(folder, /\.(ts|tsx|mjs|cjs|sql|sh|json|service|yaml)$/),
  )
  const named = files
    .filter((file) => file !== 'tests/pages.test.ts' && statSync(join(root, file)).size < 1_000_000)
    .flatMap((file) =>
      Array.from(read(file).matchAll(/(?<=\.\.\/|[^/\w])docs\/[\w/.-]+\.(?:md|svg|cfg|conf)\b/g), ([path]) => ({
        file,
        path,
      })),
    )
  expect(named.length).toBeGreaterThan(50)
  expect(named.filter(({ path }) => !existsSync(join(root, path)))).toEqual([])
})

interface XmlReader {
  onerror: () => void
  write(text: string): { close(): void }
}

interface Block {
  readonly page: string
  readonly language: string
  readonly code: string
}

const blocks: readonly Block[] = pages.flatMap((page) =>
  Array.from(
    read(page).matchAll(/^( *)```(\w*)[^\n]*\n([\s\S]*?)^ *```$/gm),
    ([, indent = '', language = '', code = '']) => ({
      page,
      language,
      code: code.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
    }),
  ),
)

const inLanguage = (...languages: readonly string[]): readonly Block[] => {
  const found = blocks.filter(({ language }) => languages.includes(language))
  expect(found.length).toBeGreaterThan(0)
  return found
}

test('each decision record has a number of its own, which is also in its title', () => {
  const records = pages.filter((page) => /^docs\/decisions\/\d/.test(page))
  const numbers = records.map((page) => page.slice('docs/decisions/'.length, 'docs/decisions/'.length + 4))
  expect(numbers.filter((number, i) => numbers.indexOf(number) !== i)).toEqual([])
  expect(records.filter((page, i) => !read(page).startsWith(`# ${numbers[i]}. `))).toEqual([])
})

test('each block of JSON is JSON', () => {
  const isWrong = ({ code }: Block): boolean => {
    try {
      JSON.parse(code)
      return false
    } catch {
      return true
    }
  }
  expect(inLanguage('json').filter(isWrong)).toEqual([])
})

test('bash parses each block of shell', () => {
  const isWrong = ({ code }: Block): boolean => spawnSync('bash', ['-n'], { input: code }).status !== 0
  const found = inLanguage('sh', 'bash')
  // Wraps each block in a function, so that one bash process can check all blocks. Checks each block separately only if
  // that process finds an error.
  const all = found.map(({ code }) => `block() {\n${code}\n:\n}\n`).join('')
  expect(isWrong({ page: '', language: 'sh', code: all }) ? found.filter(isWrong) : []).toEqual([])
})

test('the compiler parses each block of TypeScript and JavaScript', () => {
  const isWrong = ({ code }: Block): boolean =>
    (
      ts.transpileModule(code, { reportDiagnostics: true, compilerOptions: { module: ts.ModuleKind.ESNext } })
        .diagnostics ?? []
    ).length > 0
  expect(inLanguage('ts', 'js').filter(isWrong)).toEqual([])
})

test('each block of XML is well-formed', () => {
  const { parser } = createRequire(join(root, 'apps/xml/package.json'))('sax') as {
    readonly parser: (strict: boolean) => XmlReader
  }
  const isWrong = ({ code }: Block): boolean => {
    const reader = parser(true)
    let failed = false
    reader.onerror = () => (failed = true)
    try {
      // Wraps the documents in one root element, because some blocks show several documents.
      reader.write(`<blocks>${code.replaceAll(/<\?xml[^>]*\?>/g, '')}</blocks>`).close()
    } catch {
      return true
    }
    return failed
  }
  expect(inLanguage('xml').filter(isWrong)).toEqual([])
})

test('each block of HTTP is requests or answers, each line of JSON lines is JSON', () => {
  const head = /^(?:[A-Z]+ \S+ HTTP\/1\.1|HTTP\/1\.1 \d{3} [A-Za-z ]+)\n(?:[A-Za-z-]+: .+\n)*(?:\n|$)/
  expect(inLanguage('http').filter(({ code }) => !code.split(/\n\n(?=HTTP\/)/).every((one) => head.test(one)))).toEqual(
    [],
  )
  for (const { code } of inLanguage('jsonl')) for (const line of code.trim().split('\n')) JSON.parse(line)
})

test('bash parses each command that a block shows with its output', () => {
  const commands = inLanguage('console').flatMap(({ code }) =>
    Array.from(code.matchAll(/^ *\$ (.+)$/gm), ([, command]) => command),
  )
  expect(commands.length).toBeGreaterThan(20)
  expect(spawnSync('bash', ['-n'], { input: commands.join('\n'), encoding: 'utf8' })).toMatchObject({
    status: 0,
    stderr: '',
  })
})

test('each line of a block of ini is a section, a setting or a comment', () => {
  const ini = /^(?:\[\w+\]|[\w-]+ ?= ?\S.*|# .+)$/
  expect(
    inLanguage('ini').filter(
      ({ code }) =>
        !code
          .trim()
          .split('\n')
          .every((line) => ini.test(line)),
    ),
  ).toEqual([])
})

/**
 * Languages of code blocks, with the test that checks them. A block in a new language is an error until it has a check.
 */
const readers: Readonly<Record<string, string>> = {
  ...Object.fromEntries(['json', 'sh', 'ts', 'js', 'xml', 'http', 'jsonl', 'ini'].map((name) => [name, 'here'])),
  php: 'tests/webhook-page.test.ts',
  python: 'tests/webhook-page.test.ts',
  yaml: 'tests/send-from.test.ts',
  sql: 'packages/adapters-postgres/src/documented-sql.test.ts',
  // Blocks with commands and their output. tests/packages.test.ts and tests/embedding.test.ts check some of these
  // blocks too.
  console: 'tests/operations-page.test.ts',
  text: 'tests/operations-page.test.ts',
}

test('every block has a language, and some test reads it', () => {
  expect(blocks.filter(({ language }) => readers[language] === undefined)).toEqual([])
  expect(Object.values(readers).filter((path) => path !== 'here' && !existsSync(join(root, path)))).toEqual([])
})

test('every script of `npx pnpm NAME` on a page exists', () => {
  const { scripts } = JSON.parse(read('package.json')) as { readonly scripts: Readonly<Record<string, string>> }
  const named = pages
    .filter((page) => page !== 'CHANGELOG.md')
    .flatMap((page) =>
      Array.from(read(page).matchAll(/npx (?:-y )?pnpm(?:@[\d.]+)? ([a-z][\w:-]*)/g), ([, name = '']) => ({
        page,
        name,
      })),
    )
  expect(named.length).toBeGreaterThan(50)
  expect(named.filter(({ name }) => scripts[name] === undefined && name !== 'install')).toEqual([])
})

test('each YAML file of the deployment can be parsed', () => {
  const files = filesUnder('deploy', /\.ya?ml$/)
  expect(files.length).toBeGreaterThan(10)
  const wrong = files.filter((path) => parseAllDocuments(read(path)).some(({ errors }) => errors.length > 0))
  expect(wrong).toEqual([])
})
