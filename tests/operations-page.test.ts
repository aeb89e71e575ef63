import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import ts from 'typescript'
import { alarms, metricsIn } from './support/alarms.ts'
import { filesUnder } from './support/files-under.ts'
import { root } from './support/process.ts'

const levels: ReadonlySet<string> = new Set(['warn', 'error', 'fatal'])

/** Message of a log call: its pieces of fixed text, with gaps for variable parts. */
interface Said {
  readonly where: string
  readonly pieces: readonly string[]
}

interface Source {
  readonly path: string
  readonly file: ts.SourceFile
}

const folder = join(root, 'docs/operations')
const readPage = (name: string): string => readFileSync(join(folder, name), 'utf8')
const pages = readdirSync(folder).map(readPage).join('\n')
const sources = readSources()
const statements = sources.flatMap(saidIn)

function readSources(): readonly Source[] {
  const folders = ['packages', 'apps'].flatMap((of) => readdirSync(join(root, of)).map((name) => join(of, name, 'src')))
  const paths = folders.filter((folder) => existsSync(join(root, folder))).flatMap(sourcesIn)
  return paths.map((path) => {
    const text = readFileSync(join(root, path), 'utf8')
    return { path, file: ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true) }
  })
}

function sourcesIn(folder: string): readonly string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name) && !name.endsWith('.test.ts'))
    .map((name) => join(folder, name))
}

function saidIn({ path, file }: Source): readonly Said[] {
  return callsIn(file)
    .filter(isLogCall)
    .map((call) => ({ call, where: `${path}:${file.getLineAndCharacterOfPosition(call.getStart()).line + 1}` }))
    .flatMap(({ call, where }) => messagesOf(call, file).map((pieces) => ({ where, pieces })))
}

function callsIn(node: ts.Node): readonly ts.CallExpression[] {
  const calls: ts.CallExpression[] = ts.isCallExpression(node) ? [node] : []
  node.forEachChild((child) => void calls.push(...callsIn(child)))
  return calls
}

/** Returns true for `log.warn(…)`, also if the log is a property: `settings.log.warn(…)`. */
function isLogCall({ expression: called }: ts.CallExpression): boolean {
  if (!ts.isPropertyAccessExpression(called)) return false
  return levels.has(called.name.text) && /\blog$/.test(called.expression.getText())
}

/** Returns the messages of a log call. The message is the first argument or, after fields, the second. */
function messagesOf(call: ts.CallExpression, file: ts.SourceFile): readonly (readonly string[])[] {
  const [first, second] = call.arguments
  return textsOf(second ?? first, file)
}

function textsOf(text: ts.Node | undefined, file: ts.SourceFile): readonly (readonly string[])[] {
  if (text !== undefined && ts.isStringLiteralLike(text)) return [[text.text]]
  if (text !== undefined && ts.isTemplateExpression(text)) {
    return [[text.head.text, ...text.templateSpans.map(({ literal }) => literal.text)]]
  }
  if (text !== undefined && ts.isBinaryExpression(text) && text.operatorToken.kind === ts.SyntaxKind.PlusToken)
    return joined(textsOf(text.left, file), textsOf(text.right, file))
  if (text !== undefined && ts.isIdentifier(text)) return textsNamed(text, file)
  throw new Error(`${file.fileName}: the message of a log call cannot be read: ${text?.getText() ?? 'there is none'}`)
}

/** Concatenates each text of the first operand with each text of the second. */
function joined(
  first: readonly (readonly string[])[],
  second: readonly (readonly string[])[],
): readonly (readonly string[])[] {
  return first.flatMap((one) =>
    second.map((other) => [...one.slice(0, -1), (one.at(-1) ?? '') + (other[0] ?? ''), ...other.slice(1)]),
  )
}

/** Returns the texts of a named message, which is a constant of the file or a parameter. */
function textsNamed(name: ts.Identifier, file: ts.SourceFile): readonly (readonly string[])[] {
  const declared = file.statements
    .filter((one) => ts.isVariableStatement(one))
    .flatMap(({ declarationList }) => declarationList.declarations)
    .find((one) => one.name.getText() === name.text)
  return declared === undefined ? textsGivenAs(name, file) : textsOf(declared.initializer, file)
}

/**
 * Returns the texts of a message that is a parameter: the arguments in the calls of that function or method in the same
 * file.
 */
function textsGivenAs(name: ts.Identifier, file: ts.SourceFile): readonly (readonly string[])[] {
  let around: ts.Node = name
  while (!ts.isFunctionDeclaration(around) && !ts.isMethodDeclaration(around) && !ts.isSourceFile(around))
    around = around.parent
  const at = ts.isSourceFile(around) ? -1 : around.parameters.findIndex((one) => one.name.getText() === name.text)
  const called = ts.isSourceFile(around) ? undefined : around.name?.getText()
  const calls = callsIn(file).filter((call) => call.expression.getText().replace(/^this\./, '') === called)
  if (at < 0 || calls.length === 0) throw new Error(`${file.fileName}: the log text ${name.text} cannot be read`)
  return calls.flatMap((call) => textsOf(call.arguments[at], file))
}

const fits = ({ pieces }: Said, text: string): boolean =>
  new RegExp(`^${pieces.map((piece) => piece.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('.+')}$`).test(text)

const metricNames: ReadonlySet<string> = new Set(
  sources.flatMap(({ file }) =>
    Array.from(file.text.matchAll(/\.(?:gauge|counter|histogram)\(\s*'(\w+)'/g), ([, name = '']) => name),
  ),
)

/** First cell of each table row on the page. */
const patterns = Array.from(readPage('log-lines.md').matchAll(/^\| `([^`]+)`/gm), ([, cell = '']) => cell)

test('the sources are read, and contain log lines to compare', () => {
  expect(statements.length).toBeGreaterThan(15)
  expect(patterns.length).toBeGreaterThan(15)
})

test('every line of level warn and above that a process can write is explained to operators, in its exact words', () => {
  expect(statements.filter((one) => !patterns.some((text) => fits(one, text)))).toEqual([])
})

test('every explained line is still written by a process', () => {
  expect(patterns.filter((text) => !statements.some((one) => fits(one, text)))).toEqual([])
})

test('the pages have every metric of the gateway, and no other', () => {
  const onPage = new Set(Array.from(pages.matchAll(/\bgateway_[a-z_]+/g), ([name]) => name))
  expect(metricNames.size).toBeGreaterThan(5)
  expect([...onPage].sort()).toEqual([...metricNames].sort())
})

test('every rule for Prometheus names existing metrics', async () => {
  const known = await knownMetrics()
  for (const { alert, expr } of alarms) {
    const named = metricsIn(expr)
    expect([alert, named.length > 0, named.filter((each) => !known.has(each))]).toEqual([alert, true, []])
  }
})

test('every alarm has a severity, a summary, a description, and a section of the page in the order of the rules', () => {
  const sections = Array.from(readPage('troubleshoot.md').matchAll(/^### ([A-Z]\w+)$/gm), ([, name]) => name)
  expect(sections).toEqual(alarms.map(({ alert }) => alert))
  for (const { alert, labels, annotations } of alarms) {
    expect([alert, labels.severity]).toEqual([alert, expect.stringMatching(/^(?:critical|warning)$/)])
    expect([alert, annotations]).toEqual([
      alert,
      {
        summary: expect.stringMatching(/^\S.{10,}[^.]$/) as string,
        description: expect.stringMatching(/^\S.{20,}\.$/) as string,
        runbook_url: `{{ $externalLabels.docs }}/operations/troubleshoot#${alert.toLowerCase()}`,
        dashboard_url: expect.stringMatching(
          /^\{\{ \$externalLabels\.grafana \}\}\/d\/[\w-]+\?viewPanel=\d+$/,
        ) as string,
      },
    ])
  }
})

interface Dashboard {
  readonly uid: string
  readonly title: string
  readonly panels: readonly { readonly id: number; readonly targets: readonly { readonly expr: string }[] }[]
}

const dashboards = readdirSync(join(root, 'deploy/grafana')).map((file) => ({
  file,
  ...(JSON.parse(readFileSync(join(root, 'deploy/grafana', file), 'utf8')) as Dashboard),
}))

const queriesOf = ({ panels }: Dashboard): readonly string[] =>
  panels.flatMap(({ targets }) => targets.map(({ expr }) => expr))

test.each(dashboards)('every query of the dashboard $file names existing metrics', async (dashboard) => {
  expect(dashboard.title).toMatch(/^Gateway: /)
  const known = await knownMetrics()
  const queries = queriesOf(dashboard)
  expect(queries.length).toBeGreaterThan(5)
  for (const query of queries) {
    const named = metricsIn(query)
    expect([query, named.length > 0, named.filter((name) => !known.has(name))]).toEqual([query, true, []])
  }
})

test('the link of every alarm leads to a panel that shows a metric of its rule', () => {
  for (const { alert, expr, annotations } of alarms) {
    const [, uid, id] = /\/d\/([\w-]+)\?viewPanel=(\d+)$/.exec(annotations.dashboard_url) ?? []
    const panel = dashboards.find((one) => one.uid === uid)?.panels.find((one) => String(one.id) === id)
    const shown = panel?.targets.flatMap((target) => metricsIn(target.expr)) ?? []
    expect([alert, shown, metricsIn(expr).some((name) => shown.includes(name))]).toEqual([alert, shown, true])
  }
})

test('every query of the dashboards is one to Prometheus', async () => {
  const rules = dashboards.flatMap(queriesOf).map((expr, i) => ({ record: `dashboards:query_${i}`, expr }))
  const folder = await mkdtemp(join(tmpdir(), 'gateway-dashboards-'))
  try {
    const file = join(folder, 'rules.yaml')
    await writeFile(file, JSON.stringify({ groups: [{ name: 'dashboards', rules }] }))
    const run = spawnSync('promtool', ['check', 'rules', file], { encoding: 'utf8' })
    if (run.error === undefined) expect(run.stdout + run.stderr).toContain(`SUCCESS: ${rules.length} rules found`)
    else process.emitWarning('promtool is not installed: the queries of the dashboards were not read')
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})

/** Returns the texts that the sources print: fixed texts, and templates that allow anything in their gaps. */
function printedTexts(): { readonly texts: ReadonlySet<string>; readonly templates: readonly RegExp[] } {
  const texts = new Set<string>()
  const templates: RegExp[] = []
  const gather = (node: ts.Node): void => {
    if (ts.isStringLiteralLike(node)) texts.add(node.text.trim())
    if (ts.isTemplateExpression(node)) {
      const pieces = [node.head.text, ...node.templateSpans.map(({ literal }) => literal.text)]
      for (const line of pieces
        .join('\0')
        .split('\n')
        .filter((line) => /[a-z]{4}/i.test(line)))
        templates.push(
          new RegExp(
            `^${line
              .trim()
              .replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
              .replaceAll('\0', '.*')}$`,
          ),
        )
    }
    node.forEachChild(gather)
  }
  for (const { file } of sources) gather(file)
  return { texts, templates }
}

/** Returns the lines of gateway output that pages show, without output of other programs. */
function shownLines(): readonly string[] {
  const pages = filesUnder('docs', /^docs\/(?:operations\/)?[a-z-]+\.md$/).filter(
    (page) => !/architecture|embedding|proxy/.test(page),
  )
  const blocks = pages.flatMap((page) =>
    Array.from(readFileSync(join(root, page), 'utf8').matchAll(/^ *```(?:text|console|jsonl)\n([\s\S]*?)^ *```$/gm)),
  )
  return blocks.flatMap(([, block = '']) => {
    let program = 'gateway'
    return block.split('\n').filter((line) => {
      const command = /^\s*\$ (?:npx pnpm )?(\S+)/.exec(line)?.[1]
      program = command ?? program
      return command === undefined && (program === 'gateway' || line.startsWith('{'))
    })
  })
}

/** Returns the texts in a JSON document. */
const textsIn = (value: unknown): readonly string[] =>
  typeof value === 'string' ? [value] : Object.values(value ?? {}).flatMap(textsIn)

test('output shown on pages is what the sources print', () => {
  const { texts, templates } = printedTexts()
  // A text with at most two words may be data, such as a number, a time or a name. Titles of columns are in capitals
  // and never count as data.
  const isData = (text: string): boolean =>
    text.split(' ').filter((word) => /^[a-z-]{3,}[.:;,)]*$/i.test(word)).length < 3 && !/^[A-Z]{3,}[A-Z ]*$/.test(text)
  const isWhole = (text: string): boolean =>
    isData(text) || texts.has(text) || texts.has(text.toLowerCase()) || templates.some((one) => one.test(text))
  /** Returns true also for a line that joins several printed texts. */
  const isPrinted = (text: string): boolean =>
    isWhole(text) ||
    isWhole(text.replace(/^\(|[.:;,)]+$/g, '')) ||
    Array.from(text.matchAll(/(?<=[.:;,]) | (?=\()| \/ /g)).some(
      ({ index, 0: gap }) => isPrinted(text.slice(0, index)) && isPrinted(text.slice(index + gap.length)),
    )
  const cells = shownLines().flatMap((line) =>
    line.startsWith('{') ? textsIn(JSON.parse(line)) : line.trim().split(/ {2,}/),
  )
  expect(cells.length).toBeGreaterThan(400)
  expect(cells.filter((cell) => !isPrinted(cell))).toEqual([])
})

/** Returns the metrics of a process, and the one that Prometheus adds to each scrape. */
const knownMetrics = async (): Promise<ReadonlySet<string>> =>
  new Set([...metricNames, ...carrierGaugeNames(), ...(await defaultNames()), 'http_request_duration_seconds', 'up'])

/** Returns the metrics that prom-client adds to a process. */
async function defaultNames(): Promise<readonly string[]> {
  interface Client {
    readonly collectDefaultMetrics: (settings: { readonly register: Register }) => void
    readonly Registry: new () => Register
  }
  interface Register {
    getMetricsAsJSON(): Promise<readonly { readonly name: string }[]>
  }
  const client = createRequire(join(root, 'packages/server/package.json'))('prom-client') as Client
  const register = new client.Registry()
  client.collectDefaultMetrics({ register })
  return (await register.getMetricsAsJSON()).map(({ name }) => name)
}

/** Returns the names of gauges that are composed at run time. */
function carrierGaugeNames(): ReadonlySet<string> {
  const source = readFileSync(join(root, 'apps/dispatcher/src/dispatch-metrics.ts'), 'utf8')
  return new Set(
    Array.from(source.matchAll(/ name: '(\w+)', *help/g), ([, name = '']) => `gateway_carrier_${name}`).concat(
      Array.from(source.matchAll(/ name: '(\w+)',\n +help/g), ([, name = '']) => `gateway_carrier_${name}`),
    ),
  )
}
